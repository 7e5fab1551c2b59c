//! Callback URLs that lead to targets which only the gateway can reach.

use caphost_gateway::{Config, RapOptions as Options, Tokens};
use serde_json::json;

use super::admission::code;
use super::app::App;
use super::runtime::{Receiver, Runtime, delivered, invocation};
use crate::support::*;

/// A gateway with tokens, like any gateway that others can reach.
async fn guarded(allow: &[&str]) -> (Gateway, App) {
    let tokens = ["agent=alice", "app=page"].map(|token| token.parse().unwrap());
    let rap = Options {
        callback_allow: allow.iter().map(|it| it.parse().unwrap()).collect(),
        ..Options::default()
    };
    let config = Config {
        tokens: Tokens::new(tokens.to_vec()),
        rap,
        ..config()
    };
    let gateway = Gateway::with(config).await;
    let app = App::authorised(&gateway, "demo", &["echo"], "page").await;
    (gateway, app)
}

async fn invoke(runtime: &Runtime, url: &str, id: &str) -> (u16, String) {
    let message = invocation(url, "echo", "t", id, json!({}));
    runtime.post("/invoke", &message).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_callback_url_with_an_internal_address_is_refused_however_it_is_spelt() {
    let (gateway, app) = guarded(&[]).await;
    let receiver = Receiver::start().await;
    let runtime = Runtime::new(&gateway, "").with_token("alice");
    let port = receiver.address.port();
    for host in [
        "127.0.0.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "169.254.169.254",
        "10.0.0.1",
        "192.168.1.1",
        "[fd00::1]",
        "[fe80::1]",
        "224.0.0.1",
    ] {
        let (status, answer) = invoke(&runtime, &format!("http://{host}:{port}/ok"), "1").await;
        assert_eq!(
            (status, code(&answer)),
            (403, "PERMISSION_DENIED".into()),
            "{host}"
        );
    }
    assert!(app.seen().is_empty() && receiver.taken().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_callback_url_whose_name_stands_for_an_internal_address_is_not_called() {
    let (gateway, app) = guarded(&[]).await;
    let receiver = Receiver::start().await;
    let runtime = Runtime::new(&gateway, "").with_token("alice");
    // The owner of a name can point the name at this machine after a check.
    let url = format!("http://localhost:{}/ok", receiver.address.port());
    assert_eq!(invoke(&runtime, &url, "1").await.0, 200);
    app.saw(1).await;
    // The result is given up at once, without another attempt.
    delivered(&gateway, 1).await;
    assert!(receiver.taken().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_operator_names_may_be_internal() {
    for (allow, host) in [
        ("127.0.0.0/8", "127.0.0.1"),
        ("127.0.0.0/8", "localhost"),
        ("localhost", "localhost"),
        ("127.0.0.1", "127.0.0.1"),
    ] {
        let (gateway, _app) = guarded(&[allow]).await;
        let receiver = Receiver::start().await;
        let runtime = Runtime::new(&gateway, "").with_token("alice");
        let url = format!("http://{host}:{}/ok", receiver.address.port());
        assert_eq!(invoke(&runtime, &url, "1").await.0, 200, "{allow}");
        receiver.result().await;
        assert_eq!(invoke(&runtime, "http://10.0.0.1/", "2").await.0, 403);
    }
    let receiver = Receiver::start().await;
    let (gateway, _app) = guarded(&[&receiver.url("")]).await;
    let runtime = Runtime::new(&gateway, "").with_token("alice");
    assert_eq!(invoke(&runtime, &receiver.url("/ok"), "1").await.0, 200);
    receiver.result().await;
    let elsewhere = Receiver::start().await;
    assert_eq!(invoke(&runtime, &elsewhere.url("/ok"), "2").await.0, 403);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_tokens_a_gateway_on_loopback_calls_loopback_and_nothing_else_internal() {
    let gateway = Gateway::start().await;
    let _app = App::start(&gateway, "demo").await;
    let receiver = Receiver::start().await;
    let runtime = Runtime::new(&gateway, "");
    for internal in ["http://169.254.169.254/", "http://10.0.0.1/", "http://0/"] {
        assert_eq!(invoke(&runtime, internal, "1").await.0, 403, "{internal}");
    }
    let url = format!("http://localhost:{}/ok", receiver.address.port());
    assert_eq!(invoke(&runtime, &url, "1").await.0, 200);
    receiver.result().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_callback_url_of_a_megabyte_is_refused() {
    let gateway = Gateway::start().await;
    let _app = App::start(&gateway, "demo").await;
    let runtime = Runtime::new(&gateway, "");
    let long = "x".repeat(1 << 20);
    for url in [
        format!("http://{long}.example/"),
        format!("http://127.0.0.1:9/{long}"),
    ] {
        let (status, answer) = invoke(&runtime, &url, "1").await;
        assert_eq!((status, code(&answer)), (400, "INVALID_PARAMS".into()));
        assert!(answer.len() < 1_000, "{}", answer.len());
    }
}
