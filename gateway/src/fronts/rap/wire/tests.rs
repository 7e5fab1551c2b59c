use serde_json::json;

use super::*;

#[test]
fn a_toolset_as_published() {
    let toolset: Toolset = serde_json::from_value(json!({
        "name": "demo", "endpoint": "https://tool.example/invoke", "needsMigration": null,
        "tools": [{ "name": "a", "description": "d", "inputSchema": { "type": "object" },
                    "annotations": { "longRunning": true, "subscription": true } }],
    }))
    .unwrap();
    let written = serde_json::to_value(&toolset).unwrap();
    let tool = json!({ "name": "a", "description": "d", "inputSchema": { "type": "object" } });
    assert_eq!(written["tools"], json!([tool]));
    assert_eq!(written["endpoint"], "https://tool.example/invoke");
    assert!(written.get("needsMigration").is_none());
}

#[test]
fn an_invocation_as_a_runtime_writes_it() {
    let written = json!({
        "operation": "export_pdf", "arguments": { "title": "t" }, "id": "call_1", "call_id": null,
        "callback_url": "http://127.0.0.1:9/callback?x=1", "group_id": "thread", "thread_ancestors": null,
        "user_id": "u", "toolset_version": "7",
    });
    let read: Invocation = serde_json::from_value(written).unwrap();
    assert_eq!(
        (read.id.as_str(), read.group_id.as_str()),
        ("call_1", "thread")
    );
    assert_eq!(read.arguments.as_ref().unwrap().get(), r#"{"title":"t"}"#);
    assert_eq!(
        serde_json::to_value(&read).unwrap(),
        json!({
            "operation": "export_pdf", "arguments": { "title": "t" }, "id": "call_1",
            "callback_url": "http://127.0.0.1:9/callback?x=1", "group_id": "thread", "user_id": "u",
        })
    );
    let least = r#"{"operation":"o","id":"i","group_id":"g","callback_url":"https://a.example"}"#;
    assert!(
        serde_json::from_str::<Invocation>(least)
            .unwrap()
            .arguments
            .is_none()
    );
}

#[test]
fn a_callback_url_is_absolute_and_http() {
    let read = |url: &str| {
        let written = json!({ "operation": "o", "id": "i", "group_id": "g", "callback_url": url });
        serde_json::from_value::<Invocation>(written)
    };
    assert!(read("http://127.0.0.1:1/c?token=a%20b").is_ok() && read("HTTPS://a.example").is_ok());
    for bad in [
        "",
        "/callback",
        "a.example/c",
        "ftp://a.example",
        "file:///etc/passwd",
        "http://",
        "javascript:1",
    ] {
        assert!(read(bad).is_err(), "{bad}");
    }
}

#[test]
fn notifications_need_their_ids() {
    let read = |text: &str| serde_json::from_str::<CancelToolCall>(text);
    assert!(read(r#"{"thread_id":"t","tool_call_id":"c","more":1}"#).is_ok());
    assert!(read(r#"{"thread_id":"../t","tool_call_id":""}"#).is_ok());
    for bad in [
        r#"{"thread_id":"t"}"#,
        r#"{"thread_id":"t","tool_call_id":7}"#,
        r#"{"thread_id":null,"tool_call_id":"c"}"#,
        "[]",
    ] {
        assert!(read(bad).is_err(), "{bad}");
    }
}

#[test]
fn results_are_written_with_their_type() {
    let id = |text| Identifier::new(text).unwrap();
    let result = ToolResult {
        group_id: id("g"),
        id: id("i"),
        call_id: Some("c".into()),
        text: None,
        content: Some(vec![ContentItem::Image {
            data: "AA==".into(),
            media_type: "image/png".into(),
        }]),
        subscription: None,
    };
    let written = json!({
        "type": "tool_result", "group_id": "g", "id": "i", "call_id": "c",
        "content": [{ "type": "image", "data": "AA==", "mediaType": "image/png" }],
    });
    let callback = Callback::ToolResult(result);
    assert_eq!(serde_json::to_value(&callback).unwrap(), written);
    assert_eq!(
        serde_json::from_value::<Callback>(written).unwrap(),
        callback
    );
}

#[test]
fn what_others_add_is_no_error() {
    let read = |value| serde_json::from_value::<Callback>(value);
    let result = read(json!({
        "type": "tool_result", "group_id": "g", "id": "i", "call_id": null, "display_as": [],
        "content": [{ "type": "audio", "data": "" }, { "type": "text", "text": "t" }], "subscription": true,
    }));
    let Ok(Callback::ToolResult(result)) = result else {
        panic!("{result:?}")
    };
    assert_eq!(result.subscription, Some(true));
    let unknown = ContentItem::Other(json!({ "type": "audio", "data": "" }));
    assert_eq!(result.content.unwrap()[0], unknown);
    let event = read(json!({
        "type": "subscription_event", "group_id": "g", "tool_call_id": "i", "text": "t", "final": true,
    }));
    let Ok(Callback::SubscriptionEvent(event)) = event else {
        panic!("{event:?}")
    };
    assert_eq!((event.is_final, event.associative), (Some(true), None));
    assert!(read(json!({ "type": "oauth", "group_id": "g", "id": "i" })).is_err());
}

#[test]
fn a_result_has_text_or_content_that_can_be_read() {
    let read = |mut more: Value| {
        let result = json!({ "type": "tool_result", "group_id": "g", "id": "i" });
        let result = result.as_object().unwrap().clone();
        more.as_object_mut().unwrap().extend(result);
        serde_json::from_value::<Callback>(more)
    };
    for good in [
        json!({ "text": "" }),
        json!({ "text": "t", "content": null }),
        json!({ "text": null, "content": [] }),
        json!({ "content": [{ "type": "video" }] }),
    ] {
        assert!(read(good.clone()).is_ok(), "{good}");
    }
    for bad in [
        json!({}),
        json!({ "text": null }),
        json!({ "text": 5 }),
        json!({ "text": "t", "content": "t" }),
        json!({ "content": ["t"] }),
        json!({ "content": [{ "text": "t" }] }),
        json!({ "content": [{ "type": "text" }] }),
        json!({ "content": [{ "type": "image", "data": "AA==" }] }),
    ] {
        assert!(read(bad.clone()).is_err(), "{bad}");
    }
}
