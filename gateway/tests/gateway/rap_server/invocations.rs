use serde_json::{Value, json};

use super::app::App;
use super::runtime::{Receiver, Runtime, invocation};
use crate::support::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_goes_to_the_callback_url_with_the_ids_it_came_with() {
    let gateway = Gateway::start().await;
    let _app = App::start(&gateway, "demo").await;
    let receiver = Receiver::start().await;
    let runtime = Runtime::new(&gateway, "");
    let mut message = invocation(
        &receiver.url("/ok?secret=1"),
        "echo",
        "thread",
        "call_1",
        json!({ "name": "n" }),
    );
    message["call_id"] = json!("second");
    message["thread_ancestors"] = json!(["root", "parent"]);
    message["user_id"] = json!("user");
    message["of_a_later_version"] = json!({});
    assert_eq!(
        runtime.post("/invoke", &message).await,
        (200, String::new())
    );
    let taken = receiver.took(1).await;
    assert_eq!(
        taken[0].body,
        json!({ "type": "tool_result", "group_id": "thread", "id": "call_1", "call_id": "second", "text": "{\"name\":\"n\"}" })
    );
    assert_eq!(taken[0].headers["content-type"], "application/json");
    assert!(taken[0].headers.get("authorization").is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_capability_returns_is_text_or_content() {
    let gateway = Gateway::start().await;
    let _app = App::with(
        &gateway,
        "demo",
        &["text.length", "fail", "export.pdf", "image"],
    )
    .await;
    let runtime = Runtime::new(&gateway, "/rap/demo");
    let result = async |tool: &str, arguments: Value| {
        let receiver = Receiver::start().await;
        runtime.invoke(&receiver, tool, "t", "1", arguments).await;
        receiver.result().await
    };
    let got = result("text_length", json!({ "text": "four" })).await;
    assert_eq!(
        got,
        json!({ "type": "tool_result", "group_id": "t", "id": "1", "text": "4 characters" })
    );
    assert_eq!(
        result("fail", json!({})).await["text"],
        "Error: not today (PRECONDITION_FAILED)"
    );
    let pdf = result("export_pdf", json!({})).await;
    assert!(pdf.get("text").is_none());
    assert_eq!(
        pdf["content"][1],
        json!({ "type": "text", "text": "JVBERi0=" })
    );
    let image = result("image", json!({})).await;
    assert_eq!(
        image["content"][1],
        json!({ "type": "image", "data": "iVBORw==", "mediaType": "image/png" })
    );
    let about: Value = serde_json::from_str(image["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(
        about,
        json!({ "mimeType": "image/png", "encoding": "base64", "width": 1 })
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_with_a_call_comes_as_its_result() {
    let gateway = Gateway::start().await;
    let runtime = Runtime::new(&gateway, "");
    let nobody = Receiver::start().await;
    runtime.invoke(&nobody, "echo", "t", "1", json!({})).await;
    assert_eq!(
        nobody.result().await["text"],
        "Error: No app is connected (DISCONNECTED)"
    );

    let _app = App::with(&gateway, "demo", &["echo", "a.b"]).await;
    let unknown = Receiver::start().await;
    // The capability's own name is not the name of the tool.
    runtime.invoke(&unknown, "a.b", "t", "1", json!({})).await;
    let got = unknown.result().await;
    assert_eq!(
        got["text"],
        "Error: No tool \"a.b\": there are a_b, echo (UNKNOWN_CAPABILITY)"
    );
    assert_eq!((&got["id"], &got["group_id"]), (&json!("1"), &json!("t")));
    let elsewhere = Receiver::start().await;
    Runtime::new(&gateway, "/rap/other")
        .invoke(&elsewhere, "echo", "t", "1", json!({}))
        .await;
    let text = elsewhere.result().await["text"]
        .as_str()
        .unwrap()
        .to_string();
    assert!(
        text.starts_with("Error: No app with id \"other\""),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_invocation_sent_again_while_in_flight_is_the_same_one() {
    let gateway = Gateway::start().await;
    let app = App::start(&gateway, "demo").await;
    let receiver = Receiver::start().await;
    let runtime = Runtime::new(&gateway, "");
    runtime
        .invoke(&receiver, "hold", "t", "1", json!({ "name": "first" }))
        .await;
    runtime
        .invoke(&receiver, "hold", "t", "1", json!({ "name": "first" }))
        .await;
    // Another invocation with the same id is refused, and does not disturb the first.
    let other = invocation(
        &receiver.url("/ok"),
        "echo",
        "t",
        "1",
        json!({ "name": "other" }),
    );
    let (status, error) = runtime.post("/invoke", &other).await;
    assert_eq!(status, 409);
    assert!(error.contains("in flight"), "{error}");
    // In another thread the same id belongs to another call.
    runtime
        .invoke(&receiver, "hold", "t2", "1", json!({ "name": "second" }))
        .await;
    assert_eq!(app.saw(2).await, ["call hold first", "call hold second"]);
    runtime.cancel("t", "1").await;
    assert_eq!(receiver.result().await["group_id"], "t");
    // The id is free again.
    runtime
        .invoke(&receiver, "echo", "t", "1", json!({ "name": "third" }))
        .await;
    assert_eq!(
        receiver.took(2).await[1].body["text"],
        "{\"name\":\"third\"}"
    );
    assert_eq!(receiver.taken().len(), 2);
}
