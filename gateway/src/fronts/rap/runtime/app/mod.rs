//! One tool server as an app on the broker.
//!
//! [`HostState`] has the rules of a call. This module turns its actions into HTTP requests, and callbacks
//! into its events.

mod agents;
mod broker;
mod calls;
mod subscriptions;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::callbacks::{CallbackEndpoint, Delivered, Input};
use super::client::{Notices, ToolServerClient};
use super::toolset::{self, Known};
use crate::broker::CloseCode;
use crate::fronts::rap::wire::Toolset;
use crate::gateway::metrics::ToolServerCounters;
use crate::gateway::{Hub, OutboxStep};
use crate::wire::{abp, for_log};
use agents::Agents;
use broker::{BrokerConnection, app_info};
use calls::Calls;
use caphost::call::Millis;
use caphost::session::{Action, HostState, Limits, ReplyTo};

/// The longest single sleep.
const LONGEST_SLEEP_MS: Millis = 3_600_000.0;

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
        let mut app = ToolServerApp::new(&mut parts, &toolset);
        app.register(&toolset);
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
    broker: BrokerConnection,
    /// The `app` that it has registered.
    app: Value,
    state: HostState<Value, ()>,
    agents: Agents,
    calls: Calls,
    endpoint: Url,
    started: Instant,
}

impl<'a> ToolServerApp<'a> {
    fn new(parts: &'a mut Parts, found: &Toolset) -> Self {
        let limits = &parts.hub.limits;
        let limits = Limits {
            in_flight: limits.in_flight,
            sessions: limits.sessions,
            requests_per_second: limits.requests_per_second,
            ..Limits::default()
        };
        ToolServerApp {
            broker: BrokerConnection::join(&parts.hub),
            app: app_info(&parts.hub, found),
            parts,
            state: HostState::new(limits),
            agents: Agents::default(),
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
            self.drive();
            let deadline = self.state.next_deadline();
            let left = deadline.map(|at| (at - self.now()).clamp(0.0, LONGEST_SLEEP_MS));
            let due = sleep(Duration::from_secs_f64(left.unwrap_or_default() / 1_000.0));
            tokio::select! {
                step = self.broker.next() => match step {
                    OutboxStep::Message(message, _) => self.receive(&message.into_text()),
                    OutboxStep::Close(code, reason) => return End::Closed(code, reason),
                },
                Some((input, _room)) = self.parts.inbox.recv() => self.input(input),
                () = due, if deadline.is_some() => {
                    let now = self.now();
                    self.state.handle_timeout(now);
                }
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

    /// Does everything that the state asks for, in order.
    pub fn drive(&mut self) {
        while let Some(action) = self.state.poll_action() {
            self.perform(action);
        }
    }

    fn perform(&mut self, action: Action<Value, ()>) {
        match action {
            Action::Wake => self.state.run_ready(),
            Action::Start {
                key,
                id,
                capability,
                params,
                ..
            } => {
                if let Err(error) = self.start(key, id, &capability, params) {
                    let now = self.now();
                    self.state.settle(key, Err(error), true, now);
                }
            }
            Action::Stop { key, .. } => self.stop(key),
            Action::Respond {
                to: ReplyTo::Agent(connection, id),
                response,
                ..
            } => {
                let payload = abp::response(&response);
                self.post(connection, abp::kind::CALL_RESULT, id, payload);
            }
            Action::Answer { to, id, answer } => self.answer(to, id, answer),
            Action::CallEnded { to, id, end } => {
                self.post(to, abp::kind::NOTIFICATION, None, abp::call_ended(&id, end));
            }
            Action::CapabilitiesChanged { to, changes } => {
                let payload = abp::capabilities_changed(&changes);
                self.post(to, abp::kind::NOTIFICATION, None, payload);
            }
            // Tools accept any parameters, make no calls, report no progress and ask nothing. Nobody observes
            // the state.
            _ => {}
        }
    }

    /// Ends every session. Cancels the calls and closes the threads, as far as the tool servers can be told.
    fn leave(&mut self) {
        for connection in self.agents.all() {
            self.disconnect(connection);
        }
    }
}
