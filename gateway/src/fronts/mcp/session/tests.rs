use caphost::dialect::mcp::WITH_SESSIONS;
use serde_json::json;

use super::*;
use crate::tokens::Identity;

fn session() -> McpSession {
    let caller = Caller {
        identity: Identity::anyone(),
        app: None,
        tools: None,
        coerce: false,
    };
    let quota_key = QuotaKey::Token("a".into());
    let client = ClientInfo {
        name: "test".into(),
        version: "1".into(),
    };
    let said = Said::new(client, &WITH_SESSIONS, false);
    let named = (Uuid::new_v4(), "id".into());
    McpSession::new(caller, quota_key, named, said, false)
}

#[test]
fn a_cancel_whose_request_may_be_elsewhere_is_passed_on_however_long_its_id_is() {
    let session = session();
    for id in ["short".into(), "long".repeat(100)] {
        let id = Id::read(&json!(id)).unwrap();
        assert!(!session.cancel(&id, None), "it is not here");
        let other = Id::read(&json!(format!("{}-2", id.value()))).unwrap();
        assert_eq!(session.take(&other), Ok(()));
        assert!(session.cancel(&other, None), "it is over here");
    }
}

#[tokio::test]
async fn the_newest_stream_hears_what_there_is() {
    let session = session();
    let (first, mut of_first) = session.listen();
    let (second, mut of_second) = session.listen();
    assert!(session.is_newest(second) && !session.is_newest(first));
    assert!(!session.take_news(first, 1), "the newest tells");
    assert!(session.take_news(second, 1) && !session.take_news(second, 1));
    session.notice(|| "one".into());
    assert_eq!(of_second.recv().await.as_deref(), Some("one"));
    session.unlisten(second);
    session.notice(|| "two".into());
    assert_eq!(of_first.recv().await.as_deref(), Some("two"));
    session.hear_notices(false);
    session.notice(|| "three".into());
    assert!(of_first.try_recv().is_err());
    session.close();
    assert_eq!(of_first.recv().await, None);
    assert_eq!(
        session.take(&Id::read(&json!(1)).unwrap()),
        Err(NotTaken::Gone)
    );
}

#[test]
fn only_so_many_streams_listen() {
    let session = session();
    let mut all: Vec<_> = (0..2 * LISTENING).map(|_| session.listen()).collect();
    let closed = |inbox: &mut mpsc::Receiver<String>| {
        inbox.try_recv() == Err(mpsc::error::TryRecvError::Disconnected)
    };
    let closed = all
        .iter_mut()
        .filter_map(|(_, inbox)| closed(inbox).then_some(()));
    assert_eq!(closed.count(), LISTENING);
}
