//! The calls of runtimes, by the ids that the runtimes choose.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::fronts::rap::names::Identifier;
use crate::gateway::calls::{Call, Canceller};
use crate::tokens::Identity;

/// The invocations that have become calls, until their results are delivered, by thread. The callers choose
/// the ids of threads and calls, so several calls may have the same ids.
#[derive(Default)]
pub(super) struct Calls {
    threads: Mutex<HashMap<Identifier, Vec<Arc<Entry>>>>,
}

struct Entry {
    name: Name,
    /// Distinguishes an invocation that is sent again from another invocation with the same id.
    fingerprint: u64,
    /// The handle that cancels the call, until the call has ended.
    canceller: Mutex<Option<Canceller>>,
    unwanted: CancellationToken,
}

/// The key of an invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub id: Identifier,
    pub thread: Identifier,
    pub app: String,
    pub owner: Identity,
}

/// Why an invocation does not become a call on this worker.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Denied {
    /// The call exists already: the runtime has sent the invocation again.
    Again,
    /// Another invocation with the same name is in flight.
    Taken,
    /// Another worker may have the invocation. This will be known soon.
    Unsure,
}

/// An invocation that has become a call. Must be dropped when its result is delivered.
pub(super) struct InFlight {
    calls: Arc<Calls>,
    entry: Arc<Entry>,
}

impl InFlight {
    /// The call has ended, so its id may be used again.
    pub(super) fn ended(&self) {
        self.entry.canceller.lock().take();
    }

    /// A token that is cancelled when the thread is closed. After that, an undelivered result is not wanted.
    pub(super) fn unwanted(&self) -> CancellationToken {
        self.entry.unwanted.clone()
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut threads = self.calls.threads.lock();
        let thread = &self.entry.name.thread;
        if let Some(entries) = threads.get_mut(thread) {
            entries.retain(|it| !Arc::ptr_eq(it, &self.entry));
            if entries.is_empty() {
                threads.remove(thread);
            }
        }
    }
}

impl Calls {
    /// Makes a call, unless the name is in use.
    pub(super) fn begin(
        self: &Arc<Self>,
        name: Name,
        fingerprint: u64,
        call: impl FnOnce() -> Call,
    ) -> Result<(Call, InFlight), Denied> {
        let mut threads = self.threads.lock();
        let entries = threads.entry(name.thread.clone()).or_default();
        let in_flight = |it: &&Arc<Entry>| it.name == name && it.canceller.lock().is_some();
        match entries.iter().find(in_flight) {
            Some(same) if same.fingerprint == fingerprint => return Err(Denied::Again),
            Some(_) => return Err(Denied::Taken),
            None => {}
        }
        let call = call();
        let entry = Arc::new(Entry {
            name,
            fingerprint,
            canceller: Mutex::new(Some(call.canceller())),
            unwanted: CancellationToken::new(),
        });
        entries.push(entry.clone());
        let calls = self.clone();
        Ok((call, InFlight { calls, entry }))
    }

    /// The handles that cancel the call with that id in that thread, if `viewer` may see the call. There may
    /// be several, because an operator sees all calls. Without an id the thread is closed: the function
    /// returns the handles of all its calls, and marks their results as unwanted.
    pub(super) fn cancellers(
        &self,
        thread: &str,
        id: Option<&str>,
        app: Option<&str>,
        viewer: &Identity,
    ) -> Vec<Canceller> {
        let threads = self.threads.lock();
        let entries = threads.get(thread).into_iter().flatten();
        let meant = entries.filter(|it| {
            let Name {
                owner, app: its, ..
            } = &it.name;
            id.is_none_or(|id| id == it.name.id.as_str())
                && app.is_none_or(|app| app == its)
                && viewer.may_see(owner, Some(its))
        });
        let mut cancellers = Vec::new();
        for entry in meant {
            if id.is_none() {
                entry.unwanted.cancel();
            }
            cancellers.extend(entry.canceller.lock().clone());
        }
        cancellers
    }
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

        fn begin(
            &self,
            owner: &Identity,
            app: &str,
            thread: &str,
            call: &str,
        ) -> Result<(Call, InFlight), Denied> {
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
            let found = self.calls.cancellers(thread, Some("1"), app, viewer);
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
        assert!(all.iter().all(Result::is_ok));
        let again = it.begin(&alice, "a", "t", "1");
        assert_eq!(again.err(), Some(Denied::Again));
        assert_eq!(it.seen("t", Some("a"), &alice), 1);
        assert_eq!(it.seen("t", None, &alice), 2);
        assert_eq!((it.seen("t", None, &bob), it.seen("u", None, &bob)), (1, 0));
        assert_eq!(it.seen("t", None, &Identity::anyone()), 3);
        assert_eq!(it.calls.cancellers("t", None, Some("a"), &alice).len(), 1);
        let unwanted = all.iter().flatten();
        let unwanted = unwanted.map(|(_, it)| it.unwanted().is_cancelled());
        assert_eq!(unwanted.collect::<Vec<_>>(), [true, false, false, false]);
    }

    #[tokio::test]
    async fn an_id_may_be_used_again_once_its_call_has_ended_and_is_forgotten_when_delivered() {
        let it = Fixture::new();
        let alice = agent("alice");
        let Ok((call, undelivered)) = it.begin(&alice, "a", "t", "1") else {
            panic!("it is not new");
        };
        drop(call);
        undelivered.ended();
        assert_eq!(it.seen("t", None, &alice), 0);
        let again = it.begin(&alice, "a", "t", "1");
        assert!(again.is_ok());
        assert_eq!(it.calls.cancellers("t", None, None, &alice).len(), 1);
        assert!(
            undelivered.unwanted().is_cancelled(),
            "its result is not in time"
        );
        drop((again, undelivered));
        assert!(it.calls.threads.lock().is_empty());
    }
}
