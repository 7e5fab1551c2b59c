use serde_json::json;

use super::*;

fn parcel(app: AppKey, text: &str) -> Parcel {
    Parcel {
        message: Message::ToApp {
            app,
            agent: "a1".into(),
            quota_key: None,
        },
        text: Bytes::copy_from_slice(text.as_bytes()),
    }
}

#[test]
fn parcels_packed_together_come_apart() {
    let mut bytes = BytesMut::new();
    for (app, text) in [(1, "one"), (2, ""), (3, "dréi")] {
        bytes.put_slice(&parcel(app, text).pack().unwrap());
    }
    let read: Vec<_> = Parcel::unpack(bytes.freeze()).map(Result::unwrap).collect();
    let texts: Vec<_> = read.iter().map(|it| &it.text[..]).collect();
    assert_eq!(texts, [&b"one"[..], b"", "dréi".as_bytes()]);
    assert!(matches!(read[2].message, Message::ToApp { app: 3, .. }));
}

#[test]
fn what_breaks_off_ends_it() {
    let packed = parcel(1, "text").pack().unwrap();
    for end in 1..packed.len() {
        let read: Vec<_> = Parcel::unpack(packed.slice(..end)).collect();
        assert!(matches!(&read[..], [Err(_)]), "{end}");
    }
    let longest = Bytes::from_static(&[0xff; 9]);
    let read: Vec<_> = Parcel::unpack(longest).collect();
    assert!(matches!(&read[..], [Err(_)]));
}

#[test]
fn what_cannot_be_read_is_passed_over_alone() {
    for foreign in [
        &b"\"No\""[..],
        b"{",
        b"\xff",
        b"",
        br#"{"ToApp":{"app":"x"}}"#,
    ] {
        let mut bytes = BytesMut::new();
        bytes.put_u32(foreign.len() as u32);
        bytes.put_u32(4);
        bytes.put_slice(foreign);
        bytes.put_slice(b"text");
        bytes.put_slice(&parcel(2, "two").pack().unwrap());
        let read: Vec<_> = Parcel::unpack(bytes.freeze()).collect();
        assert!(matches!(&read[..], [Err(_), Ok(next)] if &next.text[..] == b"two"));
    }
}

#[test]
fn a_greeting_of_a_later_version_is_read() {
    let later = r#"{"Hello":{"name":"a","version":9,"more":{}}}"#;
    let read = serde_json::from_str(later).unwrap();
    assert!(matches!(read, Message::Hello { version: 9, .. }));
}

#[test]
fn what_an_app_offers_comes_as_it_was() {
    let offer = serde_json::json!({
        "app": { "id": "demo", "name": "Demo", "version": "1" },
        "capabilities": [{ "name": "x", "inputSchema": { "type": "object", "n": 1.0 } }],
    });
    let offer: Arc<Offer> = serde_json::from_value(offer).unwrap();
    let packed = Parcel::from(Message::App {
        app: 1,
        offer,
        instance: serde_json::from_value(json!({ "id": "1", "owner": "o", "since": 1 })).unwrap(),
    })
    .pack()
    .unwrap();
    let read = Parcel::unpack(packed).next().unwrap().unwrap();
    let Message::App { offer, .. } = read.message else {
        panic!("{read:?}");
    };
    let schema = offer.capabilities[0].input_schema.as_ref().unwrap();
    assert_eq!(schema.get(), r#"{"n":1.0,"type":"object"}"#);
}

/// The messages as workers of the first version write and read them.
#[test]
fn what_is_told_stays_the_same_on_the_wire() {
    let by = json!(Identity::anyone());
    let key = "00000000-0000-4000-8000-000000000001";
    let early = json!({ "key": key, "request_id": "7", "reason": null, "by": by, "at": 1 });
    let run = json!({ "id": key, "owner": by, "app": "demo" });
    for told in [
        json!({ "CancelEarly": early }),
        json!({ "EarlyTaken": early }),
        json!({ "Cancelled": { "request_id": "7", "reason": "why", "run": run } }),
        json!({ "CancelToolCall": {
            "thread_id": "t", "tool_call_id": "c", "app": null, "by": by,
        } }),
        json!({ "CloseThread": { "thread_id": "t", "app": "demo", "by": by } }),
        json!({ "CancelRequest": { "session": "00000000-0000-4000-8000-000000000001", "request_id": 7, "reason": null } }),
        json!({ "CancelRequest": { "session": "00000000-0000-4000-8000-000000000001", "request_id": "7", "reason": "why" } }),
        json!({ "EndSession": { "session": "00000000-0000-4000-8000-000000000001" } }),
    ] {
        let read: Notice = serde_json::from_value(told.clone()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), told);
    }
}
