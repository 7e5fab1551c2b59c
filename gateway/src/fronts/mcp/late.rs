//! The end of work that was abandoned, told to the client that had asked for it: as a log message,
//! which is the only thing an MCP server may say that nobody has asked for.

#![expect(
    deprecated,
    reason = "logging goes with MCP's sessions, which have it up to 2025-11-25"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use rmcp::RoleServer;
use rmcp::model::{
    JsonObject, LoggingLevel, LoggingMessageNotificationParam, RequestId, ServerCapabilities,
    SetLevelRequestParams,
};
use rmcp::service::Peer;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::gateway::calls::Call;
use crate::wire::abp::CALL_ENDED;
use crate::wire::stops;

/// What the messages are logged as.
const LOGGER: &str = "caphost";

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

    fn wants(&self, level: LoggingLevel) -> bool {
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

/// Who is told.
pub struct Told {
    pub peer: Peer<RoleServer>,
    pub level: LogLevel,
    /// Cancelled when the session is over.
    pub ended: CancellationToken,
}

/// Waits for the late end of a call, and tells of it, unless the session ends before.
pub async fn tell(told: Told, request_id: RequestId, call: Call) {
    let call_id = call.call_id().to_string();
    let late = tokio::select! {
        () = told.ended.cancelled() => None,
        late = call.late_end() => late,
    };
    let Some(end) = late.filter(|_| told.level.wants(LoggingLevel::Notice)) else {
        return;
    };
    let mut data = stops::ended_json(end);
    data["event"] = CALL_ENDED.into();
    data["callId"] = call_id.into();
    data["requestId"] = json!(request_id);
    let message =
        LoggingMessageNotificationParam::new(LoggingLevel::Notice, data).with_logger(LOGGER);
    if let Err(error) = told.peer.notify_logging_message(message).await {
        tracing::debug!(%error, "a late end could not be told");
    }
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
