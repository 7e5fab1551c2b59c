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
        let body = body.value().unwrap_or_default();
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
mod tests;
