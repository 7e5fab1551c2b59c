//! A connection in a dialect of JSON-RPC, over any transport.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::pending::Pending;
use super::style::{Style, Way};
use crate::call::{Call, Cancel, What};
use crate::context::START;
use crate::peer::{Connection, NewCall, Tool};
use crate::wire::Wire;

/// How long a program may take to end after its input has.
const END: Duration = Duration::from_secs(10);

/// Where messages go.
pub trait Transport: Send + Sync {
    fn send(&self, message: Value);
    fn cut(&self);
    fn end(&self) -> BoxFuture<'_, Result<(), String>>;
    fn is_over(&self) -> bool;
}

impl Transport for Wire {
    fn send(&self, message: Value) {
        Wire::send(self, message);
    }

    fn cut(&self) {
        Wire::cut(self);
    }

    fn end(&self) -> BoxFuture<'_, Result<(), String>> {
        async {
            if Wire::end(self, END).await {
                Ok(())
            } else {
                Err(format!("the peer did not end within {} s", END.as_secs()))
            }
        }
        .boxed()
    }

    fn is_over(&self) -> bool {
        Wire::is_over(self)
    }
}

/// A connection after its handshake.
pub struct Rpc {
    pub style: Style,
    pub way: Way,
    pub pending: Arc<Pending>,
    pub transport: Box<dyn Transport>,
}

impl Rpc {
    /// The result of a request of the suite's own.
    pub async fn ask(&self, method: &str, params: Value) -> Result<Value, String> {
        let send = |id: Value| {
            self.transport
                .send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
        };
        let answer = self
            .pending
            .ask(send, START)
            .await
            .map_err(|why| format!("{method}: {why}"))?;
        match answer.get("error") {
            Some(error) => Err(format!("{method}: {error}")),
            None => Ok(answer["result"].clone()),
        }
    }
}

impl Connection for Rpc {
    fn call(&self, new: NewCall) -> Arc<Call> {
        let id = new.id.clone().unwrap_or_else(|| self.pending.next_id());
        let key = new.key();
        let counts = new.tool == Tool::Count;
        let call = Arc::new(Call::new(
            id,
            &if counts {
                key.to_owned()
            } else {
                format!("{key} {}", self.pending.next_id())
            },
        ));
        self.pending.add(&call);
        self.transport
            .send(self.way.request(&call.id, &new, counts.then_some(key)));
        if self.transport.is_over() {
            call.saw(What::Closed("the connection had ended".into()));
        }
        call
    }

    fn cancel(&self, id: &Value, reason: Option<&str>) -> Arc<Cancel> {
        self.transport.send(self.style.cancel(id, reason));
        Arc::default()
    }

    fn cancel_with(&self, params: Value) -> bool {
        self.transport.send(self.style.cancel_with(params));
        true
    }

    fn repeat(&self, call: &Call, again: NewCall) {
        self.transport
            .send(self.way.request(&call.id, &again, None));
    }

    fn cut(&self) {
        self.transport.cut();
    }

    fn end(&self) -> BoxFuture<'_, Result<(), String>> {
        self.transport.end()
    }

    fn stray(&self) -> Vec<String> {
        self.pending.stray()
    }

    fn has_timeout(&self) -> bool {
        self.way.has_timeout()
    }

    fn is_over(&self) -> bool {
        self.transport.is_over()
    }
}
