//! The state that all requests to the tool server share.

use std::sync::Arc;

use super::calls::Threads;
use super::options::Options;
use super::request::Target;
use super::send_limits::{IN_ALL, PER_TOKEN, SendLimits};
use crate::bounds::{Budget, RateLimiter};
use crate::broker::calls::Dialect;
use crate::fronts::auth::Bearer;
use crate::fronts::lists::Listing;
use crate::fronts::rap::egress::{Clients, Egress, Others};
use crate::fronts::refusal::Refusal;
use crate::fronts::shared_sessions::{SharedSessions, Sharing};
use crate::gateway::Hub;
use crate::tokens::{Identity, Role};

/// The state that all requests share.
pub(super) struct RapServer {
    pub hub: Arc<Hub>,
    pub options: Options,
    /// Whether the gateway itself speaks TLS.
    pub secure: bool,
    /// The rate limit of toolsets.
    pub lists: Arc<Listing>,
    pub sessions: Arc<SharedSessions>,
    pub threads: Threads,
    /// The HTTP clients that send results.
    pub clients: Clients,
    pub sending: SendLimits,
    /// The invocations whose results are not delivered yet.
    pub pending: Arc<Budget>,
    /// The bytes of those invocations.
    pub invoked_bytes: Arc<Budget>,
    /// The bytes of their results.
    pub pending_bytes: Arc<Budget>,
    pub cancels: RateLimiter,
    pub closures: RateLimiter,
}

impl RapServer {
    pub(super) fn new(hub: Arc<Hub>, options: Options, secure: bool, loopback: bool) -> Self {
        let limiter = || {
            RateLimiter::with_burst(
                options.notifications_per_second,
                options.notifications_burst,
            )
        };
        // Without tokens all callers count as one.
        let alone = hub.tokens.is_empty();
        let room = |most, share| Budget::new(most, if alone { most } else { share });
        let bytes = || {
            room(
                options.max_pending_bytes,
                options.max_pending_bytes_per_token,
            )
        };
        let others = match loopback && alone {
            true => Others::PublicAndLoopback,
            false => Others::Public,
        };
        let egress = Egress::new(options.callback_allow.clone(), others);
        let clients = Sharing {
            dialect: Dialect::Rap,
            name: "caphost RAP",
            takes_questions: false,
        };
        let (idle, max) = (options.thread_idle, options.max_threads);
        let sessions = SharedSessions::new(hub.clone(), clients, idle, max);
        RapServer {
            secure,
            lists: Listing::of_offers(hub.clone()),
            sessions,
            threads: Threads::default(),
            clients: Clients::new(egress, options.callback_timeout),
            sending: SendLimits::new(if alone { IN_ALL } else { PER_TOKEN }),
            pending: room(options.max_pending, options.max_pending_per_token),
            invoked_bytes: bytes(),
            pending_bytes: bytes(),
            cancels: limiter(),
            closures: limiter(),
            hub,
            options,
        }
    }

    /// The caller and the requested app. The app is the one that the target names, or else the one that the
    /// token is for.
    pub(super) fn admit(
        &self,
        target: Target,
        bearer: &Bearer,
    ) -> Result<(Identity, Option<String>), Refusal> {
        let caller = bearer.acts_as(Role::Agent).map_err(|denied| {
            let missing = "A valid token of role agent is needed";
            Refusal::denied(denied, missing, "That token is not of role agent")
        })?;
        let app = target
            .app
            .or_else(|| caller.app.as_deref().map(str::to_string));
        if let Some(app) = app.as_deref().filter(|app| !caller.may_reach(app)) {
            return Err(Refusal::forbidden(format!(
                "That token may not reach the app {app:?}"
            )));
        }
        Ok((caller, app))
    }
}
