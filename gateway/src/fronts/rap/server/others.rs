//! Notifications that have come to other workers: a cancel may arrive at any of them.

use std::ops::ControlFlow;
use std::sync::{Arc, Weak};

use tokio::sync::Mutex;
use tokio::sync::mpsc::UnboundedReceiver;

use super::ToolServer;
use crate::cluster::Notice;

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
            } => server.cancel(&thread_id, &tool_call_id, app.as_deref(), &by),
            Notice::CloseThread { thread_id, app, by } => {
                server.close(&thread_id, app.as_deref(), &by);
            }
            _ => {}
        }
    }
    ControlFlow::Break(())
}
