//! `/api/apps`: the connected apps and their instances, such as tabs. "The apps API" in docs/protocol.md
//! describes the shape.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use serde::Serialize;

use super::auth::Bearer;
use super::lists::Listing;
use super::refusal::{Refusal, json_text};
use super::socket::PeerAddress;
use crate::broker::{AppInfo, ConnectedApp, Listed};
use crate::gateway::Hub;

/// The route.
pub fn routes(hub: Arc<Hub>) -> Router {
    Router::new()
        .route("/api/apps", get(list))
        .method_not_allowed_fallback(async || Refusal::method("There is no such method here"))
        .with_state(Listing::new(hub))
}

#[derive(Serialize)]
struct Apps {
    apps: Vec<AppJson>,
    /// The gateway's clock, in Unix milliseconds.
    now: u64,
}

#[derive(Serialize)]
struct AppJson {
    #[serde(flatten)]
    app: AppInfo,
    instances: Vec<InstanceJson>,
}

#[derive(Serialize)]
struct InstanceJson {
    /// The value of `?app=` that means this instance.
    app: String,
    title: Option<Arc<str>>,
    owner: Arc<str>,
    since: u64,
    agents: usize,
    /// Whether new sessions of the app go to this instance.
    latest: bool,
    suspended: bool,
}

impl From<ConnectedApp> for AppJson {
    fn from(connected: ConnectedApp) -> Self {
        let ConnectedApp { app, instances } = connected;
        let json = |(index, listed): (usize, Listed)| InstanceJson {
            app: listed.instance.named(&app.id),
            title: listed.instance.title,
            owner: listed.instance.owner,
            since: listed.instance.since,
            agents: listed.agents,
            latest: index == 0,
            suspended: listed.suspended,
        };
        let instances = instances.into_iter().enumerate().map(json).collect();
        AppJson { app, instances }
    }
}

/// `GET /api/apps`: the apps that the token may reach.
async fn list(
    State(listing): State<Arc<Listing>>,
    address: PeerAddress,
    bearer: Bearer,
) -> Result<Response, Refusal> {
    let hub = &listing.hub;
    let viewer = bearer.viewer()?;
    let turn = listing.turn(&viewer, address).await?;
    let apps = hub.connected_apps(&viewer).into_iter();
    let apps = Apps {
        apps: apps.map(AppJson::from).collect(),
        now: hub.now().unix_ms,
    };
    let text = serde_json::to_string(&apps).unwrap_or_default();
    turn.end(text.len());
    Ok(json_text(StatusCode::OK, text))
}
