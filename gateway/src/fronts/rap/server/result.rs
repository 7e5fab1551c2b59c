//! Turns the outcome of a call into a tool result.

use serde_json::Value;

use crate::fronts::media_type::essence;
use crate::fronts::rap::wire::{ContentItem, ERROR_PREFIX};
use crate::gateway::{AbpError, Outcome};
use crate::wire::Json;
use crate::wire::binary::{Binary, Encoding, canonical, opened};
use crate::wire::stops;
use caphost::call::Stop;

/// How many characters of an error's details are shown.
const DETAILS_CHARS: usize = 1_000;

/// The content of a [`ToolResult`](crate::fronts::rap::wire::ToolResult), without the ids that address it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body {
    Text(String),
    Content(Vec<ContentItem>),
}

impl Body {
    /// An outcome as text, or as parts if it is a file.
    pub(super) fn of(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done { data, .. } => Body::of_data(data),
            Outcome::Failed(error) => Body::of_error(&error),
            Outcome::Cancelled { reason, stop, .. } => Body::cancelled(reason.as_deref(), stop),
        }
    }

    /// A string becomes itself, a file becomes parts, and anything else becomes JSON.
    fn of_data(data: Option<Json>) -> Self {
        let Some(data) = data else {
            return Body::Text("null".into());
        };
        let text = data.as_str();
        let value = match text.starts_with('"') {
            true => data.value().ok(),
            false => opened(&data),
        };
        let Some(value) = value else {
            return Body::Text(text.into());
        };
        match of_file(value) {
            Ok(parts) => Body::Content(parts.into()),
            Err(Value::String(text)) => Body::Text(text),
            // A model reads characters, not their escapes.
            Err(other) => Body::Text(other.to_string()),
        }
    }

    fn of_error(error: &AbpError) -> Self {
        let AbpError {
            code,
            message,
            body,
            ..
        } = error;
        let mut text = format!("{message} ({code})");
        if let Some(details) = body.get("details").filter(|details| !details.is_null()) {
            let details = details.to_string();
            text.push_str(": ");
            text.extend(details.chars().take(DETAILS_CHARS));
        }
        Body::error(&text)
    }

    /// An error. Only the beginning of its text marks it as an error.
    pub(super) fn error(message: &str) -> Self {
        Body::Text(format!("{ERROR_PREFIX}{message}"))
    }

    fn cancelled(reason: Option<&str>, stop: Stop) -> Self {
        let work = stops::sentence(stop);
        let reason = reason.map(|reason| reason.trim_end_matches('.'));
        Body::error(&match reason {
            Some(reason) => format!("Tool call cancelled: {reason}. {work}"),
            None => format!("Tool call cancelled. {work}"),
        })
    }

    /// How many bytes the content has, about.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Body::Text(text) => text.len(),
            Body::Content(items) => items.iter().map(bytes).sum(),
        }
    }
}

/// A file as its description in JSON, followed by its content. A picture becomes an image, any other file
/// becomes text. Data that is not a file is returned unchanged.
fn of_file(mut data: Value) -> Result<[ContentItem; 2], Value> {
    let can_be_sent = |file: &Binary| file.encoding == Encoding::Utf8 || file.has_bytes(&data);
    let file = Binary::of(&data).filter(can_be_sent);
    let Some((media_type, file)) = file.and_then(|it| Some((it.media_type.clone()?, it))) else {
        return Err(data);
    };
    let content = file.remove(&mut data).unwrap_or_default();
    let content = match file.encoding {
        Encoding::Utf8 => ContentItem::Text { text: content },
        Encoding::Base64 => {
            // The app may not have declared this, because the member's name may imply it.
            data["encoding"] = "base64".into();
            let content = canonical(content);
            if essence(&media_type).starts_with("image/") {
                ContentItem::Image {
                    data: content,
                    media_type,
                }
            } else {
                ContentItem::Text { text: content }
            }
        }
    };
    let description = ContentItem::Text {
        text: data.to_string(),
    };
    Ok([description, content])
}

fn bytes(item: &ContentItem) -> usize {
    match item {
        ContentItem::Text { text } => text.len(),
        ContentItem::Image { data, media_type } => data.len() + media_type.len(),
        ContentItem::Other(_) => 0,
    }
}

#[cfg(test)]
mod tests {
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
        let error =
            AbpError::read(json!({ "code": "X", "message": "m", "details": { "path": "a" } }));
        assert_eq!(
            Body::of(Outcome::Failed(error)),
            text(r#"Error: m (X): {"path":"a"}"#)
        );
        let error =
            AbpError::read(json!({ "code": "X", "message": "m", "details": "é".repeat(9_999) }));
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
                text(
                    "Error: Tool call cancelled: enough. The work was not seen to stop (abandoned)."
                )
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
}
