//! One thread's calls to one app.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::fronts::rap::names::Identifier;
use crate::gateway::router::{Call, Canceller, NewCall, Session};
use crate::tokens::Identity;

/// A thread of a caller on an app, and its session there.
pub(super) struct Thread {
    /// Whose it is.
    pub owner: Identity,
    /// The app's id.
    pub app: String,
    /// Cancelled when the thread is closed: what is not delivered by then is no longer wanted.
    pub closed: CancellationToken,
    session: Session,
    state: Mutex<State>,
}

struct State {
    /// By the id of the tool call, until they end.
    calls: HashMap<Identifier, InFlight>,
    /// When it last began or ended one.
    used: Instant,
    /// It takes no more calls: a new thread has to be made for them.
    over: bool,
}

struct InFlight {
    /// What is called, to tell an invocation sent again from another under the same id.
    fingerprint: u64,
    canceller: Canceller,
}

/// What came of an invocation.
pub(super) enum Begun {
    /// It is a call now.
    New(Call),
    /// It is one already: the runtime has not heard that it was taken.
    Again,
    /// Another invocation of that id is in flight.
    Taken,
    /// The thread is over.
    Over,
}

impl Thread {
    pub(super) fn new(owner: Identity, app: String, session: Session) -> Self {
        Thread {
            owner,
            app,
            closed: CancellationToken::new(),
            session,
            state: Mutex::new(State {
                calls: HashMap::new(),
                used: Instant::now(),
                over: false,
            }),
        }
    }

    /// Makes a call, unless the id is in use.
    pub(super) fn begin(
        &self,
        id: &Identifier,
        fingerprint: u64,
        call: impl FnOnce() -> NewCall,
    ) -> Begun {
        let mut state = self.state();
        if state.over {
            return Begun::Over;
        }
        match state.calls.get(id) {
            Some(same) if same.fingerprint == fingerprint => return Begun::Again,
            Some(_) => return Begun::Taken,
            None => {}
        }
        let call = self.session.call(call());
        let canceller = call.canceller();
        state.calls.insert(
            id.clone(),
            InFlight {
                fingerprint,
                canceller,
            },
        );
        state.used = Instant::now();
        Begun::New(call)
    }

    /// A call has ended: its id may be used again.
    pub(super) fn ended(&self, id: &Identifier) {
        let mut state = self.state();
        state.calls.remove(id);
        state.used = Instant::now();
    }

    /// What cancels the call of that id.
    pub(super) fn canceller(&self, id: &Identifier) -> Option<Canceller> {
        self.state()
            .calls
            .get(id)
            .map(|call| call.canceller.clone())
    }

    /// Takes no more calls; returns what cancels those in flight.
    pub(super) fn close(&self) -> Vec<Canceller> {
        let mut state = self.state();
        state.over = true;
        self.closed.cancel();
        state
            .calls
            .values()
            .map(|call| call.canceller.clone())
            .collect()
    }

    /// For how long it has had no call, if it has none.
    pub(super) fn idle_for(&self) -> Option<Duration> {
        let state = self.state();
        state.calls.is_empty().then(|| state.used.elapsed())
    }

    /// Takes no more calls if it has had none for `time`: whether it is over now.
    pub(super) fn retire(&self, time: Duration) -> bool {
        let mut state = self.state();
        state.over |= state.calls.is_empty() && state.used.elapsed() >= time;
        state.over
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
