//! ContextForge's cancellation API: `POST /cancellation/cancel` and
//! `GET /cancellation/status/{request_id}`, and the same under `/v1`.
//!
//! Written after its published description, and without what is wrong with the original: an id that
//! several clients use is ambiguous rather than the latest's, a run is still known when it has
//! ended, a cancel that comes before its run takes effect where its id can mean no stranger's, and
//! `cancelled` is only said when the app has confirmed it.

mod cancel;
mod problem;
mod request;
mod status;

use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderMap, Uri};
use axum::routing::{any, get, post};
use clap::ArgAction;
use clap::builder::BoolishValueParser;

use crate::fronts::auth::authenticate;
use crate::fronts::refusal::{FastApi, Refusal};
use crate::gateway::Hub;
use crate::tokens::{Identity, Role};

/// Bytes of a request's body, 64 KiB.
const BODY_BYTES: usize = 64 << 10;

/// The options of the cancellation API.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub struct CancellationOptions {
    /// Whether the cancellation API is served at /cancellation: true or false.
    #[arg(
        id = "tool_cancellation_enabled",
        long = "tool-cancellation-enabled",
        env = "MCPGATEWAY_TOOL_CANCELLATION_ENABLED",
        default_value = "true",
        action = ArgAction::Set,
        value_parser = BoolishValueParser::new(),
        value_name = "BOOL"
    )]
    pub enabled: bool,
}

impl Default for CancellationOptions {
    fn default() -> Self {
        CancellationOptions { enabled: true }
    }
}

/// The routes; those of an API that is off answer 404.
pub fn routes(hub: Arc<Hub>, options: &CancellationOptions) -> Router {
    let api = if options.enabled {
        Router::new()
            .route("/cancel", post(cancel::cancel))
            .route("/status/{request_id}", get(status::status))
            .method_not_allowed_fallback(async || FastApi(Refusal::method("Method Not Allowed")))
            .with_state(hub)
    } else {
        Router::new()
            .route("/cancel", any(off))
            .route("/status/{request_id}", any(off))
    };
    Router::new()
        .nest("/cancellation", api.clone())
        .nest("/v1/cancellation", api)
}

/// Whoever asks, if it has the permission `admin.system_config`, which the role admin brings.
fn admin(hub: &Hub, headers: &HeaderMap, uri: &Uri) -> Result<Identity, Refusal> {
    authenticate(hub, Role::Admin, headers, uri.query()).map_err(|denied| {
        let forbidden = "Insufficient permissions. Required: admin.system_config";
        Refusal::denied(denied, "Not authenticated", forbidden)
    })
}

/// The API is off: nothing is here.
async fn off() -> FastApi {
    FastApi(Refusal::not_found("Not Found"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: CancellationOptions,
    }

    #[test]
    fn on_unless_it_is_turned_off() {
        let parse = |given: &[&str]| {
            let line = ["serve"].iter().chain(given);
            Line::try_parse_from(line).map(|line| line.options.enabled)
        };
        assert_eq!(parse(&[]).unwrap(), CancellationOptions::default().enabled);
        for off in ["false", "False", "0", "no", "off"] {
            assert!(
                !parse(&["--tool-cancellation-enabled", off]).unwrap(),
                "{off}"
            );
        }
        for on in ["true", "TRUE", "1", "yes", "on"] {
            assert!(parse(&["--tool-cancellation-enabled", on]).unwrap(), "{on}");
        }
        assert!(parse(&["--tool-cancellation-enabled", "maybe"]).is_err());
    }
}
