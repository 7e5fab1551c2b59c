//! The threads of runtimes, each with its calls to one app.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::fronts::rap::names::Identifier;
use crate::gateway::calls::{Call, Canceller, NewCall, Session};
use crate::tokens::Identity;

/// Threads by their id. Callers choose the ids, so there is one thread for each caller, app and id.
pub(super) struct Threads {
    max: usize,
    idle: Duration,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    by_id: HashMap<Identifier, Vec<Arc<Thread>>>,
    count: usize,
}

impl Threads {
    /// Keeps a thread without calls for `idle`, and for less while there are more than `max`.
    pub(super) fn new(max: usize, idle: Duration) -> Self {
        Threads {
            max,
            idle,
            table: Mutex::default(),
        }
    }

    /// The thread of `owner` on `app`, which opens a session if it is a new one.
    pub(super) fn enter(
        &self,
        id: &Identifier,
        app: &str,
        owner: &Identity,
        open: impl FnOnce() -> Session,
    ) -> Arc<Thread> {
        let mut table = self.table();
        let same = |thread: &&Arc<Thread>| thread.app == app && thread.owner == *owner;
        if let Some(thread) = table
            .by_id
            .get(id)
            .and_then(|threads| threads.iter().find(same))
        {
            return thread.clone();
        }
        if table.count >= self.max {
            table.make_room();
        }
        let thread = Arc::new(Thread::new(owner.clone(), app.to_string(), open()));
        table
            .by_id
            .entry(id.clone())
            .or_default()
            .push(thread.clone());
        table.count += 1;
        thread
    }

    /// What cancels that call in that thread, where `viewer` may. An operator may mean the calls of
    /// several callers.
    pub(super) fn cancellers(
        &self,
        id: &Identifier,
        call: &Identifier,
        app: Option<&str>,
        viewer: &Identity,
    ) -> Vec<Canceller> {
        let table = self.table();
        let threads = table.by_id.get(id).into_iter().flatten();
        let visible = threads.filter(|thread| is_meant(thread, app, viewer));
        visible
            .filter_map(|thread| thread.canceller(call))
            .collect()
    }

    /// Forgets the threads with that id that `viewer` may close, and returns them.
    pub(super) fn take(
        &self,
        id: &Identifier,
        app: Option<&str>,
        viewer: &Identity,
    ) -> Vec<Arc<Thread>> {
        let mut taken = Vec::new();
        self.table().retain_of(id, |thread| {
            let meant = is_meant(thread, app, viewer);
            if meant {
                taken.push(thread.clone());
            }
            !meant
        });
        taken
    }

    /// Forgets a thread that is over.
    pub(super) fn forget(&self, id: &Identifier, over: &Arc<Thread>) {
        self.table()
            .retain_of(id, |thread| !Arc::ptr_eq(thread, over));
    }

    /// Forgets the threads that have had no call for long.
    pub(super) fn sweep(&self) {
        self.table().retain(|thread| !thread.retire(self.idle));
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Forgets the thread that has had no call for longest.
    fn make_room(&mut self) {
        let threads = self.by_id.values().flatten();
        let idle = threads.filter_map(|thread| Some((thread.idle_for()?, thread.clone())));
        let longest = idle.max_by_key(|(time, _)| *time);
        if let Some((_, oldest)) = longest
            && oldest.retire(Duration::ZERO)
        {
            self.retain(|thread| !Arc::ptr_eq(thread, &oldest));
        }
    }

    fn retain(&mut self, mut keep: impl FnMut(&Arc<Thread>) -> bool) {
        let mut count = 0;
        self.by_id.retain(|_, threads| {
            threads.retain(&mut keep);
            count += threads.len();
            !threads.is_empty()
        });
        self.count = count;
    }

    fn retain_of(&mut self, id: &Identifier, keep: impl FnMut(&Arc<Thread>) -> bool) {
        let Some(threads) = self.by_id.get_mut(id) else {
            return;
        };
        let before = threads.len();
        threads.retain(keep);
        self.count -= before - threads.len();
        if threads.is_empty() {
            self.by_id.remove(id);
        }
    }
}

fn is_meant(thread: &Thread, app: Option<&str>, viewer: &Identity) -> bool {
    app.is_none_or(|app| app == thread.app) && viewer.may_see(&thread.owner, Some(&thread.app))
}

/// A thread of a caller on an app, and its session there.
pub(super) struct Thread {
    /// Its caller.
    pub owner: Identity,
    /// The app's id.
    pub app: String,
    /// Cancelled when the thread is closed: what is not delivered by then is no longer wanted.
    pub closed: CancellationToken,
    session: Session,
    state: Mutex<ThreadState>,
}

struct ThreadState {
    /// The calls in flight, by the id of the tool call.
    calls: HashMap<Identifier, InFlight>,
    /// When a call last began or ended.
    used: Instant,
    /// Whether it takes no more calls: a new thread has to be made for them.
    over: bool,
}

struct InFlight {
    /// Tells an invocation that is sent again from a different one with the same id.
    fingerprint: u64,
    canceller: Canceller,
}

/// What came of an invocation.
pub(super) enum Begun {
    /// It is a call now.
    New(Call),
    /// It is a call already: the runtime has sent it again.
    Again,
    /// A different invocation with that id is in flight.
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
            state: Mutex::new(ThreadState {
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

    /// How long it has had no call, if it has none now.
    pub(super) fn idle_for(&self) -> Option<Duration> {
        let state = self.state();
        state.calls.is_empty().then(|| state.used.elapsed())
    }

    /// Takes no more calls if it has had none for `time`. Whether it is over now.
    pub(super) fn retire(&self, time: Duration) -> bool {
        let mut state = self.state();
        state.over |= state.calls.is_empty() && state.used.elapsed() >= time;
        state.over
    }

    fn state(&self) -> MutexGuard<'_, ThreadState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
