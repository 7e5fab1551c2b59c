//! The threads there are.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::thread::Thread;
use crate::fronts::rap::names::Identifier;
use crate::gateway::router::{Canceller, Session};
use crate::tokens::Identity;

/// Threads by their id. Callers choose ids, so each caller has its own of every id, one for each
/// app.
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

    /// What cancels that call in that thread, as far as `viewer` may: one at most, unless an
    /// operator means several callers'.
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

    /// Forgets a thread, as far as `viewer` may: it takes no more calls. Returns what was
    /// forgotten.
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
