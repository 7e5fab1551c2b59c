//! Turns a tool's result into the outcome of a call.

use serde_json::{Value, json};

use crate::fronts::rap::wire::{ContentItem, ERROR_PREFIX, ToolResult};
use crate::wire::too_deep;
use caphost::call::{Code, Error};

/// The end of a call.
pub(super) type Outcome = Result<Value, Error<Value>>;

/// JSON with deeper nesting stays text. The surrounding message adds some levels, and the broker accepts no
/// more than 128.
const MAX_DEPTH: usize = 100;

/// How caphost's own tool server reports a call that was cancelled on its side. A reason may follow.
const CANCELLED: &str = "Tool call cancelled";
/// The text that runtimes use instead of the result of an interrupted call.
const INTERRUPTED: &str = "Tool call interrupted by user";

/// The outcome of a result.
///
/// | result | outcome |
/// |---|---|
/// | a text that begins with `Error: ` | the error `OPERATION_FAILED` with the rest of the text |
/// | the error of a cancelled call: `Error: Tool call cancelled…` | cancelled |
/// | a text that is a JSON object or array | the object or array |
/// | any other text | the text |
/// | an image | ABP's binary data |
/// | a text that describes binary data, followed by the data | ABP's binary data |
/// | an item of unknown type | the item, as it came |
/// | several items | an array of texts, binary data and such items |
pub(super) fn outcome(result: ToolResult) -> Outcome {
    let ToolResult { text, content, .. } = result;
    let Some(items) = content else {
        return of_text(text.unwrap_or_default());
    };
    match <[ContentItem; 1]>::try_from(items) {
        Ok([ContentItem::Text { text }]) => of_text(text),
        Ok([item]) => Ok(of_item(item)),
        Err(items) => {
            Ok(of_pair(&items).unwrap_or_else(|| items.into_iter().map(of_item).collect()))
        }
    }
}

fn of_text(text: String) -> Outcome {
    let message = text.strip_prefix(ERROR_PREFIX);
    if says_cancelled(message) || text == INTERRUPTED {
        return Err(Error::cancelled());
    }
    if let Some(message) = message {
        return Err(Error::new(Code::OPERATION_FAILED, message.to_string()));
    }
    Ok(structured(&text).unwrap_or(Value::String(text)))
}

fn says_cancelled(message: Option<&str>) -> bool {
    let reason = message.and_then(|message| message.strip_prefix(CANCELLED));
    let cancelled = reason.is_some_and(|reason| {
        reason.is_empty() || reason.starts_with(": ") || reason.starts_with(". ")
    });
    cancelled || message == Some(INTERRUPTED)
}

/// The JSON object or array that the whole text is.
fn structured(text: &str) -> Option<Value> {
    let begins = text.trim_start().starts_with(['{', '[']);
    let may_be = begins && !too_deep(text.as_bytes(), MAX_DEPTH);
    serde_json::from_str(text).ok().filter(|_| may_be)
}

fn of_item(item: ContentItem) -> Value {
    match item {
        ContentItem::Text { text } => text.into(),
        ContentItem::Image { data, media_type } => {
            json!({ "content": data, "mimeType": media_type, "encoding": "base64" })
        }
        ContentItem::Other(item) => item,
    }
}

/// A file in the form of caphost's own tool server: its description as JSON, then its content.
fn of_pair(items: &[ContentItem]) -> Option<Value> {
    let [ContentItem::Text { text }, data] = items else {
        return None;
    };
    let mut binary = structured(text)?;
    let describes = |key: &str| binary.get(key).is_some_and(Value::is_string);
    let is_description = describes("mimeType") && describes("encoding");
    if !is_description || binary.get("content").is_some() {
        return None;
    }
    let (ContentItem::Text { text: data } | ContentItem::Image { data, .. }) = data else {
        return None;
    };
    binary["content"] = data.as_str().into();
    Some(binary)
}

#[cfg(test)]
mod tests;
