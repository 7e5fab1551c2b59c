//! JSON-RPC 2.0, as MCP, ACP and LSP use it: who waits for which answer, and what a dialect makes of it.

pub mod connection;
pub mod pending;
pub mod style;
