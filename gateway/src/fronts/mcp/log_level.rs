//! Which log messages a client wants to hear: the only thing an MCP server may say that nobody has
//! asked for.

#![expect(
    deprecated,
    reason = "logging goes with MCP's sessions, which have it up to 2025-11-25"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use rmcp::model::{JsonObject, LoggingLevel, ServerCapabilities, SetLevelRequestParams};

/// The least severe level a session wants to hear of.
#[derive(Clone, Debug)]
pub struct LogLevel(Arc<AtomicU8>);

impl Default for LogLevel {
    /// All of it, until the client says otherwise.
    fn default() -> Self {
        LogLevel(Arc::new(AtomicU8::new(severity(LoggingLevel::Debug))))
    }
}

impl LogLevel {
    /// The client has said it.
    pub fn set(&self, wanted: &SetLevel) {
        self.0.store(severity(wanted.level), Ordering::Relaxed);
    }

    /// Whether it wants messages of that level.
    pub fn wants(&self, level: LoggingLevel) -> bool {
        severity(level) >= self.0.load(Ordering::Relaxed)
    }
}

fn severity(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}

/// The parameters of `logging/setLevel`.
pub type SetLevel = SetLevelRequestParams;

/// Says that there may be messages.
pub fn declare(capabilities: &mut ServerCapabilities) {
    capabilities.logging = Some(JsonObject::new());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_hears_what_it_wants_to() {
        let level = LogLevel::default();
        assert!(level.wants(LoggingLevel::Notice));
        level.set(&SetLevel::new(LoggingLevel::Notice));
        assert!(level.wants(LoggingLevel::Notice));
        level.set(&SetLevel::new(LoggingLevel::Warning));
        assert!(!level.wants(LoggingLevel::Notice));
    }
}
