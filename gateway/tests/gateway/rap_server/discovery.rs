use serde_json::json;

use super::app::{App, CAPABILITIES};
use super::runtime::{Receiver, Runtime};
use crate::support::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_manifest_of_the_only_app_is_at_the_root() {
    let gateway = Gateway::start().await;
    let _app = App::start(&gateway, "demo").await;
    let (status, manifest) = Runtime::new(&gateway, "").manifest("").await;
    assert_eq!(status, 200);
    assert_eq!(manifest["name"], "demo");
    assert_eq!(
        manifest["endpoint"],
        format!("http://{}/invoke", gateway.address)
    );
    let tools = manifest["tools"].as_array().unwrap();
    assert_eq!(tools.len(), CAPABILITIES.len());
    let pdf = tools
        .iter()
        .find(|tool| tool["name"] == "export_pdf")
        .unwrap();
    assert_eq!(pdf["description"], "It does export.pdf");
    assert_eq!(pdf["inputSchema"]["type"], "object");
    assert!(pdf["inputSchema"]["properties"]["name"].is_object());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_named_in_the_query_or_the_path_is_named_in_the_endpoint() {
    let gateway = Gateway::start().await;
    let _one = App::start(&gateway, "one").await;
    let _two = App::with(&gateway, "a/b two", &["echo"]).await;
    let root = Runtime::new(&gateway, "");
    let (status, manifest) = root.manifest("?app=one").await;
    assert_eq!((status, &manifest["name"]), (200, &json!("one")));
    assert_eq!(
        manifest["endpoint"],
        format!("http://{}/invoke?app=one", gateway.address)
    );
    let (status, manifest) = Runtime::new(&gateway, "/rap/a%2Fb%20two")
        .manifest("")
        .await;
    assert_eq!((status, &manifest["name"]), (200, &json!("a/b two")));
    assert_eq!(
        manifest["endpoint"],
        format!("http://{}/rap/a%2Fb%20two/invoke", gateway.address)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_an_app_with_several_and_with_none_of_that_name() {
    let gateway = Gateway::start().await;
    let root = Runtime::new(&gateway, "");
    let (status, error) = root.manifest("").await;
    assert_eq!(
        (status, &error["error"]["code"]),
        (404, &json!("DISCONNECTED"))
    );
    let _one = App::start(&gateway, "one").await;
    assert_eq!(root.manifest("").await.0, 200);
    let two = App::start(&gateway, "two").await;
    assert_eq!(root.manifest("").await.0, 200);
    assert_eq!(root.manifest("?app=two").await.0, 200);
    drop(two);
    for _ in 0..500 {
        if root.manifest("?app=two").await.0 == 404 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("the app that left is still offered");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_tools_of_all_apps_are_in_one_toolset_and_each_call_goes_to_its_app() {
    let gateway = Gateway::start().await;
    let one = App::with(&gateway, "one", &["echo", "hold"]).await;
    let two = App::with(&gateway, "two", &["echo", "text.length"]).await;
    for base in ["", "/rap"] {
        let runtime = Runtime::new(&gateway, base);
        let (status, manifest) = runtime.manifest("").await;
        assert_eq!((status, &manifest["name"]), (200, &json!("caphost")));
        let tools = manifest["tools"].as_array().unwrap().iter();
        let names: Vec<_> = tools.map(|tool| &tool["name"]).collect();
        assert_eq!(names, ["one_echo", "hold", "two_echo", "text_length"]);
    }
    let runtime = Runtime::new(&gateway, "/rap");
    for (id, tool) in [("1", "two_echo"), ("2", "one_echo")] {
        let receiver = Receiver::start().await;
        let arguments = json!({ "name": tool });
        runtime.invoke(&receiver, tool, "t", id, arguments).await;
        let text = json!({ "name": tool }).to_string();
        assert_eq!(receiver.result().await["text"], text);
    }
    assert_eq!(one.seen(), ["call echo one_echo"]);
    assert_eq!(two.seen(), ["call echo two_echo"]);
    let receiver = Receiver::start().await;
    runtime.invoke(&receiver, "echo", "t", "3", json!({})).await;
    let told = receiver.result().await;
    let told = told["text"].as_str().unwrap();
    assert!(told.contains("one_echo, hold, two_echo"), "{told}");
    // A cancel without an app finds the app of its call.
    let receiver = Receiver::start().await;
    let arguments = json!({ "name": "held" });
    runtime.invoke(&receiver, "hold", "t", "4", arguments).await;
    one.saw(2).await;
    runtime.cancel("t", "4").await;
    assert!(one.saw(3).await[2].starts_with("cancel held"));
    assert_eq!(two.seen().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tab_that_the_path_names_gets_the_call() {
    let gateway = Gateway::start().await;
    let first = App::with(&gateway, "demo", &["echo"]).await;
    let second = App::with(&gateway, "demo", &["echo"]).await;
    let apps = gateway.get("/api/apps", "").await.json();
    let oldest = apps["apps"][0]["instances"][1]["app"].as_str().unwrap();
    let base = format!("/rap/{}", oldest.replace('#', "%23"));
    let receiver = Receiver::start().await;
    let runtime = Runtime::new(&gateway, &base);
    let arguments = json!({ "name": "n" });
    runtime.invoke(&receiver, "echo", "t", "1", arguments).await;
    receiver.result().await;
    assert_eq!((first.seen().len(), second.seen().len()), (1, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_that_become_one_are_reported_and_exposed_by_neither() {
    let gateway = Gateway::start().await;
    let _app = App::with(&gateway, "demo", &["echo", "a.b", "a b"]).await;
    let runtime = Runtime::new(&gateway, "/rap/demo");
    let (_, manifest) = runtime.manifest("").await;
    let names: Vec<_> = manifest["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(names, ["echo"]);
    assert_eq!(
        manifest["conflicts"],
        json!([{ "name": "a_b", "capabilities": ["a.b", "a b"] }])
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_without_tools_has_no_manifest() {
    let gateway = Gateway::start().await;
    let _app = App::with(&gateway, "demo", &[]).await;
    let (status, error) = Runtime::new(&gateway, "").manifest("").await;
    assert_eq!(
        (status, &error["error"]["code"]),
        (404, &json!("CAPABILITY_UNAVAILABLE"))
    );
}
