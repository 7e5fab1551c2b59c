//! The calls of runtimes, by the ids that runtimes give them.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::fronts::rap::names::Identifier;
use crate::gateway::calls::{Call, Canceller};
use crate::tokens::Identity;

/// Invocations that have become calls, until their results are delivered: by thread, then by id.
/// Callers choose both, so several may have the same.
#[derive(Default)]
pub(super) struct Calls {
    threads: Mutex<HashMap<Identifier, Thread>>,
}

type Thread = HashMap<Identifier, Vec<Entry>>;

struct Entry {
    name: Arc<Name>,
    /// Tells an invocation that is sent again from a different one with the same id.
    fingerprint: u64,
    /// What cancels the call, until it has ended.
    canceller: Option<Canceller>,
    unwanted: CancellationToken,
}

/// What an invocation is known by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub owner: Identity,
    pub app: String,
    pub thread: Identifier,
    pub id: Identifier,
}

/// What came of an invocation.
pub(super) enum Begun {
    /// It is a call now.
    New(Call, InFlight),
    /// It is a call already: the runtime has sent it again.
    Again,
    /// A different invocation of that name is in flight.
    Taken,
}

/// An invocation that has become a call. To be dropped when its result is delivered.
pub(super) struct InFlight {
    calls: Arc<Calls>,
    name: Arc<Name>,
    /// Cancelled when the thread is closed: a result that is not delivered by then is not wanted.
    pub unwanted: CancellationToken,
}

impl InFlight {
    /// The call has ended: its id may be used again.
    pub(super) fn ended(&self) {
        self.calls.change(&self.name, |entries| {
            let is_it = |entry: &&mut Entry| Arc::ptr_eq(&entry.name, &self.name);
            if let Some(entry) = entries.iter_mut().find(is_it) {
                entry.canceller = None;
            }
        });
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.calls.change(&self.name, |entries| {
            entries.retain(|entry| !Arc::ptr_eq(&entry.name, &self.name));
        });
    }
}

impl Calls {
    /// Makes a call, unless the name is in use.
    pub(super) fn begin(
        self: &Arc<Self>,
        name: Name,
        fingerprint: u64,
        call: impl FnOnce() -> Call,
    ) -> Begun {
        let mut threads = self.threads.lock();
        let thread = threads.entry(name.thread.clone()).or_default();
        let entries = thread.entry(name.id.clone()).or_default();
        let in_flight = |entry: &&Entry| entry.canceller.is_some() && *entry.name == name;
        match entries.iter().find(in_flight) {
            Some(same) if same.fingerprint == fingerprint => return Begun::Again,
            Some(_) => return Begun::Taken,
            None => {}
        }
        let call = call();
        let (name, unwanted) = (Arc::new(name), CancellationToken::new());
        entries.push(Entry {
            name: name.clone(),
            fingerprint,
            canceller: Some(call.canceller()),
            unwanted: unwanted.clone(),
        });
        let calls = self.clone();
        let in_flight = InFlight {
            calls,
            name,
            unwanted,
        };
        Begun::New(call, in_flight)
    }

    /// What cancels that call in that thread, where `viewer` may. An operator may mean the calls of
    /// several callers.
    pub(super) fn cancellers(
        &self,
        thread: &Identifier,
        id: &Identifier,
        app: Option<&str>,
        viewer: &Identity,
    ) -> Vec<Canceller> {
        let threads = self.threads.lock();
        let entries = threads.get(thread).and_then(|thread| thread.get(id));
        let meant = entries.into_iter().flatten();
        let meant = meant.filter(|entry| is_meant(entry, app, viewer));
        meant.filter_map(|entry| entry.canceller.clone()).collect()
    }

    /// Closes a thread, as far as `viewer` may: its results are unwanted. What cancels its calls.
    pub(super) fn close(
        &self,
        thread: &Identifier,
        app: Option<&str>,
        viewer: &Identity,
    ) -> Vec<Canceller> {
        let threads = self.threads.lock();
        let entries = threads.get(thread).into_iter().flat_map(HashMap::values);
        let meant = entries
            .flatten()
            .filter(|entry| is_meant(entry, app, viewer));
        let closed = meant.inspect(|entry| entry.unwanted.cancel());
        closed.filter_map(|entry| entry.canceller.clone()).collect()
    }

    /// Changes the entries with the ids of `name`, and forgets them when none is left.
    fn change(&self, name: &Name, change: impl FnOnce(&mut Vec<Entry>)) {
        let mut threads = self.threads.lock();
        let Some(thread) = threads.get_mut(&name.thread) else {
            return;
        };
        if let Some(entries) = thread.get_mut(&name.id) {
            change(entries);
            if entries.is_empty() {
                thread.remove(&name.id);
            }
        }
        if thread.is_empty() {
            threads.remove(&name.thread);
        }
    }
}

fn is_meant(entry: &Entry, app: Option<&str>, viewer: &Identity) -> bool {
    let Name {
        owner, app: its, ..
    } = &*entry.name;
    app.is_none_or(|app| app == its) && viewer.may_see(owner, Some(its))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broker::runs::Dialect;
    use crate::gateway::Hub;
    use crate::gateway::calls::{Client, NewCall};
    use crate::limits::Limits;
    use crate::tokens::{Role, Tokens};

    fn id(text: &str) -> Identifier {
        Identifier::new(text).unwrap()
    }

    fn agent(name: &str) -> Identity {
        Identity {
            role: Role::Agent,
            name: name.into(),
            app: None,
        }
    }

    struct Fixture {
        hub: Arc<Hub>,
        calls: Arc<Calls>,
    }

    impl Fixture {
        fn new() -> Self {
            let hub = Arc::new(Hub::new(Limits::default(), Tokens::default()));
            let calls = Arc::default();
            Fixture { hub, calls }
        }

        fn begin(&self, owner: &Identity, app: &str, thread: &str, call: &str) -> Begun {
            let name = Name {
                owner: owner.clone(),
                app: app.into(),
                thread: id(thread),
                id: id(call),
            };
            let make = || {
                let session = self.hub.open(Client {
                    dialect: Dialect::Rap,
                    owner: owner.clone(),
                    app: Some(app.into()),
                    name: "test".into(),
                    version: "1".into(),
                });
                session.call(NewCall::default())
            };
            self.calls.begin(name, 0, make)
        }

        fn seen(&self, thread: &str, app: Option<&str>, viewer: &Identity) -> usize {
            let found = self.calls.cancellers(&id(thread), &id("1"), app, viewer);
            found.len()
        }
    }

    #[tokio::test]
    async fn each_caller_has_its_own_ids_in_its_own_threads_of_each_app() {
        let it = Fixture::new();
        let (alice, bob) = (agent("alice"), agent("bob"));
        let all = [
            it.begin(&alice, "a", "t", "1"),
            it.begin(&bob, "a", "t", "1"),
            it.begin(&alice, "b", "t", "1"),
            it.begin(&alice, "a", "u", "1"),
        ];
        assert!(all.iter().all(|it| matches!(it, Begun::New(..))));
        assert!(matches!(it.begin(&alice, "a", "t", "1"), Begun::Again));
        assert_eq!(it.seen("t", Some("a"), &alice), 1);
        assert_eq!(it.seen("t", None, &alice), 2);
        assert_eq!((it.seen("t", None, &bob), it.seen("u", None, &bob)), (1, 0));
        assert_eq!(it.seen("t", None, &Identity::anyone()), 3);
        assert_eq!(it.calls.close(&id("t"), Some("a"), &alice).len(), 1);
        let unwanted = all.iter().map(|begun| match begun {
            Begun::New(_, it) => it.unwanted.is_cancelled(),
            _ => panic!("it is not new"),
        });
        assert_eq!(unwanted.collect::<Vec<_>>(), [true, false, false, false]);
    }

    #[tokio::test]
    async fn an_id_may_be_used_again_once_its_call_has_ended_and_is_forgotten_when_delivered() {
        let it = Fixture::new();
        let alice = agent("alice");
        let Begun::New(call, undelivered) = it.begin(&alice, "a", "t", "1") else {
            panic!("it is not new");
        };
        drop(call);
        undelivered.ended();
        assert_eq!(it.seen("t", None, &alice), 0);
        let again = it.begin(&alice, "a", "t", "1");
        assert!(matches!(again, Begun::New(..)));
        assert_eq!(it.calls.close(&id("t"), None, &alice).len(), 1);
        assert!(
            undelivered.unwanted.is_cancelled(),
            "its result is not in time"
        );
        drop((again, undelivered));
        assert!(it.calls.threads.lock().is_empty());
    }
}
