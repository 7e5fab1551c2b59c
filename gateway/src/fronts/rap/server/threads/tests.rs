use std::cell::Cell;

use super::*;
use crate::broker::runs::Dialect;
use crate::gateway::Hub;
use crate::gateway::calls::{Client, NewCall};
use crate::limits::Limits;
use crate::tokens::{Role, Tokens};

const LONG: Duration = Duration::from_secs(3_600);

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
    threads: Threads,
    opened: Cell<usize>,
}

impl Fixture {
    fn new(max: usize, idle: Duration) -> Self {
        Fixture {
            hub: Arc::new(Hub::new(Limits::default(), Tokens::default())),
            threads: Threads::new(max, idle),
            opened: Cell::new(0),
        }
    }

    fn enter(&self, thread: &str, app: &str, owner: &Identity) -> Arc<Thread> {
        self.threads.enter(&id(thread), app, owner, || {
            self.opened.set(self.opened.get() + 1);
            self.hub.open(Client {
                dialect: Dialect::Rap,
                owner: owner.clone(),
                app: Some(app.into()),
                name: "test".into(),
                version: "1".into(),
            })
        })
    }

    fn begin(&self, thread: &Thread, call: &str) -> Begun {
        thread.begin(&id(call), 0, NewCall::default)
    }

    fn cancellers(&self, thread: &str, app: Option<&str>, viewer: &Identity) -> usize {
        let found = self.threads.cancellers(&id(thread), &id("1"), app, viewer);
        found.len()
    }
}

#[tokio::test]
async fn each_caller_has_its_own_thread_of_an_id_on_each_app() {
    let it = Fixture::new(10, LONG);
    let (alice, bob) = (agent("alice"), agent("bob"));
    let first = it.enter("t", "a", &alice);
    assert!(Arc::ptr_eq(&first, &it.enter("t", "a", &alice)));
    for other in [
        it.enter("t", "a", &bob),
        it.enter("t", "b", &alice),
        it.enter("u", "a", &alice),
    ] {
        assert!(!Arc::ptr_eq(&first, &other));
        assert!(matches!(it.begin(&other, "1"), Begun::New(_)));
    }
    assert!(matches!(it.begin(&first, "1"), Begun::New(_)));
    assert_eq!(it.opened.get(), 4);
    let seen = |thread, app, viewer: &Identity| it.cancellers(thread, app, viewer);
    assert_eq!(
        (seen("t", Some("a"), &alice), seen("t", None, &alice)),
        (1, 2)
    );
    assert_eq!((seen("t", None, &bob), seen("u", None, &bob)), (1, 0));
    assert_eq!(seen("t", None, &Identity::anyone()), 3);
    assert_eq!(it.threads.take(&id("t"), Some("a"), &alice).len(), 1);
    assert_eq!((seen("t", None, &alice), seen("t", None, &bob)), (1, 1));
    assert!(it.threads.take(&id("t"), Some("a"), &alice).is_empty());
}

#[tokio::test]
async fn a_closed_thread_takes_no_calls_and_the_next_is_another() {
    let it = Fixture::new(10, LONG);
    let alice = agent("alice");
    let closed = it.enter("t", "a", &alice);
    let call = it.begin(&closed, "1");
    assert!(matches!(call, Begun::New(_)));
    for thread in it.threads.take(&id("t"), None, &alice) {
        assert_eq!(thread.close().len(), 1);
    }
    assert!(matches!(it.begin(&closed, "2"), Begun::Over));
    assert!(closed.closed.is_cancelled());
    let next = it.enter("t", "a", &alice);
    assert!(matches!(it.begin(&next, "1"), Begun::New(_)));
}

#[tokio::test]
async fn past_the_limit_those_idle_for_longest_make_room() {
    let it = Fixture::new(3, LONG);
    let alice = agent("alice");
    let busy = it.enter("busy", "a", &alice);
    let call = it.begin(&busy, "1");
    for thread in ["old", "new", "newest"] {
        it.enter(thread, "a", &alice);
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(matches!(call, Begun::New(_)));
    assert_eq!(it.opened.get(), 4);
    for kept in ["busy", "new", "newest"] {
        it.enter(kept, "a", &alice);
    }
    assert_eq!(it.opened.get(), 4);
    it.enter("old", "a", &alice);
    assert_eq!(it.opened.get(), 5);
}

#[tokio::test]
async fn a_thread_without_calls_is_forgotten_in_time() {
    let it = Fixture::new(10, Duration::from_millis(20));
    let alice = agent("alice");
    let busy = it.enter("busy", "a", &alice);
    let call = it.begin(&busy, "1");
    let idle = it.enter("idle", "a", &alice);
    it.threads.sweep();
    assert_eq!(it.threads.table().count, 2);
    std::thread::sleep(Duration::from_millis(30));
    it.threads.sweep();
    assert_eq!(it.threads.table().count, 1);
    assert!(matches!(it.begin(&idle, "1"), Begun::Over));
    busy.ended(&id("1"));
    std::thread::sleep(Duration::from_millis(30));
    it.threads.sweep();
    assert!(it.threads.table().by_id.is_empty());
    drop(call);
}
