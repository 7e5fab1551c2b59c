use serde_json::json;

use super::*;

fn bytes(data: &Value) -> Option<Result<Vec<u8>, String>> {
    file_of(data).map(|it| it.map(|it| it.bytes))
}

#[test]
fn the_content_may_have_a_name_of_its_own() {
    for (data, rest) in [
        (
            json!({ "content": "aGk=", "mimeType": "text/plain", "encoding": "base64" }),
            json!({ "mimeType": "text/plain", "encoding": "base64" }),
        ),
        (
            json!({ "pdf": "aGk", "mimeType": "application/pdf", "encoding": "base64", "size": 2 }),
            json!({ "mimeType": "application/pdf", "encoding": "base64", "size": 2 }),
        ),
        (
            json!({ "image": "aG\nk=", "mimeType": "image/png", "encoding": "base64", "width": 1 }),
            json!({ "mimeType": "image/png", "encoding": "base64", "width": 1 }),
        ),
        (
            json!({ "pdf": { "content": "aGk=", "encoding": "base64" }, "pageCount": 1 }),
            json!({ "pdf": { "encoding": "base64" }, "pageCount": 1 }),
        ),
        (
            json!({ "content": "hi", "encoding": "utf-8" }),
            json!({ "encoding": "utf-8" }),
        ),
    ] {
        let file = file_of(&data).unwrap().unwrap();
        assert_eq!(file.bytes, b"hi", "{data}");
        assert_eq!(file.rest, Some(rest));
    }
}

#[test]
fn a_field_inherits_the_type_of_the_data() {
    let data =
        json!({ "pdf": { "content": "", "encoding": "base64" }, "mimeType": "application/pdf" });
    let file = file_of(&data).unwrap().unwrap();
    assert_eq!(file.mime_type.as_deref(), Some("application/pdf"));
}

#[test]
fn what_declares_no_file_has_none() {
    for data in [
        json!(null),
        json!("aGk="),
        json!({ "html": "aGk=" }),
        json!({ "content": "aGk=" }),
        json!({ "content": "aGk=", "encoding": "arraybuffer" }),
        json!({ "note": "aGk=", "mimeType": "image/png", "encoding": "base64" }),
        json!({ "a": { "content": "", "encoding": "base64" }, "b": { "content": "", "encoding": "base64" } }),
    ] {
        assert_eq!(bytes(&data), None, "{data}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_not_passed_over() {
    for (content, size) in [("%%", 1), ("aGk=", 3)] {
        let data = json!({ "content": content, "encoding": "base64", "size": size });
        let error = bytes(&data).unwrap().unwrap_err();
        assert!(error.starts_with("content of the result "), "{error}");
    }
}

#[test]
fn only_long_base64_is_cut() {
    let prose = "word ".repeat(100);
    let data = json!({ "a": ["A".repeat(300)], "b": prose, "c": "A".repeat(255), "d": 1 });
    let short = abridged(&data);
    let cut = short["a"][0].as_str().unwrap();
    assert!(
        cut.starts_with(&format!("{}… (300 ", "A".repeat(32))),
        "{cut}"
    );
    assert_eq!(
        (&short["b"], &short["c"], &short["d"]),
        (&data["b"], &data["c"], &data["d"])
    );
}
