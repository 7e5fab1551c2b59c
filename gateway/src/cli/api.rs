//! The HTTP interface of a gateway, and the errors of the connection to it.

use std::time::Duration;

use axum::http::StatusCode;
use serde_json::Value;
use url::Url;

use super::failure::Failure;
use super::gateway_args::Access;
use crate::http_client::{self, innermost, whole_body};
use caphost::call::Code;

/// The largest answer that is accepted. No gateway sends longer answers.
pub(super) const MAX_ANSWER_BYTES: usize = 1 << 30;

/// How long a whole exchange may take. The gateway itself limits how long a cancel may wait for the app's
/// answer. This limit is for a gateway that has stopped answering.
const PATIENCE: Duration = Duration::from_secs(60);

/// A gateway that is asked over HTTP.
pub(super) struct Api<'a> {
    access: &'a Access,
    client: reqwest::Client,
}

impl<'a> Api<'a> {
    pub fn new(access: &'a Access) -> Self {
        let client = http_client::client(PATIENCE);
        Api { access, client }
    }

    /// Gets a JSON document.
    pub async fn get(&self, url: Url) -> Result<Value, Failure> {
        self.ask(self.client.get(url)).await
    }

    /// Posts a JSON document, and returns the JSON document in the answer.
    pub async fn post(&self, url: Url, body: &Value) -> Result<Value, Failure> {
        self.ask(self.client.post(url).json(body)).await
    }

    async fn ask(&self, mut request: reqwest::RequestBuilder) -> Result<Value, Failure> {
        if let Some(authorization) = self.access.authorization() {
            request = request.header("authorization", authorization);
        }
        let unreachable = |error: reqwest::Error| Failure::unreachable(self.access, &error);
        let response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let body = whole_body(response, MAX_ANSWER_BYTES).await;
        let Some(body) = body.map_err(unreachable)? else {
            return Err(Failure::not_a_gateway(self.access, "too long an answer"));
        };
        let document = serde_json::from_slice::<Value>(&body);
        if status.is_success() {
            return document.map_err(|_| Failure::not_a_gateway(self.access, "no JSON"));
        }
        let said = document.ok().map(|mut it| it["error"].take());
        Err(Failure::refused(
            self.access,
            status,
            said.filter(Value::is_object),
        ))
    }
}

impl Failure {
    /// The error for a gateway that cannot be reached.
    pub fn unreachable(access: &Access, error: &(dyn std::error::Error + 'static)) -> Self {
        let cause = innermost(error);
        let message = format!("cannot reach the gateway at {}: {cause}", access.shown());
        Failure::new(Code::TRANSPORT_ERROR, message)
            .hint("Is `caphost serve` running there? --gateway or CAPHOST_GATEWAY names another.")
    }

    /// The error for a server that is not a gateway.
    pub fn not_a_gateway(access: &Access, answer: &str) -> Self {
        let shown = access.shown();
        let message = format!("{shown} did not answer as a gateway does ({answer})");
        Failure::new(Code::TRANSPORT_ERROR, message)
            .hint("--gateway or CAPHOST_GATEWAY names another.")
    }

    /// The error for a gateway that has answered with an HTTP error, perhaps with an `ABPError`.
    pub fn refused(access: &Access, status: StatusCode, said: Option<Value>) -> Self {
        match status {
            StatusCode::UNAUTHORIZED => {
                let message = if access.token.is_some() {
                    "the gateway does not know this token"
                } else {
                    "the gateway wants a token"
                };
                Failure::new(Code::PERMISSION_DENIED, message)
                    .hint("Give a token of role agent with CAPHOST_TOKEN or --token.")
            }
            _ if said.is_some() => Failure::from_body(said.unwrap_or_default()),
            StatusCode::FORBIDDEN => {
                let message = "the gateway does not allow that with this token";
                Failure::new(Code::PERMISSION_DENIED, message)
            }
            status => Failure::not_a_gateway(access, &format!("status {status}")),
        }
    }
}
