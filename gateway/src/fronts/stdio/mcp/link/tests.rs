use super::*;

#[test]
fn a_call_may_take_any_time_with_root_certificates_and_without() {
    const WITHOUT: &str = "CAPHOST_TEST_WITHOUT_ROOTS";
    let url = "http://127.0.0.1:9/mcp".parse().unwrap();
    let link = Link::new(Endpoint {
        url,
        authorization: None,
    });
    let bounds = |client: &Client| format!("{client:?}").to_lowercase();
    let unbounded = bounds(&link.client);
    assert!(!unbounded.contains("timeout"), "{unbounded}");
    assert!(bounds(&http_client::client(SILENCE)).contains("timeout"));
    if std::env::var_os(WITHOUT).is_some() {
        assert!(Client::builder().build().is_err(), "there are no roots");
        return;
    }
    let test = "a_call_may_take_any_time_with_root_certificates_and_without";
    let mut without = std::process::Command::new(std::env::current_exe().unwrap());
    without.arg(test).env(WITHOUT, "1");
    without.env("SSL_CERT_FILE", "/nowhere");
    without.env("SSL_CERT_DIR", "/nowhere");
    assert!(without.status().unwrap().success());
}

#[test]
fn requests_name_what_they_are_about() {
    let params =
        r#"{"name":"a.b","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
    let id = Id::read(&json!(0)).unwrap();
    let request = Request::new(id.clone(), "tools/call", Some(params));
    assert_eq!(request.name.as_deref(), Some("a.b"));
    assert!(request.is_alone());
    assert_eq!(request.version.as_deref(), Some("2026-07-28"));
    assert!(!Request::new(id, "ping", None).is_alone());
}

#[test]
fn answers_are_recognised_by_their_id() {
    let answers = |text: &str, id: Value| answers(text, &Id::read(&id).unwrap());
    let answer = r#"{"id":"1","result":{}}"#;
    assert!(answers(answer, json!("1")) && !answers(answer, json!(1)));
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create"}"#;
    assert!(!answers(request, json!(1)));
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#;
    assert!(!answers(notification, json!(1)));
}
