//! One tool server as an app on the broker.
//!
//! The broker gives the app what agents ask. The app turns calls into HTTP requests, and callbacks into
//! answers. No tool server confirms a stop, so each cancel is answered at once.

mod calls;
mod port;
mod sessions;
mod subscriptions;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::callbacks::{CallbackEndpoint, Delivered, Input};
use super::client::{Notices, ToolServerClient};
use super::toolset::{self, Known};
use crate::broker::{CloseCode, ToApp};
use crate::fronts::rap::wire::Toolset;
use crate::gateway::Hub;
use crate::gateway::metrics::ToolServerCounters;
use crate::wire::for_log;
use calls::Calls;
use caphost::call::Millis;
use port::{Port, app_info};
use sessions::Sessions;

/// The parts of a tool server's app. They outlive the app's time on the broker.
pub(super) struct Parts {
    pub hub: Arc<Hub>,
    pub client: Arc<ToolServerClient>,
    pub notices: Arc<Notices>,
    pub callbacks: Arc<CallbackEndpoint>,
    /// Requests a check of the toolset.
    pub look: Arc<Notify>,
    pub inbox: mpsc::Receiver<Delivered>,
}

impl Parts {
    fn counters(&self) -> &ToolServerCounters {
        &self.hub.metrics.tool_servers
    }
}

/// Why an app has left the broker.
enum End {
    /// The tool server is gone.
    ServerGone,
    /// The broker has closed.
    Closed(CloseCode, String),
    /// The gateway stops.
    Over,
}

/// Keeps a tool server on the broker while the server answers, until `over` is cancelled.
pub(super) async fn run(mut parts: Parts, over: CancellationToken) {
    let (discovered, mut known) = watch::channel(None);
    let client = parts.client.clone();
    let discovering = toolset::discover(client.clone(), parts.look.clone(), discovered);
    client.tasks.spawn(discovering);
    loop {
        let toolset = tokio::select! {
            () = over.cancelled() => return,
            found = known.wait_for(Option::is_some) => match found.ok().and_then(|it| it.clone()) {
                Some(toolset) => toolset,
                None => return,
            },
            // The input belongs to a session that is over.
            late = parts.inbox.recv() => {
                match late {
                    Some((Input::Result { .. }, _)) => parts.counters().results_dropped.add(),
                    Some((Input::Event(_), _)) => parts.counters().events_dropped.add(),
                    _ => {}
                }
                continue;
            }
        };
        let info = app_info(&parts.hub, &toolset);
        let mut app = ToolServerApp::new(&mut parts, &toolset, json!(info));
        app.register(info, &toolset);
        let end = app.serve(&mut known, &over).await;
        app.leave();
        drop(app);
        match end {
            End::ServerGone => {
                tracing::warn!(server = ?client.server, "tool server is gone")
            }
            End::Closed(CloseCode::GOING_AWAY, _) | End::Over => return,
            End::Closed(_, reason) => {
                let reason = for_log(reason);
                tracing::warn!(server = ?client.server, reason, "the broker does not accept the tool server");
                let pause = sleep(client.limits.longest_pause);
                if over.run_until_cancelled(pause).await.is_none() {
                    return;
                }
            }
        }
    }
}

/// A tool server as an app, as long as it is on the broker.
struct ToolServerApp<'a> {
    parts: &'a mut Parts,
    port: Port,
    /// The description of the app, as agents get it.
    app: Value,
    /// The tools as agents get them, by name.
    tools: BTreeMap<String, Value>,
    sessions: Sessions,
    calls: Calls,
    endpoint: Url,
    started: Instant,
}

impl<'a> ToolServerApp<'a> {
    fn new(parts: &'a mut Parts, found: &Toolset, app: Value) -> Self {
        ToolServerApp {
            port: Port::join(&parts.hub),
            app,
            tools: toolset::capabilities(found),
            parts,
            sessions: Sessions::default(),
            calls: Calls::default(),
            endpoint: found.endpoint.clone(),
            started: Instant::now(),
        }
    }

    fn now(&self) -> Millis {
        self.started.elapsed().as_secs_f64() * 1_000.0
    }

    async fn serve(&mut self, known: &mut watch::Receiver<Known>, over: &CancellationToken) -> End {
        loop {
            tokio::select! {
                message = self.port.next() => match message {
                    Some(ToApp::Closed(code, reason)) => return End::Closed(code, reason),
                    Some(message) => self.receive(message),
                    None => return End::Over,
                },
                Some((input, _room)) = self.parts.inbox.recv() => self.input(input),
                Ok(()) = known.changed() => {
                    let toolset = known.borrow_and_update().clone();
                    match toolset {
                        Some(toolset) => self.update(&toolset),
                        None => return End::ServerGone,
                    }
                }
                () = over.cancelled() => return End::Over,
            }
        }
    }
}
