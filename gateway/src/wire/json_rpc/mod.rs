//! JSON-RPC 2.0, as MCP and the agents of editors and language tools speak it.
//!
//! One file reads messages and their ids, one knows cancels and who answers after a cancel, and one writes.

mod cancel;
mod message;
#[cfg(test)]
mod tests;
mod write;

pub use cancel::{Cancel, read_cancel};
pub use caphost::dialect::json_rpc::{code, method};
pub use message::{Answered, Fault, Id, Message, Unreadable, read};
pub use write::{
    RpcError, cancel_notice, cancelled, ended, failed, notification, progress, refused, rpc_code,
    success,
};
