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
