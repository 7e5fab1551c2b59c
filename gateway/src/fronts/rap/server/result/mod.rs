//! What a call's outcome is as a tool result.

mod binary;

use serde_json::Value;

use self::binary::Binary;
use crate::fronts::rap::wire::{ContentItem, ERROR_PREFIX};
use crate::gateway::router::{AbpError, Outcome};
use crate::wire::stops;
use caphost::call::Stop;

/// Characters of an error's details that are shown.
const DETAILS_CHARS: usize = 1_000;

/// The part of a [`ToolResult`](crate::fronts::rap::wire::ToolResult) that is not its address.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body {
    Text(String),
    Content(Vec<ContentItem>),
}

impl Body {
    /// What an outcome is: text, or parts where there is binary data in it.
    pub(super) fn of(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done { data, .. } => Body::of_data(data.unwrap_or_default()),
            Outcome::Failed(error) => Body::of_error(&error),
            Outcome::Cancelled { reason, stop, .. } => Body::cancelled(reason.as_deref(), stop),
        }
    }

    /// A string as it is, binary data as its description and its content, all else as JSON.
    fn of_data(data: Value) -> Self {
        let data = match Binary::find(data) {
            Ok(binary) => return Body::Content(binary.into_items()),
            Err(data) => data,
        };
        match data {
            Value::String(text) => Body::Text(text),
            other => Body::Text(other.to_string()),
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

    /// An error: there is no other sign of one than how its text begins.
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

    /// About how many bytes it is.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Body::Text(text) => text.len(),
            Body::Content(items) => items.iter().map(bytes).sum(),
        }
    }
}

fn bytes(item: &ContentItem) -> usize {
    match item {
        ContentItem::Text { text } => text.len(),
        ContentItem::Image { data, media_type } => data.len() + media_type.len(),
        ContentItem::Unknown => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use caphost::call::Code;

    fn done(data: Value) -> Body {
        Body::of(Outcome::Done {
            data: Some(data),
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
            by_caller: true,
            stop,
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

    #[test]
    fn binary_data_comes_as_parts() {
        let data = json!({ "pdf": "JVBERg==", "mimeType": "application/pdf", "encoding": "base64", "pageCount": 2 });
        let Body::Content(items) = done(data) else {
            panic!("no parts")
        };
        let description = r#"{"encoding":"base64","mimeType":"application/pdf","pageCount":2}"#;
        let text = |text: &str| ContentItem::Text { text: text.into() };
        assert_eq!(items, [text(description), text("JVBERg==")]);
    }
}
