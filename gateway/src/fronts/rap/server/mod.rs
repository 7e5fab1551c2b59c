//! The tool server: an app's capabilities as RAP tools.
//!
//! | request | answer |
//! |---|---|
//! | `GET {base}/.well-known/rap-toolset` | the manifest |
//! | `POST {base}/invoke` | 200 at once; the result goes to the callback URL |
//! | `POST {base}/cancel_tool_call` | 200 at once; the call is cancelled in the background |
//! | `POST {base}/close_thread` | 200 at once; its calls are cancelled in the background |
//!
//! `{base}` is `/rap/<app id>`; or the root, for the only app or the one named by `?app=`.
//! One call: `invocation` checks the request, claims its id for this worker (`claims`) and begins a
//! call in its thread (`threads`). A task of its own waits for the outcome (`pending`), writes it as a
//! tool result (`result`) and posts it to the callback URL until it is taken (`delivery`).
//!
//! `docs/protocol.md` says what is ours, and what was decided where RAP leaves a choice.

mod body;
mod callback_url;
mod claims;
mod delivery;
mod invocation;
mod notifications;
mod options;
mod pending;
mod result;
mod send_limits;
mod target;
mod threads;
mod toolset;

use std::ops::ControlFlow;
use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::Router;
use axum::http::HeaderMap;
use axum::routing::{get, post};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio::time::{MissedTickBehavior, interval};

pub use callback_url::AllowedHost;
pub use options::Options;

use super::wire::{CANCEL_TOOL_CALL_PATH, CLOSE_THREAD_PATH, TOOLSET_PATH};
use crate::fronts::auth::authenticate;
use crate::fronts::rate_limit::RateLimiter;
use crate::fronts::refusal::Refusal;
use crate::gateway::Hub;
use crate::tokens::{Identity, Role};
use claims::Claims;
use delivery::Delivery;
use target::Target;
use threads::Threads;
use toolset::Catalogue;

/// Where invocations go, under a base.
const INVOKE_PATH: &str = "/invoke";

/// What all requests share.
struct RapServer {
    hub: Arc<Hub>,
    options: Options,
    /// Whether the gateway itself speaks TLS.
    secure: bool,
    catalogue: Catalogue,
    threads: Threads,
    claims: Claims,
    delivery: Delivery,
    /// A permit for each invocation whose result is not delivered yet.
    pending: Arc<Semaphore>,
    /// The bytes of those invocations.
    invoked_bytes: Arc<Semaphore>,
    /// The bytes of their results.
    pending_bytes: Arc<Semaphore>,
    cancels: RateLimiter,
    closures: RateLimiter,
}

/// The routes of the tool server, on a hub whose gateway speaks TLS or does not.
///
/// To be called within a Tokio runtime: a task in the background forgets unused threads.
pub fn routes(hub: Arc<Hub>, options: Options, secure: bool) -> Router {
    let limiter = || {
        RateLimiter::with_burst(
            options.notifications_per_second,
            options.notifications_burst,
        )
    };
    let places = |count: usize| Arc::new(Semaphore::new(count.min(Semaphore::MAX_PERMITS)));
    let metrics = hub.metrics.clone();
    let server = Arc::new(RapServer {
        claims: Claims::new(hub.clone(), options.call_timeout),
        hub,
        secure,
        catalogue: Catalogue::default(),
        threads: Threads::new(options.max_threads, options.thread_idle),
        delivery: Delivery::new(
            options.callback_timeout,
            options.callback_retry_for,
            metrics,
        ),
        pending: places(options.max_pending),
        invoked_bytes: places(options.max_pending_bytes),
        pending_bytes: places(options.max_pending_bytes),
        cancels: limiter(),
        closures: limiter(),
        options,
    });
    let (tasks, weak) = (server.hub.tasks.clone(), Arc::downgrade(&server));
    let idle = server.options.thread_idle;
    tokio::spawn(async move {
        let sweep = || sweep(weak.clone(), idle);
        tasks.keep_going("rap threads", sweep).await;
    });
    if server.hub.workers().is_some() {
        let (tasks, weak) = (server.hub.tasks.clone(), Arc::downgrade(&server));
        let told = Arc::new(Mutex::new(server.hub.from_others()));
        tokio::spawn(async move {
            let obey = || notifications::obey(weak.clone(), told.clone());
            tasks.keep_going("rap notifications", obey).await;
        });
    }
    let mut router = Router::new();
    for base in ["", "/rap/{app}"] {
        let path = |path: &str| format!("{base}{path}");
        router = router
            .route(&path(TOOLSET_PATH), get(toolset::manifest))
            .route(&path(INVOKE_PATH), post(invocation::invoke))
            .route(
                &path(CANCEL_TOOL_CALL_PATH),
                post(notifications::cancel_tool_call),
            )
            .route(&path(CLOSE_THREAD_PATH), post(notifications::close_thread));
    }
    router.with_state(server)
}

/// Forgets unused threads again and again, as long as there is a server.
async fn sweep(server: Weak<RapServer>, idle: Duration) -> ControlFlow<()> {
    let mut ticks = interval((idle / 4).max(Duration::from_millis(10)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(server) = server.upgrade() else {
            return ControlFlow::Break(());
        };
        server.threads.sweep();
    }
}

/// Takes so many bytes of a budget, if they are left. Dropping the permit gives them back.
fn take(left: &Arc<Semaphore>, bytes: usize) -> Option<OwnedSemaphorePermit> {
    let bytes = bytes.try_into().ok()?;
    left.clone().try_acquire_many_owned(bytes).ok()
}

impl RapServer {
    /// Who asks, and for which app: the one that the target names, else the one that the token is
    /// for.
    fn admit(
        &self,
        target: Target,
        headers: &HeaderMap,
        query: Option<&str>,
    ) -> Result<(Identity, Option<String>), Refusal> {
        let caller = authenticate(&self.hub, Role::Agent, headers, query).map_err(|denied| {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let left = Arc::new(Semaphore::new(10));
        let six = take(&left, 6).unwrap();
        assert!(take(&left, 5).is_none());
        let four = take(&left, 4).unwrap();
        drop(six);
        assert!(take(&left, 6).is_some() && take(&left, 7).is_none());
        drop(four);
        assert!(take(&left, 10).is_some() && take(&left, usize::MAX).is_none());
    }
}
