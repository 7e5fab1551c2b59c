use super::super::Envelope;
use super::*;
use crate::limits::Limits;
use caphost::call::Error;

fn relayed(payload: &str, shared: Option<&Bytes>) -> String {
    let header = Header {
        kind: "progress",
        id: Some("7"),
        agent: Some("a1"),
        timestamp: "5",
    };
    Outgoing::new(header, payload, shared).into_text()
}

#[test]
fn small_and_large_payloads_are_written_alike() {
    let large = format!(r#"{{"text":"{}"}}"#, "é".repeat(SHARED_BYTES));
    let buffer = Bytes::from(large.clone());
    let kept = std::str::from_utf8(&buffer).unwrap();
    assert_eq!(relayed(kept, Some(&buffer)), relayed(&large, None));
    assert_eq!(
        relayed("{}", None),
        r#"{"type":"progress","id":7,"agent":"a1","timestamp":5,"payload":{}}"#
    );
}

#[test]
fn a_part_of_a_frame_does_not_keep_the_whole_frame() {
    let frame = Bytes::from("x".repeat(16 * SHARED_BYTES));
    let text = |bytes| std::str::from_utf8(&frame[..bytes]).unwrap();
    let is_kept = |at: *const u8| frame.as_ptr_range().contains(&at);
    let header = Header {
        kind: "progress",
        id: None,
        agent: None,
        timestamp: "5",
    };
    for (bytes, kept) in [(SHARED_BYTES + 1, false), (8 * SHARED_BYTES, true)] {
        let json = Json::keep(text(bytes), Some(&frame));
        assert_eq!(is_kept(json.shared().as_ptr()), kept);
        let message = Outgoing::new(header, text(bytes), Some(&frame));
        let payload = message.payload.as_ref();
        assert_eq!(payload.is_some_and(|it| is_kept(it.as_ptr())), kept);
        // The counted size is at least half of the memory that is kept.
        assert!(message.cost() * 2 >= if kept { frame.len() } else { bytes });
    }
}

#[test]
fn an_envelope_written_is_read_back() {
    let text = relayed(r#"{"callId":"c"}"#, None);
    let read = Envelope::read(&text, None, &Limits::default()).unwrap();
    assert_eq!(read.kind, "progress");
    assert_eq!((read.id, read.timestamp), (Some("7"), Some("5")));
    assert_eq!(read.agent.as_deref(), Some("a1"));
    assert_eq!(read.object(), Ok(r#"{"callId":"c"}"#));
}

#[test]
fn refusals_are_typed_where_the_type_is_known() {
    let error = Error::invalid_params("no");
    let about = |kind: &str| Subject {
        kind: Some(kind.into()),
        ..Subject::default()
    };
    assert_eq!(
        failed(&about("capabilities/call"), &error).0,
        "capabilities/call-result"
    );
    assert_eq!(failed(&about("initialize"), &error).0, "initialize-result");
    assert_eq!(failed(&about("what"), &error).0, "error");
    let (kind, payload) = failed(&about("capabilities/cancel"), &error);
    assert_eq!(kind, "capabilities/cancel-result");
    assert!(payload.contains(r#""cancelled":false"#) && payload.contains(r#""callId":null"#));
}
