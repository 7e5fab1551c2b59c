//! The gateway's HTTP interface.

use std::time::Duration;

use axum::http::StatusCode;
use serde_json::Value;
use url::Url;

use super::{Failure, MAX_ANSWER_BYTES};
use crate::cli::gateway_args::Access;
use crate::http_client;
use caphost::call::Code;

/// For a whole exchange. A cancel is answered when the app has, for which the gateway has a bound
/// of its own; this one is for a gateway that has stopped answering.
const PATIENCE: Duration = Duration::from_secs(60);

/// A gateway, to ask something over HTTP.
pub(in super::super) struct Api<'a> {
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

    /// Posts a JSON document, and gets one.
    pub async fn post(&self, url: Url, body: &Value) -> Result<Value, Failure> {
        self.ask(self.client.post(url).json(body)).await
    }

    async fn ask(&self, mut request: reqwest::RequestBuilder) -> Result<Value, Failure> {
        if let Some(authorization) = self.access.authorization() {
            request = request.header("authorization", authorization);
        }
        let unreachable = |error: reqwest::Error| Failure::unreachable(self.access, &error);
        let mut response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_ANSWER_BYTES {
                return Err(Failure::no_gateway(self.access, "an endless answer"));
            }
        }
        let document = serde_json::from_slice::<Value>(&body);
        if status.is_success() {
            return document.map_err(|_| Failure::no_gateway(self.access, "no JSON"));
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
    /// There is no connection to the gateway.
    pub fn unreachable(access: &Access, error: &(dyn std::error::Error + 'static)) -> Self {
        let cause = innermost(error);
        let message = format!("cannot reach the gateway at {}: {cause}", access.shown());
        Failure::new(Code::TRANSPORT_ERROR, message)
            .hint("Is `caphost serve` running there? --gateway or CAPHOST_GATEWAY names another.")
    }

    /// What answers there is something else.
    pub fn no_gateway(access: &Access, answer: &str) -> Self {
        let message = format!("{} answers with {answer}: is it a gateway?", access.shown());
        Failure::new(Code::TRANSPORT_ERROR, message)
            .hint("--gateway or CAPHOST_GATEWAY names another.")
    }

    /// The gateway has answered with an HTTP error, and perhaps an `ABPError`.
    pub fn refused(access: &Access, status: StatusCode, said: Option<Value>) -> Self {
        match status {
            StatusCode::UNAUTHORIZED => {
                let message = if access.token.is_some() {
                    "the gateway does not know this token"
                } else {
                    "the gateway wants a token"
                };
                Failure::new(Code::PERMISSION_DENIED, message)
                    .hint("Give one of the role agent with CAPHOST_TOKEN or --token.")
            }
            _ if said.is_some() => Failure::from_body(said.unwrap_or_default()),
            StatusCode::FORBIDDEN => {
                let message = "the gateway does not allow that with this token";
                Failure::new(Code::PERMISSION_DENIED, message)
            }
            status => Failure::no_gateway(access, &format!("status {status}")),
        }
    }
}

/// The error at the root of a chain says what happened; those around it say where.
fn innermost<'a>(error: &'a (dyn std::error::Error + 'static)) -> &'a dyn std::error::Error {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost
}
