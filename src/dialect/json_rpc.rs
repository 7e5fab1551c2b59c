//! JSON-RPC 2.0, as MCP and the agents of editors and language tools speak it.

/// Methods that every peer may use, caphost's own, and those of the protocols that peers come from.
pub mod method {
    constants! {
        &str:
        INITIALIZE = "initialize", "Opens the session.";
        SHUTDOWN = "shutdown", "Ends the session.";
        EXIT = "exit", "Ends the connection.";
        LIST = "_capabilities/list", "caphost's own: `{}` to `{ capabilities: [Capability] }`.";
        CALL = "_capabilities/call", "caphost's own: `{ capability, params?, options? }` to `{ data, metadata? }`.";
        ENDED = "_capabilities/ended", "caphost's own: `{ requestId, callId, success, after }`.";
        PROGRESS = "$/progress", "`{ token, value }`.";
    }
}

/// Codes of JSON-RPC errors.
pub mod code {
    constants! {
        i32:
        PARSE_ERROR = -32700, "The message is no JSON.";
        INVALID_REQUEST = -32600, "The message is no request.";
        METHOD_NOT_FOUND = -32601, "There is no such method.";
        INVALID_PARAMS = -32602, "The parameters do not fit.";
        INTERNAL_ERROR = -32603, "The receiver itself has failed.";
        FAILED = -32000, "An error of the app or the gateway. `data.code` has the ABP code.";
        NOT_FOUND = -32001, "MCP servers commonly answer this when something is not found.";
        HEADER_MISMATCH = -32020, "MCP: a header and the body contradict each other.";
        UNSUPPORTED_VERSION = -32022, "MCP: the version is not spoken.";
        CANCELLED = -32800, "LSP and ACP: the request was cancelled.";
    }
}

/// The characters of a reason that are kept.
pub const MAX_REASON: usize = 1_024;

/// How a dialect cancels a request, and who is told about that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The dialect and its version.
    pub dialect: &'static str,
    /// The method of the notification that cancels.
    pub method: &'static str,
    /// The member of its parameters with the request's id.
    pub id: &'static str,
    /// The parameters may have a reason.
    pub reason: bool,
    /// The cancelled request is still answered, with its result or with [`code::CANCELLED`], and its
    /// caller waits for that. Otherwise the caller took the request for settled when it sent the cancel,
    /// and an answer is an error.
    pub answered: bool,
}

/// The cancel of MCP.
pub const MCP_CANCELLED: &str = "notifications/cancelled";

/// The ways of all dialects. Those that share a method share everything else.
pub static WAYS: [Way; 5] = [
    Way {
        dialect: "ACP draft",
        method: "$/cancelRequest",
        id: "id",
        reason: false,
        answered: true,
    },
    Way {
        dialect: "ACP v1",
        method: "$/cancel_request",
        id: "requestId",
        reason: false,
        answered: true,
    },
    Way {
        dialect: "LSP 3.17",
        method: "$/cancelRequest",
        id: "id",
        reason: false,
        answered: true,
    },
    Way {
        dialect: "MCP 2025-11-25",
        method: MCP_CANCELLED,
        id: "requestId",
        reason: true,
        answered: false,
    },
    Way {
        dialect: "MCP 2026-07-28",
        method: MCP_CANCELLED,
        id: "requestId",
        reason: true,
        answered: false,
    },
];

impl Way {
    /// The way of that method, if it cancels.
    pub fn of(method: &str) -> Option<&'static Way> {
        WAYS.iter().find(|way| way.method == method)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_that_share_a_method_share_everything_else() {
        for way in WAYS {
            let first = *Way::of(way.method).unwrap();
            let dialect = way.dialect;
            assert_eq!(Way { dialect, ..first }, way);
        }
        assert_eq!(Way::of("$/cancel"), None);
    }
}
