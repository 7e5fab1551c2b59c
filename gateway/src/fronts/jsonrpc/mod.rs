//! JSON-RPC 2.0 over WebSocket, on `/jsonrpc`.
//!
//! | module | what it knows |
//! |---|---|
//! | `upgrade` | who may open a WebSocket |
//! | `peer` | one connection: its messages, and the requests it has in flight |
//! | `requests` | what each method does |
//! | `greeting` | `initialize`, as ACP and LSP peers send it |
//! | `in_flight` | requests that wait for their answer, by their ids |
//! | `notices` | cancels that are not the peer's own |
//!
//! How messages are read and written, and whether a cancelled request is answered, is
//! [`crate::fronts::jsonrpc::message`]'s to know.

mod greeting;
mod in_flight;
pub mod message;
mod notices;
mod peer;
mod requests;
mod upgrade;

use std::sync::Arc;

use axum::Router;
use axum::routing::any;

use crate::gateway::Hub;

/// `/jsonrpc`
pub fn routes(hub: Arc<Hub>) -> Router {
    Router::new()
        .route("/jsonrpc", any(upgrade::jsonrpc))
        .with_state(upgrade::Jsonrpc::new(hub))
}
