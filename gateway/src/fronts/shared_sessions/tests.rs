use super::*;
use crate::limits::Limits;
use crate::tokens::{Role, Tokens};

const IDLE: Duration = Duration::from_millis(40);
const CLIENTS: Sharing = Sharing {
    dialect: Dialect::Rap,
    name: "test",
    takes_questions: false,
};

fn sessions(max: usize) -> Arc<SharedSessions> {
    let hub = Arc::new(Hub::new(Limits::default(), Tokens::default()));
    SharedSessions::new(hub, CLIENTS, IDLE, max)
}

fn agent(name: &str) -> Identity {
    Identity {
        role: Role::Agent,
        name: name.into(),
        app: None,
    }
}

#[tokio::test]
async fn each_caller_has_one_with_each_app() {
    let sessions = sessions(10);
    let (alice, bob) = (agent("alice"), agent("bob"));
    let first = sessions.session(&alice, Some("a"), None);
    let same = |other: InUse| Arc::ptr_eq(&first.0, &other.0);
    assert!(same(sessions.session(&alice, Some("a"), None)));
    assert!(!same(sessions.session(&bob, Some("a"), None)));
    assert!(!same(sessions.session(&alice, Some("b"), None)));
    assert!(!same(sessions.session(&alice, None, None)));
}

#[tokio::test]
async fn past_the_limit_the_one_unused_for_longest_makes_room() {
    let sessions = sessions(3);
    let busy = sessions.session(&agent("busy"), None, None);
    for name in ["old", "new", "newest"] {
        drop(sessions.session(&agent(name), None, None));
        std::thread::sleep(Duration::from_millis(2));
    }
    let open = sessions.kept.lock();
    let mut names: Vec<_> = open.keys().map(|(owner, _)| &*owner.name).collect();
    names.sort_unstable();
    assert_eq!(names, ["busy", "new", "newest"]);
    drop(busy);
}

#[tokio::test]
async fn one_that_is_not_used_ends_in_time_and_one_in_use_does_not() {
    let sessions = sessions(10);
    let busy = sessions.session(&agent("busy"), None, None);
    drop(sessions.session(&agent("idle"), None, None));
    let left = async |count| {
        while sessions.kept.lock().len() > count {
            tokio::time::sleep(IDLE / 4).await;
        }
    };
    let soon = Duration::from_secs(10);
    tokio::time::timeout(soon, left(1)).await.unwrap();
    tokio::time::sleep(IDLE * 3).await;
    assert_eq!(sessions.kept.lock().len(), 1, "it is in use");
    drop(busy);
    tokio::time::timeout(soon, left(0)).await.unwrap();
}

#[tokio::test]
async fn one_ends_when_the_last_of_its_threads_is_closed_and_its_calls_have_ended() {
    let hub = Arc::new(Hub::new(Limits::default(), Tokens::default()));
    let long = Duration::from_secs(3_600);
    let sessions = SharedSessions::new(hub, CLIENTS, long, 10);
    let (alice, bob) = (agent("alice"), agent("bob"));
    let first = sessions.session(&alice, Some("a"), Some("t"));
    let of_alice = Arc::downgrade(&first.0);
    drop(sessions.session(&alice, Some("a"), Some("u")));
    let of_bob = sessions.session(&bob, Some("a"), Some("t"));
    let of_bob = Arc::downgrade(&of_bob.0);
    let close = |thread: &str, whose: &Identity| {
        sessions.close_thread(thread, |owner, _| owner == whose);
    };
    close("t", &alice);
    close("none", &alice);
    close("u", &bob);
    assert_eq!(sessions.kept.lock().len(), 2, "each has a thread");
    close("u", &alice);
    assert!(of_alice.upgrade().is_some(), "it is in use");
    drop(first);
    assert!(of_alice.upgrade().is_none());
    assert!(of_bob.upgrade().is_some(), "it has a thread");
}
