use super::*;
use caphost::agent::Outgoing;
use caphost::call::{Code, Stop};

fn call() -> Outgoing<Value> {
    Outgoing {
        id: CallId::parse("c").unwrap(),
        capability: "export.pdf".into(),
        params: None,
        timeout: None,
        progress: false,
        transfer: false,
    }
}

#[test]
fn a_call_says_no_more_than_it_must() {
    let written = request(7, Request::Call(call()), 1.0);
    let payload = json!({ "capability": "export.pdf", "options": { "callId": "c" } });
    let expected =
        json!({ "type": "capabilities/call", "id": "7", "timestamp": 1.0, "payload": payload });
    assert_eq!(written, expected);
    assert_eq!(request_key(&written["id"]), Some(7));
}

#[test]
fn a_call_with_everything() {
    let full = Outgoing {
        params: Some(json!({ "html": "" })),
        timeout: Some(50.0),
        progress: true,
        transfer: true,
        ..call()
    };
    let expected = json!({
        "capability": "export.pdf",
        "params": { "html": "" },
        "options": { "callId": "c", "timeout": 50.0, "progressToken": "c", "transfer": true },
    });
    assert_eq!(request(1, Request::Call(full), 1.0)["payload"], expected);
}

#[test]
fn settled_calls() {
    let metadata = json!({ "stop": "dropped" });
    let cancelled = json!({ "success": false, "cancelled": true, "metadata": metadata });
    assert_eq!(settled(Settled::Cancelled(Stop::Dropped.into())), cancelled);
    let lost = Error::new(Code::DISCONNECTED, "gone");
    let error = json!({ "code": "DISCONNECTED", "message": "gone", "retryable": true });
    let expected = json!({ "success": false, "error": error });
    assert_eq!(settled(Settled::Failed(lost)), expected);
}

#[test]
fn an_id_that_is_none_of_ours() {
    for id in [
        json!(7),
        json!("x"),
        json!(null),
        json!("-1"),
        json!("+1"),
        json!(" 1"),
        json!("1.0"),
        json!(""),
        json!("99999999999"),
    ] {
        assert_eq!(request_key(&id), None, "{id}");
    }
}
