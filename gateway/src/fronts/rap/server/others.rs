//! Notifications that have come to other workers: a cancel may arrive at any of them.

use std::ops::ControlFlow;
use std::sync::{Arc, Weak};

use tokio::sync::Mutex;
use tokio::sync::mpsc::UnboundedReceiver;

use super::ToolServer;
use crate::cluster::Notice;
use crate::fronts::rap::names::Identifier;

/// Does what the others tell, as long as there is a server.
pub(super) async fn obey(
    server: Weak<ToolServer>,
    told: Arc<Mutex<UnboundedReceiver<Notice>>>,
) -> ControlFlow<()> {
    let mut told = told.lock().await;
    while let Some(notice) = told.recv().await {
        let Some(server) = server.upgrade() else {
            break;
        };
        match notice {
            Notice::CancelToolCall {
                thread_id,
                tool_call_id,
                app,
                by,
            } => {
                if let (Some(thread), Some(call)) = (read(&thread_id), read(&tool_call_id)) {
                    server.cancel(&thread, &call, app.as_deref(), &by);
                }
            }
            Notice::CloseThread { thread_id, app, by } => {
                if let Some(thread) = read(&thread_id) {
                    server.close(&thread, app.as_deref(), &by);
                }
            }
            _ => {}
        }
    }
    ControlFlow::Break(())
}

/// An id of another worker, which has checked it before.
fn read(id: &str) -> Option<Identifier> {
    let read = Identifier::new(id);
    read.inspect_err(|error| tracing::warn!(%error, "another worker names no RAP id"))
        .ok()
}
