//! The invocations of runtimes, by thread and by the ids that the runtimes choose, until their results are
//! delivered.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::bounds::InUse;
use crate::broker::calls::RunId;
use crate::fronts::rap::names::Identifier;
use crate::fronts::rpc::{InFlight, Request, Used};
use crate::tokens::Identity;

/// The threads with invocations. The callers choose the ids of threads and calls, so several invocations may have
/// the same ids.
#[derive(Default)]
pub(super) struct Threads(InUse<Identifier, InFlight<Name>>);

/// The key of an invocation in its thread.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub id: Identifier,
    pub app: String,
    pub owner: Identity,
    /// The run, once the call has ended: its result is to be delivered, and the other ids may be used again.
    pub ended: Option<RunId>,
    /// Distinguishes an invocation that is sent again from another invocation with the same id.
    pub fingerprint: u64,
}

impl Name {
    /// Whether a notification of `viewer` means this invocation. Without an id it means all invocations of the
    /// thread, and without an app those of all apps.
    pub fn is_meant(&self, id: Option<&str>, app: Option<&str>, viewer: &Identity) -> bool {
        id.is_none_or(|id| id == self.id.as_str())
            && app.is_none_or(|app| app == self.app)
            && viewer.may_see(&self.owner, Some(&self.app))
    }

    fn key(&self) -> impl Hash + Eq + '_ {
        (&self.id, &self.app, &self.owner, self.ended)
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Name {}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
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

impl Threads {
    /// Begins an invocation, unless its name is in use.
    pub async fn begin(&self, thread: &Identifier, name: &Name) -> Result<Request<Name>, Denied> {
        let in_flight = self.0.get(thread, InFlight::default);
        loop {
            match in_flight.begin(name) {
                Ok(request) => return Ok(request),
                Err(Used { by, .. }) if by.fingerprint != name.fingerprint => {
                    return Err(Denied::Taken);
                }
                Err(Used { is_call: true, .. }) => return Err(Denied::Again),
                // The first of them may still be denied.
                Err(_) => in_flight.begun(name).await,
            }
        }
    }

    /// The invocations of a thread, if it has any.
    pub fn find(&self, thread: &str) -> Option<Arc<InFlight<Name>>> {
        self.0.find(thread)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use crate::broker::calls::Dialect;
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

    fn name(owner: &Identity, app: &str) -> Name {
        Name {
            id: id("1"),
            app: app.into(),
            owner: owner.clone(),
            ended: None,
            fingerprint: 0,
        }
    }

    /// An invocation that has become a call.
    async fn call(threads: &Threads, thread: &str, name: &Name) -> Result<Request<Name>, Denied> {
        let request = threads.begin(&id(thread), name).await?;
        let hub = Arc::new(Hub::new(Limits::default(), Tokens::default()));
        let session = hub.open(Client {
            dialect: Dialect::Rap,
            owner: name.owner.clone(),
            app: Some(name.app.clone()),
            name: "test".into(),
            version: "1".into(),
            takes_questions: false,
        });
        request.becomes(&session.call(NewCall::default()));
        Ok(request)
    }

    #[tokio::test]
    async fn each_caller_has_its_own_ids_in_its_own_threads_of_each_app() {
        let threads = Threads::default();
        let (alice, bob) = (agent("alice"), agent("bob"));
        let all = [
            call(&threads, "t", &name(&alice, "a")).await,
            call(&threads, "t", &name(&bob, "a")).await,
            call(&threads, "t", &name(&alice, "b")).await,
            call(&threads, "u", &name(&alice, "a")).await,
        ];
        assert!(all.iter().all(Result::is_ok));
        let again = call(&threads, "t", &name(&alice, "a")).await;
        assert_eq!(again.err(), Some(Denied::Again));
        let other = Name {
            fingerprint: 1,
            ..name(&alice, "a")
        };
        let taken = call(&threads, "t", &other).await;
        assert_eq!(taken.err(), Some(Denied::Taken));
    }

    #[test]
    fn a_notification_means_what_its_sender_may_see() {
        let (alice, bob) = (agent("alice"), agent("bob"));
        let it = name(&alice, "a");
        assert!(it.is_meant(Some("1"), Some("a"), &alice) && it.is_meant(None, None, &alice));
        assert!(it.is_meant(Some("1"), None, &Identity::anyone()));
        assert!(!it.is_meant(Some("2"), None, &alice) && !it.is_meant(None, Some("b"), &alice));
        assert!(!it.is_meant(Some("1"), None, &bob));
    }

    #[tokio::test]
    async fn an_invocation_that_comes_again_waits_until_the_first_has_become_a_call() {
        let threads = Threads::default();
        let (thread, name) = (id("t"), name(&agent("alice"), "a"));
        let first = threads.begin(&thread, &name).await.unwrap();
        let again = threads.begin(&thread, &name);
        tokio::pin!(again);
        assert!((&mut again).now_or_never().is_none());
        drop(first);
        assert!(again.await.is_ok(), "the first was denied");
    }

    #[tokio::test]
    async fn an_id_may_be_used_again_once_its_call_has_ended_and_is_forgotten_when_delivered() {
        let threads = Threads::default();
        let name = name(&agent("alice"), "a");
        let mut undelivered = call(&threads, "t", &name).await.unwrap();
        undelivered.rename(Name {
            ended: Some(RunId::random()),
            ..name.clone()
        });
        let again = call(&threads, "t", &name).await.unwrap();
        let all = threads.find("t").unwrap();
        all.cancel_each(|_| true, "closed", false);
        assert!(undelivered.over.is_cancelled() && again.over.is_cancelled());
        drop((all, again, undelivered));
        assert!(threads.find("t").is_none());
    }
}
