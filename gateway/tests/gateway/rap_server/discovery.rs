use serde_json::json;

use super::app::{App, CAPABILITIES};
use super::runtime::Runtime;
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
    let (status, error) = root.manifest("").await;
    assert_eq!(
        (status, &error["error"]["code"]),
        (409, &json!("INVALID_PARAMS"))
    );
    assert_eq!(error["error"]["details"]["apps"], json!(["one", "two"]));
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
