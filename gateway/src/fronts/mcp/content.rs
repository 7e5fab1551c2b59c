//! Bytes in a capability's data, as MCP content.
//!
//! Bytes are base64 text beside a `mimeType`: as `content` or `data`, with `encoding: "base64"`, or
//! under the name of what they are, such as `image` of `image/png` or `pdf` of `application/pdf`. They are
//! given once, in a content block of their own, and where they stood there is a JSON Pointer to that
//! block in the result: text that may be large has no place in what a model reads.

use rmcp::model::{ContentBlock, JsonObject, ResourceContents};
use serde_json::Value;
use url::Url;

use crate::broker::runs::RunId;

/// The names under which bytes may stand where an `encoding` says that they do.
pub const PLAIN_NAMES: [&str; 2] = ["content", "data"];

/// Takes the bytes out of `data`. The first of their blocks will stand at index `first` of the
/// result's `content`.
pub fn extract(data: &mut Value, first: usize, run: RunId) -> Vec<ContentBlock> {
    let mut blocks = Vec::new();
    visit(data, first, run, &mut blocks);
    blocks
}

/// The names under which bytes of that type may stand: `image` and `png` of `image/png`.
pub fn kind_names(mime: &str) -> impl Iterator<Item = &str> {
    let (kind, subtype) = split(mime).unwrap_or_default();
    [kind, subtype].into_iter().filter(|name| !name.is_empty())
}

fn visit(value: &mut Value, first: usize, run: RunId, blocks: &mut Vec<ContentBlock>) {
    match value {
        Value::Array(items) => {
            for item in items {
                visit(item, first, run, blocks);
            }
        }
        Value::Object(members) => {
            if let Some((name, mime)) = binary_member(members) {
                take(members, &name, mime, first, run, blocks);
            }
            for member in members.values_mut() {
                visit(member, first, run, blocks);
            }
        }
        _ => {}
    }
}

fn take(
    members: &mut JsonObject,
    name: &str,
    mime: String,
    first: usize,
    run: RunId,
    blocks: &mut Vec<ContentBlock>,
) {
    let filename = members.get("filename").and_then(Value::as_str);
    let filename = filename.unwrap_or(name).to_string();
    let Some(Value::String(text)) = members.get_mut(name) else {
        return;
    };
    let Some(base64) = canonical(text) else {
        return;
    };
    let index = first + blocks.len();
    let (block, place) = match split(&mime).map(|(kind, _)| kind) {
        Some("image") => (ContentBlock::image(base64, mime), "data"),
        Some("audio") => (ContentBlock::audio(base64, mime), "data"),
        _ => {
            let uri = uri(run, index, &filename);
            let blob = ResourceContents::blob(base64, uri).with_mime_type(mime);
            (ContentBlock::resource(blob), "resource/blob")
        }
    };
    *text = format!("#/content/{index}/{place}");
    blocks.push(block);
}

/// The member that holds bytes, and of which type they are.
fn binary_member(members: &JsonObject) -> Option<(String, String)> {
    let mime = members.get("mimeType")?.as_str()?;
    let encoding = members.get("encoding").map(|it| it == "base64");
    if encoding == Some(false) {
        return None;
    }
    let is_text = |name: &&str| members.get(*name).is_some_and(Value::is_string);
    let named = encoding.is_some().then_some(PLAIN_NAMES);
    let mut names = named.into_iter().flatten().chain(kind_names(mime));
    let name = names.find(is_text)?;
    Some((name.to_string(), mime.to_string()))
}

/// `type` and `subtype`, if both are tokens.
fn split(mime: &str) -> Option<(&str, &str)> {
    let essence = mime.split(';').next()?.trim();
    let (kind, subtype) = essence.split_once('/')?;
    let is_token = |text: &str| {
        let valid = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte);
        !text.is_empty() && text.bytes().all(valid)
    };
    (is_token(kind) && is_token(subtype)).then_some((kind, subtype))
}

/// Base64 of the standard alphabet, padded and in one line, as clients insist on; nothing if the
/// text is no base64.
fn canonical(text: &mut String) -> Option<String> {
    let is_ours = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    let mut clean = if text.bytes().any(|byte| byte.is_ascii_whitespace()) {
        text.split_ascii_whitespace().collect()
    } else {
        std::mem::take(text)
    };
    let length = clean.trim_end_matches('=').len();
    let padding = clean.len() - length;
    if length == 0
        || length % 4 == 1
        || padding > 2
        || !clean.as_bytes()[..length].iter().copied().all(is_ours)
    {
        if text.is_empty() {
            *text = clean;
        }
        return None;
    }
    clean.truncate(length);
    while clean.len() % 4 != 0 {
        clean.push('=');
    }
    Some(clean)
}

/// Names an embedded resource. It is not for reading: the bytes come with it.
fn uri(run: RunId, index: usize, filename: &str) -> String {
    let base = format!("caphost://{run}/{index}");
    match Url::parse(&base) {
        Ok(mut url) => {
            if let Ok(mut segments) = url.path_segments_mut() {
                segments.push(filename);
            }
            url.into()
        }
        Err(_) => base,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn extracted(mut data: Value) -> (Value, Value) {
        let run = "6a0e9d0c-6c0b-4a0e-9b9e-0b8f4d2a1c3e".parse().unwrap();
        let blocks = extract(&mut data, 1, run);
        (data, json!(blocks))
    }

    #[test]
    fn a_file_under_the_name_of_its_type_becomes_an_embedded_resource() {
        let (data, blocks) = extracted(json!({
            "pdf": "JVBERi0=", "mimeType": "application/pdf", "pageCount": 2, "encoding": "base64",
            "filename": "a b.pdf",
        }));
        assert_eq!(data["pdf"], "#/content/1/resource/blob");
        assert_eq!(data["pageCount"], 2);
        assert_eq!(
            blocks,
            json!([{ "type": "resource", "resource": {
                "uri": "caphost://6a0e9d0c-6c0b-4a0e-9b9e-0b8f4d2a1c3e/1/a%20b.pdf",
                "mimeType": "application/pdf", "blob": "JVBERi0=",
            } }])
        );
    }

    #[test]
    fn images_and_sounds_have_content_types_of_their_own() {
        let (data, blocks) = extracted(json!([
            { "image": "iVBORw0KGgo=", "mimeType": "image/png" },
            { "data": "UklG", "mimeType": "audio/wav", "encoding": "base64" },
        ]));
        assert_eq!(data[0]["image"], "#/content/1/data");
        assert_eq!(data[1]["data"], "#/content/2/data");
        assert_eq!(
            blocks,
            json!([
                { "type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png" },
                { "type": "audio", "data": "UklG", "mimeType": "audio/wav" },
            ])
        );
    }

    #[test]
    fn what_is_no_binary_value_stays_as_it_is() {
        for plain in [
            json!({ "content": "hello", "mimeType": "text/plain", "encoding": "utf-8" }),
            json!({ "content": "hello", "mimeType": "text/plain" }),
            json!({ "content": "not base64!", "mimeType": "image/png", "encoding": "base64" }),
            json!({ "content": "", "mimeType": "image/png", "encoding": "base64" }),
            json!({ "content": "AAAAA", "mimeType": "image/png", "encoding": "base64" }),
            json!({ "content": "AAAA====", "mimeType": "image/png", "encoding": "base64" }),
            json!({ "downloadUrl": "blob:x", "mimeType": "application/zip", "size": 3 }),
            json!({ "content": 7, "mimeType": "image/png", "encoding": "base64" }),
            json!({ "content": "AAAA", "mimeType": "nonsense", "encoding": "hex" }),
            json!({ "pdf": "AAAA", "mimeType": 5 }),
            json!("AAAA"),
            json!(null),
        ] {
            let (data, blocks) = extracted(plain.clone());
            assert_eq!((data, blocks), (plain, json!([])));
        }
    }

    #[test]
    fn base64_is_given_as_clients_want_it() {
        let (_, blocks) = extracted(json!([
            { "content": "aGVs\r\nbG8", "mimeType": "image/png", "encoding": "base64" },
            { "png": "aGVsbA", "mimeType": "image/png" },
        ]));
        assert_eq!(blocks[0]["data"], "aGVsbG8=");
        assert_eq!(blocks[1]["data"], "aGVsbA==");
    }

    #[test]
    fn a_type_that_makes_no_sense_is_still_passed_on_as_a_resource() {
        let (data, blocks) = extracted(json!({
            "content": "AAAA", "mimeType": "nonsense", "encoding": "base64",
        }));
        assert_eq!(data["content"], "#/content/1/resource/blob");
        assert_eq!(blocks[0]["resource"]["mimeType"], "nonsense");
    }
}
