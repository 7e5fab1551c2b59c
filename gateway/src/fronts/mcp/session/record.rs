//! What another worker has to know of a session to take it up.

use std::sync::Arc;

use rmcp::model::{ClientCapabilities, Implementation, InitializeRequestParams, ProtocolVersion};
use serde::{Deserialize, Serialize};

use crate::fronts::mcp::caller::Caller;

/// Bytes of what a client says of itself: of one that says more its name and version are kept.
const MAX_BYTES: usize = 16 << 10;
/// Characters of these two, then.
const MAX_CHARS: usize = 256;

/// A session, as it has begun.
#[derive(Debug, Deserialize, Serialize)]
pub struct Record {
    /// Whose it is, and for which app.
    pub caller: Caller,
    /// What it is called in lists and logs.
    pub thread: Arc<str>,
    /// What its client said with `initialize`.
    pub params: InitializeRequestParams,
}

impl Record {
    /// As JSON.
    pub fn write(
        caller: &Caller,
        thread: &Arc<str>,
        params: &InitializeRequestParams,
    ) -> Option<Vec<u8>> {
        let bytes = serde_json::to_vec(params).ok()?.len();
        let params = match bytes <= MAX_BYTES {
            true => params.clone(),
            false => short(params),
        };
        let (caller, thread) = (caller.clone(), thread.clone());
        let record = Record {
            caller,
            thread,
            params,
        };
        serde_json::to_vec(&record).ok()
    }

    /// Out of what was kept: nothing if the session has ended.
    pub fn read(json: &[u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }
}

fn short(params: &InitializeRequestParams) -> InitializeRequestParams {
    let text = |text: &str| text.chars().take(MAX_CHARS).collect::<String>();
    let client = &params.client_info;
    let client = Implementation::new(text(&client.name), text(&client.version));
    InitializeRequestParams::new(ClientCapabilities::default(), client)
        .with_protocol_version(ProtocolVersion::V_2025_11_25)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tokens::Identity;

    fn kept(name: &str, title: &str) -> Record {
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": { "elicitation": {} },
            "clientInfo": { "name": name, "version": "1", "title": title },
        });
        let params: InitializeRequestParams = serde_json::from_value(params).unwrap();
        let caller = Caller {
            identity: Identity::anyone(),
            app: Some("demo".into()),
        };
        let json = Record::write(&caller, &"thread".into(), &params).unwrap();
        assert!(json.len() <= MAX_BYTES + 1_000);
        let record = Record::read(&json).unwrap();
        assert_eq!((&record.caller, &*record.thread), (&caller, "thread"));
        record
    }

    #[test]
    fn what_a_client_says_is_kept_unless_it_says_too_much() {
        let params = kept("client", "A client").params;
        assert_eq!(params.client_info.title.as_deref(), Some("A client"));
        assert!(params.capabilities.elicitation.is_some());
        let params = kept("client", &"x".repeat(1 << 20)).params;
        assert_eq!(params.client_info.name, "client");
        assert_eq!(params.client_info.title, None);
        let params = kept(&"ü".repeat(1 << 20), "").params;
        assert_eq!(params.client_info.name, "ü".repeat(MAX_CHARS));
    }

    #[test]
    fn of_a_session_that_has_ended_nothing_is_kept() {
        assert!(Record::read(b"").is_none());
    }
}
