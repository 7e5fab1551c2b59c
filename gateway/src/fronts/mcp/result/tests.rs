use caphost::dialect::mcp::STATELESS;

use super::*;

fn run() -> RunId {
    "6a0e9d0c-6c0b-4a0e-9b9e-0b8f4d2a1c3e".parse().unwrap()
}

fn value(result: &ToolResult) -> Value {
    serde_json::to_value(result).unwrap()
}

fn ended(data: Value, promised: bool) -> Value {
    let metadata = json!({ "duration": 3 });
    let data = Some(Json::from(&data));
    value(&done(data, Some(metadata), || promised, &STATELESS, run()))
}

/// The result of a call whose data were written like this.
fn of_text(data: &str, promised: bool) -> Value {
    let data = Some(data.to_string().into());
    value(&done(data, None, || promised, &STATELESS, run()))
}

#[test]
fn an_object_is_text_and_structured_content() {
    let got = ended(json!({ "a": 1 }), true);
    assert_eq!(got["structuredContent"], json!({ "a": 1 }));
    assert_eq!(
        got["content"],
        json!([{ "type": "text", "text": r#"{"a":1}"# }])
    );
    assert_eq!(got["isError"], false);
    assert_eq!(
        got["_meta"],
        json!({ "caphost/run": run().to_string(), "caphost/metadata": { "duration": 3 } })
    );
}

#[test]
fn text_is_itself_and_other_values_are_json() {
    assert_eq!(ended(json!("hi"), false)["content"][0]["text"], "hi");
    assert_eq!(ended(json!([1, 2]), false)["content"][0]["text"], "[1,2]");
    assert_eq!(ended(json!(0), false)["content"][0]["text"], "0");
    let nothing = value(&done(None, None, || false, &STATELESS, run()));
    assert_eq!(nothing["content"], json!([]));
    assert!(nothing.get("structuredContent").is_none());
}

#[test]
fn a_text_that_says_nothing_is_no_block() {
    for blank in ["", " ", "\n\t", "\u{a0}\u{2003}"] {
        assert_eq!(
            ended(json!(blank), false)["content"],
            json!([]),
            "{blank:?}"
        );
    }
    assert_eq!(ended(json!(" \"a"), false)["content"][0]["text"], " \"a");
}

#[test]
fn an_older_client_is_not_told_what_it_cannot_read() {
    let data = json!({ "sound": "AAAA", "audio": "AAAA", "mimeType": "audio/wav" });
    for (version, structured, kind) in [
        ("2024-11-05", false, "resource"),
        ("2025-03-26", false, "audio"),
        ("2025-06-18", true, "audio"),
    ] {
        let version = Version::named(version).unwrap();
        let data = Some(Json::from(&data));
        let got = value(&done(data, None, || true, version, run()));
        assert_eq!(got.get("structuredContent").is_some(), structured);
        assert_eq!(got["content"][1]["type"], kind, "{}", version.name);
    }
}

#[test]
fn files_are_not_hidden_behind_structured_content() {
    let file = json!({ "image": "AAAA", "mimeType": "image/png" });
    assert!(
        ended(file.clone(), false)
            .get("structuredContent")
            .is_none()
    );
    assert!(
        ended(json!({ "a": 1 }), false)
            .get("structuredContent")
            .is_some()
    );
    assert!(
        ended(file, true).get("structuredContent").is_some(),
        "it is promised"
    );
}

#[test]
fn bytes_are_given_once() {
    let got = ended(
        json!({ "pdf": "JVBERi0=", "mimeType": "application/pdf" }),
        true,
    );
    assert_eq!(got.to_string().matches("JVBERi0=").count(), 1);
    let pointer = got["structuredContent"]["pdf"].as_str().unwrap();
    let target = pointer.strip_prefix('#').unwrap();
    assert_eq!(got.pointer(target), Some(&json!("JVBERi0=")));
    let whole = ended(json!([{ "image": "AAAA", "mimeType": "image/png" }]), false);
    assert_eq!(whole["content"][1]["type"], "image");
}

#[test]
fn data_without_files_is_written_as_it_came() {
    let written = r#"{"b":1.0,"a":"\"","mimeTypes":[1e3]}"#;
    let result = done(
        Some(written.to_string().into()),
        None,
        || true,
        &STATELESS,
        run(),
    );
    let answer = answer(&Id::read(&json!(1)).unwrap(), Ok(result));
    assert!(answer.contains(&format!(r#""structuredContent":{written}"#)));
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["result"]["content"][0]["text"], written);
    let escaped = r#"{"a":"\u00e9"}"#;
    let got = of_text(escaped, true);
    assert_eq!(got["content"][0]["text"], r#"{"a":"é"}"#);
    let said = r#""a \"b\" \u0001""#;
    let got = of_text(said, false);
    assert_eq!(got["content"][0]["text"], "a \"b\" \u{1}");
}

#[test]
fn a_file_is_found_however_its_members_are_escaped() {
    let written = r#"{"mime\u0054ype":"image/png","png":"AAAA"}"#;
    let got = of_text(written, true);
    assert_eq!(got["content"][1]["type"], "image");
}

#[test]
fn a_broken_promise_is_an_error_with_what_came() {
    let got = ended(json!("text"), true);
    assert_eq!(got["isError"], true);
    assert_eq!(got["content"][1]["text"], "text");
    assert!(
        got["content"][0]["text"]
            .as_str()
            .unwrap()
            .starts_with("INTERNAL_ERROR: ")
    );
}

#[test]
fn an_error_reads_as_code_and_message() {
    let error = AbpError::read(&json!({
        "code": "RATE_LIMITED", "message": "Slow down", "retryable": true, "retryAfter": 5,
    }));
    let got = value(&failed(&error, Some(run())));
    assert_eq!(got["isError"], true);
    assert_eq!(
        got["content"],
        json!([{ "type": "text", "text": "RATE_LIMITED: Slow down" }])
    );
    assert_eq!(got["_meta"]["caphost/error"]["retryAfter"], 5);
    assert!(got.get("structuredContent").is_none());
}

#[test]
fn a_cancelled_call_is_an_error_of_the_request() {
    let id = Id::read(&json!("7")).unwrap();
    assert_eq!(
        cancelled("export.pdf", &id, Stop::Returned, None).answer(id.value())["error"],
        json!({ "code": -32800, "message": "Tool execution cancelled: export.pdf",
                    "data": { "requestId": "7", "partial": false, "stop": "returned",
                              "_meta": { "caphost/stop": "returned" } } })
    );
    let by = caphost::call::StoppedBy::of_peer(Some("terminate"), Some(57.5));
    let error = cancelled("hash", &id, Stop::Terminated, by);
    assert_eq!(
        error.data,
        Some(json!({
            "requestId": "7", "partial": false,
            "stop": "terminated", "step": "terminate", "took": 57.5,
            "_meta": { "caphost/stop": "terminated", "caphost/step": "terminate", "caphost/took": 57.5 },
        }))
    );
}
