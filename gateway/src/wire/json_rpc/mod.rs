//! JSON-RPC 2.0, as MCP and the agents of editors and language tools speak it.
//!
//! One file reads messages and their ids, one knows cancels and who answers after a cancel, and one writes.

mod cancel;
mod message;
#[cfg(test)]
mod tests;
mod write;

pub use cancel::{Cancel, read_cancel};
pub use message::{Fault, Id, Message, Unreadable, read};
pub use write::{
    RpcError, cancel_notice, cancelled, ended, failed, notification, progress, refused, rpc_code,
    success,
};

/// Methods that every peer may use, caphost's own, and those of the protocols that peers come from.
pub mod method {
    #![allow(missing_docs)]
    pub const INITIALIZE: &str = "initialize";
    pub const SHUTDOWN: &str = "shutdown";
    pub const EXIT: &str = "exit";
    /// caphost's own: `{}` to `{ capabilities: [Capability] }`.
    pub const LIST: &str = "_capabilities/list";
    /// caphost's own: `{ capability, params?, options? }` to `{ data, metadata? }`.
    pub const CALL: &str = "_capabilities/call";
    /// caphost's own: `{ requestId, callId, success, after }`.
    pub const ENDED: &str = "_capabilities/ended";
    /// `{ token, value }`
    pub const PROGRESS: &str = "$/progress";
}

/// Codes of JSON-RPC errors.
pub mod code {
    #![allow(missing_docs)]
    pub const PARSE_ERROR: i32 = -32700;
    pub const INVALID_REQUEST: i32 = -32600;
    pub const METHOD_NOT_FOUND: i32 = -32601;
    pub const INVALID_PARAMS: i32 = -32602;
    pub const INTERNAL_ERROR: i32 = -32603;
    /// An error of the app or the gateway. `data.code` says which.
    pub const FAILED: i32 = -32000;
    /// MCP servers commonly answer this when something is not found.
    pub const NOT_FOUND: i32 = -32001;
    /// LSP and ACP: the request was cancelled.
    pub const CANCELLED: i32 = -32800;
}
