use super::*;
use crate::fronts::rap::names::Identifier;

fn of(text: Option<&str>, content: Option<Value>) -> Outcome {
    let id = Identifier::new("i").unwrap();
    outcome(ToolResult {
        group_id: id.clone(),
        id,
        call_id: None,
        text: text.map(str::to_string),
        content: content.map(|it| serde_json::from_value(it).unwrap()),
        subscription: None,
    })
}

fn text(text: &str) -> Outcome {
    of(Some(text), None)
}

#[test]
fn a_text_is_itself_or_the_json_it_is() {
    for plain in [
        "",
        "done",
        "7",
        "true",
        "null",
        "{not json}",
        "[1, 2",
        "error: x",
    ] {
        assert_eq!(text(plain), Ok(plain.into()));
    }
    assert_eq!(text(" {\"a\": [1]}"), Ok(json!({ "a": [1] })));
    assert_eq!(text("[]"), Ok(json!([])));
    let deep = format!("{}{}", "[".repeat(110), "]".repeat(110));
    assert_eq!(text(&deep), Ok(deep.into()));
}

#[test]
fn an_error_fails() {
    let error = text("Error: the disk is full").unwrap_err();
    assert_eq!(error.code, Code::OPERATION_FAILED);
    assert_eq!(error.message, "the disk is full");
    let content = json!([{ "type": "text", "text": "Error: no" }]);
    assert_eq!(of(None, Some(content)).unwrap_err().message, "no");
}

#[test]
fn a_call_the_tool_server_has_cancelled_is_cancelled() {
    for said in [
        "Error: Tool call cancelled",
        "Error: Tool call cancelled: enough",
        "Error: Tool call cancelled. The work was not seen to stop (abandoned).",
        "Tool call interrupted by user",
        "Error: Tool call interrupted by user",
    ] {
        assert_eq!(text(said).unwrap_err().code, Code::CANCELLED, "{said}");
    }
}

#[test]
fn a_tool_that_speaks_of_cancelling_is_not_cancelled() {
    assert!(text("Tool call cancelled").is_ok());
    let error = text("Error: Tool call cancelled by the airline").unwrap_err();
    assert_eq!(error.code, Code::OPERATION_FAILED);
}

#[test]
fn items_are_texts_and_binary_data() {
    let image = json!({ "type": "image", "data": "AA==", "mediaType": "image/png" });
    let binary = json!({ "content": "AA==", "mimeType": "image/png", "encoding": "base64" });
    assert_eq!(
        of(Some("instead"), Some(json!([image]))),
        Ok(binary.clone())
    );
    let other = json!({ "type": "audio", "data": "AA==" });
    let several = json!([{ "type": "text", "text": "{}" }, image, other]);
    assert_eq!(of(None, Some(several)), Ok(json!(["{}", binary, other])));
    assert_eq!(of(None, Some(json!([other]))), Ok(other));
    assert_eq!(of(None, Some(json!([]))), Ok(json!([])));
}

#[test]
fn described_data_becomes_one() {
    let description = json!({ "mimeType": "application/pdf", "encoding": "base64", "size": 1 });
    let pair = json!([
        { "type": "text", "text": description.to_string() }, { "type": "text", "text": "AA==" },
    ]);
    let mut binary = description;
    binary["content"] = "AA==".into();
    assert_eq!(of(None, Some(pair)), Ok(binary));
}
