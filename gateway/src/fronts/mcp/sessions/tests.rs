use caphost::dialect::mcp::WITH_SESSIONS;
use serde_json::json;

use super::super::session::NotTaken;
use super::*;
use crate::tokens::Identity;

fn session(number: Uuid) -> McpSession {
    let caller = Caller {
        identity: Identity::anyone(),
        app: None,
        tools: None,
        coerce: false,
    };
    let client = ClientInfo {
        name: "test".into(),
        version: "1".into(),
    };
    let quota_key = QuotaKey::Token("a".into());
    let said = Said::new(client, &WITH_SESSIONS, false);
    McpSession::new(caller, quota_key, (number, "id".into()), said, false)
}

#[test]
fn a_cancel_that_was_told_before_its_session_came_keeps_the_request_from_starting() {
    let id = |number: u64| Id::read(&json!(number)).unwrap();
    let (mut table, number) = (Table::default(), Uuid::new_v4());
    table.cancel(number, &id(1), None);
    let session = table.insert(session(number));
    assert_eq!(session.take(&id(1)), Err(NotTaken::Cancelled));
    assert_eq!(session.take(&id(2)), Ok(()));
}

#[test]
fn a_session_that_its_client_has_ended_does_not_come_back() {
    let [a, b] = [Uuid::new_v4(), Uuid::new_v4()];
    let mut table = Table::default();
    assert!(table.end(a).is_none());
    assert!(table.get(a).is_err());
    table.insert(session(b));
    assert!(table.get(b).unwrap().is_some());
    assert!(table.end(b).is_some() && table.get(b).is_err());
}

#[test]
fn not_everything_is_remembered() {
    let mut table = Table::default();
    let first = Uuid::new_v4();
    table.end(first);
    for _ in 0..ENDED {
        table.end(Uuid::new_v4());
    }
    assert_eq!(table.ended.len(), ENDED);
    assert!(table.get(first).unwrap().is_none());
    let id = Id::read(&json!(1)).unwrap();
    for _ in 0..2 * EARLY {
        table.cancel(Uuid::new_v4(), &id, None);
    }
    assert_eq!(table.early.len(), EARLY);
    let long = Id::read(&json!("x".repeat(1_000))).unwrap();
    table.cancel(first, &long, None);
    assert!(table.early.iter().all(|(of, ..)| *of != first));
}
