use std::time::Duration;

use super::*;
use crate::tokens::Identity;

impl Calls {
    /// Enters a call that nobody waits for.
    pub(crate) fn register(&mut self, new: NewRun, now: u64) -> Option<Arc<Run>> {
        self.enter(new, Live::new(PeerId(0), None, None), None, now)
    }

    /// Ends a call that its app has answered.
    pub(crate) fn over(&mut self, id: RunId, ending: Ending, now: u64) -> Option<Arc<Run>> {
        let ended = self.end(id, ending, Outcome::disconnected, now);
        self.release(id, now);
        ended
    }

    /// How many calls are live, and how many deadlines, callIds and tokens are kept of them.
    pub(in crate::broker) fn kept(&self) -> [usize; 4] {
        let live = || self.calls.values().filter_map(|call| call.live.as_ref());
        let due = live().filter(|live| live.due.is_some()).count();
        assert_eq!(due, self.deadlines.len(), "a deadline of no call");
        let [call_ids, tokens] = self
            .by_session
            .values()
            .map(OfSession::kept)
            .fold([0, 0], |[a, b], [c, d]| [a + c, b + d]);
        [live().count(), due, call_ids, tokens]
    }

    /// How many agents have entries of their calls, and how many callers may still be told something.
    pub(in crate::broker) fn kept_of_sessions(&self) -> [usize; 2] {
        let sinks = self.calls.values().filter(|call| call.sink.is_some());
        [self.by_session.len(), sinks.count()]
    }

    /// How much is kept when everything is forgotten whose time is over: calls, ids of dialects, runs in
    /// flight and ended runs.
    pub(in crate::broker) fn kept_for_ever(&mut self) -> [usize; 4] {
        self.expire(u64::MAX);
        [
            self.calls.len(),
            self.by_dialect_id.len(),
            self.live.newest(None, usize::MAX).0.len(),
            self.ended.len(),
        ]
    }
}

pub(super) fn agent(name: &str) -> Identity {
    Identity {
        role: crate::tokens::Role::Agent,
        name: name.into(),
        app: None,
    }
}

pub(super) fn new_run(dialect_id: &str, owner: &Identity) -> NewRun {
    NewRun {
        id: RunId::random(),
        dialect: Dialect::Rap,
        dialect_id: Some(dialect_id.into()),
        owner: owner.clone(),
        agent: None,
        thread: Some("t".into()),
        app: None,
        capability: "export.pdf".into(),
        call_id: "c".into(),
    }
}

pub(super) fn add(runs: &mut Calls, dialect_id: &str, owner: &Identity) -> RunId {
    let new = new_run(dialect_id, owner);
    let id = new.id;
    assert!(runs.register(new, 0).is_none());
    id
}

fn cancel_early(runs: &mut Calls, id: &str, reason: Option<String>, by: &Identity, at: u64) {
    let early = EarlyCancel::new(id, reason, by, at);
    assert_eq!(runs.cancel_early(early.clone(), at), Some(early));
}

/// An id that no run has by chance.
pub(super) fn unique(number: u64) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

pub(super) fn found(runs: &Calls, id: &str, viewer: &Identity) -> Option<RunId> {
    match runs.find(id, viewer, 0) {
        Found::One(run) => Some(run.id),
        _ => None,
    }
}

#[test]
fn the_first_ending_wins() {
    let mut runs = Calls::default();
    let id = add(&mut runs, "1", &agent("a"));
    assert!(runs.sent(id, Some("shop".into()), 1));
    runs.cancel_requested(id, Some("enough"), 5);
    assert_eq!(runs.get(id).unwrap().state, RunState::Cancelling);
    assert!(
        runs.over(id, Ending::Cancelled(Stop::Dropped, None), 7)
            .is_some()
    );
    assert!(runs.over(id, Ending::Completed, 8).is_none());
    let run = runs.get(id).unwrap();
    assert_eq!(
        (run.state, run.cancelled_at, run.cancel_reason.as_deref()),
        (RunState::Cancelled, Some(7), Some("enough"))
    );
    assert_eq!(run.app.as_deref(), Some("shop"));
    assert!(runs.in_flight().is_empty());
}

#[test]
fn an_id_used_twice_is_ambiguous_unless_one_run_is_in_flight() {
    let (a, b) = (agent("a"), agent("b"));
    let mut runs = Calls::default();
    let (one, two) = (add(&mut runs, "1", &a), add(&mut runs, "1", &b));
    let admin = Identity::anyone();
    assert!(matches!(runs.find("1", &admin, 0), Found::Several(ids) if ids.len() == 2));
    assert_eq!(found(&runs, "1", &a), Some(one), "its own is the only one");
    assert_eq!(found(&runs, &two.to_string(), &admin), Some(two));
    assert_eq!(found(&runs, &two.to_string(), &a), None);
    runs.over(one, Ending::Completed, 0);
    assert_eq!(found(&runs, "1", &admin), Some(two));
    runs.over(two, Ending::Completed, 0);
    assert!(matches!(runs.find("1", &admin, 0), Found::Several(_)));
}

#[test]
fn a_cancel_before_its_run_takes_effect_once_and_only_for_runs_its_sender_may_see() {
    let (a, b, seven) = (agent("a"), agent("b"), unique(7));
    let mut runs = Calls::default();
    cancel_early(&mut runs, &seven, Some("no".into()), &a, 0);
    assert!(
        runs.register(new_run(&seven, &b), 0).is_none(),
        "another's run"
    );
    let own = new_run(&seven, &a);
    let id = own.id;
    assert!(runs.register(own, 0).is_some());
    let run = runs.get(id).unwrap();
    assert_eq!(run.state, RunState::Cancelled);
    assert_eq!(run.cancel_reason.as_deref(), Some("no"));
    assert!(!runs.sent(id, None, 1), "it must not be sent");
    assert!(runs.register(new_run(&seven, &a), 0).is_none());
}

#[test]
fn a_cancel_before_its_run_is_kept_for_a_minute() {
    let (a, seven) = (agent("a"), unique(7));
    let mut runs = Calls::default();
    cancel_early(&mut runs, &seven, None, &a, 0);
    assert_eq!(runs.early_cancels(60_000).len(), 1);
    assert!(runs.early_cancels(60_001).is_empty());
    assert!(runs.register(new_run(&seven, &a), 60_001).is_none());
    cancel_early(&mut runs, &seven, None, &a, 60_001);
    assert!(runs.register(new_run(&seven, &a), 120_001).is_some());
}

#[test]
fn a_cancel_before_its_run_is_kept_for_its_own_time_and_in_bounded_number() {
    let a = agent("a");
    let mut runs = Calls::new(Retention {
        count: 2,
        early: Duration::from_millis(10),
        ..Retention::default()
    });
    cancel_early(&mut runs, &unique(7), None, &a, 0);
    assert!(runs.register(new_run(&unique(7), &a), 11).is_none());
    for id in 1..=3 {
        cancel_early(&mut runs, &unique(id), None, &a, 20);
    }
    assert!(
        runs.register(new_run(&unique(1), &a), 20).is_none(),
        "pushed out by the others"
    );
    assert!(runs.register(new_run(&unique(3), &a), 20).is_some());
}

#[test]
fn an_early_cancel_of_an_id_that_strangers_share_is_not_kept() {
    let a = agent("a");
    let mut runs = Calls::default();
    for shared in [
        "2",
        "",
        "early-1",
        "call_2",
        "toolu_01A09q90qw90lq917835lq9",
        // Special ids such as nil, and an id that anybody can derive from a name.
        "00000000-0000-0000-0000-000000000000",
        "00000000-0000-0000-0000-000000000002",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "cfbff0d1-9375-5685-968c-48ce8b15ae17",
    ] {
        let early = EarlyCancel::new(shared, None, &a, 0);
        assert_eq!(runs.cancel_early(early, 0), None, "{shared}");
        assert!(runs.register(new_run(shared, &a), 0).is_none(), "{shared}");
    }
    for own in [
        "8dc5ad9a-7a0c-4d9b-8d0c-6d1b1c7a10ff",
        "019a9b7e-1f00-7c3e-9d6f-0242ac120002",
        "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    ] {
        cancel_early(&mut runs, own, None, &a, 0);
        assert!(runs.register(new_run(own, &a), 0).is_some(), "{own}");
    }
}

#[test]
fn turned_off_no_early_cancel_is_kept() {
    let a = agent("a");
    let mut runs = Calls::new(Retention {
        early: Duration::ZERO,
        ..Retention::default()
    });
    let early = EarlyCancel::new(&unique(7), None, &a, 0);
    assert_eq!(runs.cancel_early(early, 0), None);
    assert!(runs.register(new_run(&unique(7), &a), 0).is_none());
}

#[test]
fn quick_calls_of_one_owner_do_not_have_those_of_another_forgotten() {
    let (a, flood) = (agent("a"), agent("flood"));
    let mut runs = Calls::new(Retention {
        count: 100,
        ..Retention::default()
    });
    let one = add(&mut runs, "one", &a);
    runs.over(one, Ending::Completed, 0);
    let first = add(&mut runs, "first", &flood);
    runs.over(first, Ending::Completed, 0);
    for number in 0..10_100 {
        let quick = add(&mut runs, &number.to_string(), &flood);
        runs.over(quick, Ending::Completed, 1);
    }
    let admin = Identity::anyone();
    assert_eq!(found(&runs, "one", &a), Some(one));
    assert_eq!(found(&runs, "one", &admin), Some(one), "for the admin too");
    assert_eq!(found(&runs, "first", &flood), None);
    assert_eq!(runs.visible(&admin, 1).len(), 101);
}

#[test]
fn all_owners_together_have_so_many_runs_remembered() {
    let mut runs = Calls::new(Retention {
        count: 10,
        ..Retention::default()
    });
    let few = add(&mut runs, "few", &agent("few"));
    runs.over(few, Ending::Completed, 0);
    for number in 0..1_000 {
        let owner = agent(&format!("owner-{}", number % 50));
        let run = add(&mut runs, &number.to_string(), &owner);
        runs.over(run, Ending::Completed, 1);
    }
    assert_eq!(runs.visible(&Identity::anyone(), 1).len(), 100);
    assert_eq!(
        found(&runs, "few", &Identity::anyone()),
        Some(few),
        "the runs of the owner with most runs go first"
    );
}

#[test]
fn a_run_that_is_over_and_forgotten_must_not_be_sent() {
    let a = agent("a");
    let mut runs = Calls::new(Retention {
        count: 0,
        ..Retention::default()
    });
    let id = add(&mut runs, "1", &a);
    runs.over(id, Ending::Cancelled(Stop::Dropped, None), 0);
    assert!(runs.get(id).is_none());
    assert!(!runs.sent(id, None, 1));
}

#[test]
fn a_run_whose_cancel_was_refused_can_be_cancelled_again() {
    let mut runs = Calls::default();
    let id = add(&mut runs, "1", &agent("a"));
    runs.sent(id, None, 1);
    for _ in 0..2 {
        runs.cancel_requested(id, Some("enough"), 5);
        assert_eq!(runs.get(id).unwrap().state, RunState::Cancelling);
        runs.cancel_refused(id);
        assert_eq!(runs.get(id).unwrap().state, RunState::Running);
    }
}

#[test]
fn what_has_ended_is_forgotten_by_count_and_by_age() {
    let a = agent("a");
    let mut runs = Calls::new(Retention {
        count: 2,
        time: Duration::from_millis(10),
        ..Retention::default()
    });
    let ids: Vec<_> = (0..3)
        .map(|id| add(&mut runs, &id.to_string(), &a))
        .collect();
    let live = add(&mut runs, "live", &a);
    for id in &ids {
        runs.over(*id, Ending::Completed, 0);
    }
    assert!(runs.get(ids[0]).is_none() && runs.get(ids[2]).is_some());
    assert_eq!(runs.visible(&a, 5).len(), 3);
    let left = runs.visible(&a, 11);
    assert_eq!((left.len(), left[0].id), (1, live));
    assert_eq!(found(&runs, "0", &a), None);
}

#[test]
fn lists_are_newest_first_and_show_only_what_may_be_seen() {
    let (a, b) = (agent("a"), agent("b"));
    let mut runs = Calls::default();
    let one = add(&mut runs, "1", &a);
    add(&mut runs, "2", &b);
    let three = add(&mut runs, "3", &a);
    let ids: Vec<_> = newest(runs.visible(&a, 0), 3)
        .0
        .iter()
        .map(|run| run.id)
        .collect();
    assert_eq!(ids, [three, one]);
    assert_eq!(runs.visible(&Identity::anyone(), 0).len(), 3);
}

#[test]
fn a_list_leaves_out_the_oldest_that_have_ended() {
    let a = agent("a");
    let mut runs = Calls::default();
    for (id, over) in [
        ("1", true),
        ("2", false),
        ("3", true),
        ("4", true),
        ("5", false),
    ] {
        let run = add(&mut runs, id, &a);
        if over {
            runs.over(run, Ending::Completed, 0);
        }
    }
    for (ended, ids, omitted) in [
        (usize::MAX, "5 4 3 2 1", 0),
        (3, "5 4 3 2 1", 0),
        (1, "5 4 2", 2),
        (0, "5 2", 3),
    ] {
        let (recent, left) = runs.recent(&a, ended, 0);
        let (listed, cut) = newest(recent, ended);
        let left_out = left + cut;
        let shown: Vec<_> = listed
            .iter()
            .filter_map(|run| run.dialect_id.as_deref())
            .collect();
        assert_eq!((&*shown.join(" "), left_out), (ids, omitted), "{ended}");
    }
}

#[test]
fn what_others_write_is_kept_in_part() {
    let mut runs = Calls::default();
    let owner = agent("a");
    let long = "é".repeat(100_000);
    let id = RunId::random();
    runs.register(
        NewRun {
            id,
            capability: long.as_str().into(),
            call_id: long.as_str().into(),
            ..new_run(&long, &owner)
        },
        0,
    );
    runs.progress(id, r#"{"progress":1}"#);
    runs.progress(id, &format!("{long:?}"));
    runs.cancel_requested(id, Some(&long), 0);
    runs.over(id, Ending::Failed(long.clone()), 0);
    let run = runs.get(id).unwrap();
    let characters = |text: &str| text.chars().count();
    assert_eq!(characters(&run.capability), 256);
    assert_eq!(characters(&run.call_id), 256);
    assert_eq!(run.error.as_deref().map(characters), Some(256));
    assert_eq!(run.cancel_reason.as_deref().map(characters), Some(4_096));
    assert_eq!(run.progress.as_deref().unwrap().get(), r#"{"progress":1}"#);
    assert_eq!(run.dialect_id, None, "nobody may ask for it");
    let (fits, one_more) = ("é".repeat(256), "é".repeat(257));
    add(&mut runs, &fits, &owner);
    add(&mut runs, &one_more, &owner);
    assert!(found(&runs, &fits, &owner).is_some());
    assert_eq!(found(&runs, &one_more, &owner), None);
}

#[test]
fn the_id_of_a_run_names_its_worker() {
    let [here, there] = [uuid::Uuid::new_v4(), uuid::Uuid::new_v4()];
    let id = RunId::of(here);
    let read: RunId = id.to_string().parse().unwrap();
    assert!(read == id && read.is_of(here) && !read.is_of(there));
    let moved = id.at(there);
    assert!(moved.is_of(there) && !moved.is_of(here) && moved != RunId::of(there));
    // Other UUIDs name no worker, even if they begin like one.
    let other: RunId = here.to_string().parse().unwrap();
    assert!(!other.names_a_worker() && !other.is_of(here));
}
