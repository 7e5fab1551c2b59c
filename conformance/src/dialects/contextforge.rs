//! The ContextForge cancellation API: calls over MCP, and an operator's cancels over HTTP.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

use super::mcp::Mcp;
use crate::call::{Call, Cancel, Confirmation, shortened};
use crate::http;
use crate::peer::{Afterwards, Connection, NewCall, Peer, Traits};
use crate::rpc::connection::Rpc;
use crate::wire::Target;

/// A gateway with `/cancellation/cancel` and `/cancellation/status/…`.
pub struct ContextForge {
    base: String,
    token: Option<String>,
    calls: Mcp,
}

impl ContextForge {
    /// `base` is the gateway, `calls` its address for MCP.
    pub fn new(base: &str, calls: Option<String>, token: Option<String>) -> Self {
        let base = base.trim_end_matches('/').to_owned();
        let url = calls.unwrap_or_else(|| format!("{base}/mcp"));
        Self {
            base,
            token: token.clone(),
            calls: Mcp::new(Target::Url { url, token }),
        }
    }
}

impl Peer for ContextForge {
    fn traits(&self) -> Traits {
        Traits {
            afterwards: Afterwards::OneAnswer,
            confirms: true,
            shared: true,
            ordered: false,
            words: None,
        }
    }

    fn connect(&self) -> BoxFuture<'_, Result<Arc<dyn Connection>, String>> {
        async {
            let operator = Operator {
                client: http::client(),
                base: self.base.clone(),
                token: self.token.clone(),
                stray: Arc::default(),
            };
            Ok(Arc::new(Caller {
                calls: self.calls.open().await?,
                operator,
            }) as Arc<dyn Connection>)
        }
        .boxed()
    }

    fn name(&self) -> Option<String> {
        self.calls.name()
    }
}

/// Who may cancel the calls of others.
#[derive(Clone)]
struct Operator {
    client: Client,
    base: String,
    token: Option<String>,
    stray: Arc<Mutex<Vec<String>>>,
}

impl Operator {
    /// Asks for a cancel.
    async fn cancel(&self, body: &Value) -> Result<(StatusCode, Value), String> {
        let request = http::with_token(
            self.client
                .post(format!("{}/cancellation/cancel", self.base)),
            self.token.as_deref(),
        );
        let response = request
            .json(body)
            .send()
            .await
            .map_err(|error| http::innermost(&error))?;
        let status = response.status();
        Ok((status, response.json().await.unwrap_or_default()))
    }

    /// Asks for the status of a run.
    async fn status(&self, id: &Value) -> Result<(StatusCode, Value), String> {
        let id = id.as_str().unwrap_or_default();
        let request = http::with_token(
            self.client
                .get(format!("{}/cancellation/status/{id}", self.base)),
            self.token.as_deref(),
        );
        let response = request
            .send()
            .await
            .map_err(|error| http::innermost(&error))?;
        let status = response.status();
        Ok((status, response.json().await.unwrap_or_default()))
    }
}

struct Caller {
    calls: Rpc,
    operator: Operator,
}

impl Connection for Caller {
    fn call(&self, new: NewCall) -> Arc<Call> {
        // The id of a run is that of its request: one that nobody else has.
        let id = new.text_id();
        self.calls.call(NewCall {
            id: Some(id),
            ..new
        })
    }

    fn cancel(&self, id: &Value, reason: Option<&str>) -> Arc<Cancel> {
        let cancel = Arc::new(Cancel::default());
        let (operator, told, body) = (
            self.operator.clone(),
            cancel.clone(),
            json!({ "requestId": id, "reason": reason }),
        );
        tokio::spawn(async move {
            told.saw(match operator.cancel(&body).await {
                Ok((StatusCode::OK, answer)) => Confirmation {
                    cancelled: answer["status"] == "cancelled",
                    reason: answer["status"].as_str().map(str::to_owned),
                    stop: answer["stop"].as_str().map(str::to_owned),
                    error: None,
                    is_open: answer["status"] == "queued",
                },
                Ok((status, _)) => Confirmation {
                    error: Some(format!("HTTP {status}")),
                    ..Default::default()
                },
                Err(why) => Confirmation {
                    error: Some(why),
                    ..Default::default()
                },
            });
        });
        cancel
    }

    fn cancel_with(&self, params: Value) -> bool {
        let operator = self.operator.clone();
        tokio::spawn(async move {
            let seen = match operator.cancel(&params).await {
                Ok((StatusCode::UNPROCESSABLE_ENTITY, _)) => return,
                Ok((status, answer)) => {
                    format!("{params}: {status} {}", shortened(&answer.to_string()))
                }
                Err(why) => format!("{params}: {why}"),
            };
            operator.stray.lock().push(seen);
        });
        true
    }

    fn repeat(&self, call: &Call, again: NewCall) {
        self.calls.repeat(call, again);
    }

    fn status(&self, id: &Value) -> Option<BoxFuture<'_, Result<(u16, Value), String>>> {
        let id = id.clone();
        let asked = async move {
            self.operator
                .status(&id)
                .await
                .map(|(status, body)| (status.as_u16(), body))
        };
        Some(asked.boxed())
    }

    fn cut(&self) {
        self.calls.cut();
    }

    fn end(&self) -> BoxFuture<'_, Result<(), String>> {
        self.calls.end()
    }

    fn stray(&self) -> Vec<String> {
        let mut stray = self.calls.stray();
        stray.append(&mut self.operator.stray.lock());
        stray
    }

    fn is_over(&self) -> bool {
        self.calls.is_over()
    }
}
