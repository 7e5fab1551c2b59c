use std::time::Duration;

use super::*;

pub(super) fn agent(name: &str) -> Identity {
    Identity {
        role: super::super::tokens::Role::Agent,
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
        thread: Some("t".into()),
        app: None,
        capability: "export.pdf".into(),
        call_id: "c".into(),
    }
}

pub(super) fn add(runs: &mut Runs, dialect_id: &str, owner: &Identity) -> RunId {
    let new = new_run(dialect_id, owner);
    let id = new.id;
    assert!(runs.register(new, 0));
    id
}

fn cancel_early(runs: &mut Runs, id: &str, reason: Option<String>, by: &Identity, at: u64) {
    let early = EarlyCancel::new(id, reason, by, at);
    assert_eq!(runs.cancel_early(early.clone(), at), Some(early));
}

pub(super) fn found(runs: &Runs, id: &str, viewer: &Identity) -> Option<RunId> {
    match runs.find(id, viewer, 0) {
        Found::One(run) => Some(run.id),
        _ => None,
    }
}

#[test]
fn the_first_ending_wins() {
    let mut runs = Runs::default();
    let id = add(&mut runs, "1", &agent("a"));
    assert!(runs.sent(id, Some("shop".into())));
    runs.cancel_requested(id, Some("enough"), 5);
    assert_eq!(runs.get(id).unwrap().state, RunState::Cancelling);
    assert!(runs.end(id, Ending::Cancelled, 7).is_some());
    assert!(runs.end(id, Ending::Completed, 8).is_none());
    let run = runs.get(id).unwrap();
    assert_eq!(
        (run.state, run.cancelled_at, run.cancel_reason.as_deref()),
        (RunState::Cancelled, Some(7), Some("enough"))
    );
    assert_eq!(run.app.as_deref(), Some("shop"));
    assert_eq!(runs.in_flight(), 0);
}

#[test]
fn an_id_used_twice_is_ambiguous_unless_one_run_is_in_flight() {
    let (a, b) = (agent("a"), agent("b"));
    let mut runs = Runs::default();
    let (one, two) = (add(&mut runs, "1", &a), add(&mut runs, "1", &b));
    let admin = Identity::anyone();
    assert!(matches!(runs.find("1", &admin, 0), Found::Several(ids) if ids.len() == 2));
    assert_eq!(found(&runs, "1", &a), Some(one), "its own is the only one");
    assert_eq!(found(&runs, &two.to_string(), &admin), Some(two));
    assert_eq!(found(&runs, &two.to_string(), &a), None);
    runs.end(one, Ending::Completed, 0);
    assert_eq!(found(&runs, "1", &admin), Some(two));
    runs.end(two, Ending::Completed, 0);
    assert!(matches!(runs.find("1", &admin, 0), Found::Several(_)));
}

#[test]
fn a_cancel_before_its_run_takes_effect_once_and_only_for_runs_its_sender_may_see() {
    let (a, b) = (agent("a"), agent("b"));
    let mut runs = Runs::default();
    cancel_early(&mut runs, "7", Some("no".into()), &a, 0);
    assert!(runs.register(new_run("7", &b), 0), "another's run");
    let own = new_run("7", &a);
    let id = own.id;
    assert!(!runs.register(own, 0));
    let run = runs.get(id).unwrap();
    assert_eq!(run.state, RunState::Cancelled);
    assert_eq!(run.cancel_reason.as_deref(), Some("no"));
    assert!(!runs.sent(id, None), "it must not be sent");
    assert!(runs.register(new_run("7", &a), 0));
}

#[test]
fn a_cancel_before_its_run_is_kept_for_the_retention_time() {
    let a = agent("a");
    let mut runs = Runs::new(Retention {
        count: 2,
        time: Duration::from_millis(10),
    });
    cancel_early(&mut runs, "7", None, &a, 0);
    assert!(runs.register(new_run("7", &a), 11));
    for id in ["1", "2", "3"] {
        cancel_early(&mut runs, id, None, &a, 20);
    }
    assert!(
        runs.register(new_run("1", &a), 20),
        "pushed out by the others"
    );
    assert!(!runs.register(new_run("3", &a), 20));
}

#[test]
fn what_has_ended_is_forgotten_by_count_and_by_age() {
    let a = agent("a");
    let mut runs = Runs::new(Retention {
        count: 2,
        time: Duration::from_millis(10),
    });
    let ids: Vec<_> = (0..3)
        .map(|id| add(&mut runs, &id.to_string(), &a))
        .collect();
    let live = add(&mut runs, "live", &a);
    for id in &ids {
        runs.end(*id, Ending::Completed, 0);
    }
    assert!(runs.get(ids[0]).is_none() && runs.get(ids[2]).is_some());
    assert_eq!(runs.list(&a, 5).len(), 3);
    let left = runs.list(&a, 11);
    assert_eq!((left.len(), left[0].id), (1, live));
    assert_eq!(found(&runs, "0", &a), None);
}

#[test]
fn lists_are_newest_first_and_show_only_what_may_be_seen() {
    let (a, b) = (agent("a"), agent("b"));
    let mut runs = Runs::default();
    let one = add(&mut runs, "1", &a);
    add(&mut runs, "2", &b);
    let three = add(&mut runs, "3", &a);
    let ids: Vec<_> = runs.list(&a, 0).iter().map(|run| run.id).collect();
    assert_eq!(ids, [three, one]);
    assert_eq!(runs.list(&Identity::anyone(), 0).len(), 3);
    assert_eq!(runs.in_thread(Dialect::Rap, "t", &a).len(), 2);
    assert!(runs.in_thread(Dialect::Rap, "u", &a).is_empty());
    assert!(runs.in_thread(Dialect::Mcp, "t", &a).is_empty());
}

#[test]
fn a_list_leaves_out_the_oldest_that_have_ended() {
    let a = agent("a");
    let mut runs = Runs::default();
    for (id, over) in [
        ("1", true),
        ("2", false),
        ("3", true),
        ("4", true),
        ("5", false),
    ] {
        let run = add(&mut runs, id, &a);
        if over {
            runs.end(run, Ending::Completed, 0);
        }
    }
    for (ended, ids, omitted) in [
        (usize::MAX, "5 4 3 2 1", 0),
        (3, "5 4 3 2 1", 0),
        (1, "5 4 2", 2),
        (0, "5 2", 3),
    ] {
        let (listed, left_out) = runs.recent(&a, ended, 0);
        let shown: Vec<_> = listed
            .iter()
            .filter_map(|run| run.dialect_id.as_deref())
            .collect();
        assert_eq!((&*shown.join(" "), left_out), (ids, omitted), "{ended}");
    }
}

#[test]
fn what_others_write_is_kept_in_part() {
    let mut runs = Runs::default();
    let owner = agent("a");
    let long = "é".repeat(100_000);
    let id = RunId::random();
    runs.register(
        NewRun {
            id,
            capability: long.clone(),
            call_id: long.as_str().into(),
            ..new_run(&long, &owner)
        },
        0,
    );
    runs.progress(id, r#"{"progress":1}"#);
    runs.progress(id, &format!("{long:?}"));
    runs.cancel_requested(id, Some(&long), 0);
    runs.end(id, Ending::Failed(long.clone()), 0);
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
