use serde_json::json;

use super::*;
use caphost::call::Code;

fn done(data: Value) -> Body {
    Body::of(Outcome::Done {
        data: Some(Json::from(&data)),
        metadata: None,
    })
}

fn text(text: &str) -> Body {
    Body::Text(text.into())
}

#[test]
fn strings_are_themselves_and_all_else_is_json() {
    assert_eq!(done(json!("a \"b\"")), text("a \"b\""));
    assert_eq!(done(json!({ "a": [1, null] })), text(r#"{"a":[1,null]}"#));
    assert_eq!(done(json!(7)), text("7"));
    let data = |it: &str| Some(Json::from(it.to_string()));
    let written = r#"{"b":1.0,"a":1}"#;
    assert_eq!(Body::of_data(data(written)), text(written));
    let escaped = data(r#"{"a":"\u00e9"}"#);
    assert_eq!(Body::of_data(escaped), text(r#"{"a":"é"}"#));
    assert_eq!(
        Body::of(Outcome::Done {
            data: None,
            metadata: None
        }),
        text("null")
    );
}

#[test]
fn errors_begin_as_the_protocol_wants_it() {
    let error = AbpError::new(Code::INVALID_PARAMS, "`title` is missing");
    assert_eq!(
        Body::of(Outcome::Failed(error)),
        text("Error: `title` is missing (INVALID_PARAMS)")
    );
    let error = AbpError::read(&json!({ "code": "X", "message": "m", "details": { "path": "a" } }));
    assert_eq!(
        Body::of(Outcome::Failed(error)),
        text(r#"Error: m (X): {"path":"a"}"#)
    );
    let error =
        AbpError::read(&json!({ "code": "X", "message": "m", "details": "é".repeat(9_999) }));
    assert!(Body::of(Outcome::Failed(error)).bytes() < 3_000);
}

#[test]
fn a_cancelled_call_says_so_and_why_and_how_far_it_was_seen_to_stop() {
    let cancelled = |reason: Option<&str>, stop| Outcome::Cancelled {
        reason: reason.map(Into::into),
        stop,
        by: None,
    };
    assert_eq!(
        Body::of(cancelled(None, Stop::Dropped)),
        text("Error: Tool call cancelled. The work has ended (dropped).")
    );
    for reason in ["enough", "enough."] {
        assert_eq!(
            Body::of(cancelled(Some(reason), Stop::Abandoned)),
            text("Error: Tool call cancelled: enough. The work was not seen to stop (abandoned).")
        );
    }
}

fn parts(data: Value) -> Vec<ContentItem> {
    match done(data) {
        Body::Content(items) => items,
        Body::Text(text) => panic!("{text}"),
    }
}

fn part(text: &str) -> ContentItem {
    ContentItem::Text { text: text.into() }
}

#[test]
fn a_file_comes_as_its_description_and_its_content() {
    let pdf = json!({ "pdf": "JVBERg==", "mimeType": "application/pdf", "encoding": "base64", "pageCount": 2 });
    let description = r#"{"encoding":"base64","mimeType":"application/pdf","pageCount":2}"#;
    assert_eq!(parts(pdf), [part(description), part("JVBERg==")]);
    let file = json!({ "content": "AAAA", "note": "AAAAAAAA", "mimeType": "application/zip", "encoding": "base64" });
    assert_eq!(parts(file)[1], part("AAAA"));
    let file = json!({ "content": "<svg/>", "mimeType": "image/svg+xml", "encoding": "utf-8" });
    assert_eq!(parts(file)[1], part("<svg/>"));
}

#[test]
fn pictures_are_images() {
    let description = r#"{"encoding":"base64","mimeType":"image/png","width":3}"#;
    let image = ContentItem::Image {
        data: "iVBORw==".into(),
        media_type: "image/png".into(),
    };
    for image_of_app in [
        json!({ "image": "iVBORw==", "mimeType": "image/png", "encoding": "base64", "width": 3 }),
        json!({ "image": "iVBORw", "mimeType": "image/png", "width": 3 }),
    ] {
        assert_eq!(parts(image_of_app), [part(description), image.clone()]);
    }
    let capitals = json!({ "png": "iVBORw==", "mimeType": "Image/PNG" });
    assert!(matches!(parts(capitals)[1], ContentItem::Image { .. }));
}

#[test]
fn what_is_no_file_of_a_known_type_is_json() {
    for value in [
        json!([1]),
        json!({ "content": "AAAA" }),
        json!({ "content": "AAAA", "encoding": "base64" }),
        json!({ "content": "AAAA", "mimeType": "a/b" }),
        json!({ "content": "not base64!", "mimeType": "a/b", "encoding": "base64" }),
        json!({ "content": "", "mimeType": "a/b", "encoding": "base64" }),
        json!({ "content": 7, "mimeType": "a/b", "encoding": "base64" }),
        json!({ "downloadUrl": "blob:x", "mimeType": "a/b", "encoding": "base64", "filename": "AAAA" }),
        json!({ "data": {}, "mimeType": "a/b", "encoding": "arraybuffer" }),
        json!({ "note": "text", "mimeType": "a/b", "encoding": "utf-8" }),
    ] {
        assert_eq!(done(value.clone()), text(&value.to_string()));
    }
}
