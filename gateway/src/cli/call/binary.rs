//! The file in a result: ABP's `{ content, mimeType, encoding }`, or the same with a name of the
//! capability's own for its content, such as `pdf`.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::{Map, Value};

/// Padding is optional.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Text from that length on that looks like base64 is not for reading.
const LONG: usize = 256;

/// What a result's file is in.
#[derive(Debug, PartialEq)]
pub(super) struct Binary {
    pub bytes: Vec<u8>,
    pub mime_type: Option<String>,
    /// The field that holds it, from the data down.
    path: Vec<String>,
}

impl Binary {
    /// The file in some data: the data itself is one, or one of its fields is. `Err` when it says
    /// that it has one and what is there cannot be read.
    pub fn of(data: &Value) -> Option<Result<Self, String>> {
        let data = data.as_object()?;
        if let Some(name) = content_of(data) {
            return Some(read(data, name, vec![name.to_string()]));
        }
        let mut inner = data.iter().filter_map(|(field, it)| {
            let it = it.as_object()?;
            Some((field, it, content_of(it)?))
        });
        let (field, it, name) = inner.next()?;
        // Of several nobody knows which is wanted.
        if inner.next().is_some() {
            return None;
        }
        let path = vec![field.clone(), name.to_string()];
        let mut binary = read(it, name, path);
        if let Ok(Binary {
            mime_type: it @ None,
            ..
        }) = &mut binary
        {
            *it = text(data, "mimeType").map(String::from);
        }
        Some(binary)
    }

    /// The data without it.
    pub fn rest(&self, data: &Value) -> Value {
        let mut rest = data.clone();
        let mut place = &mut rest;
        for (depth, field) in self.path.iter().enumerate() {
            let Some(object) = place.as_object_mut() else {
                break;
            };
            if depth + 1 == self.path.len() {
                object.remove(field);
                break;
            }
            place = &mut object[field];
        }
        rest
    }
}

/// The field with the content of what declares an encoding.
fn content_of(object: &Map<String, Value>) -> Option<&str> {
    let encoding = text(object, "encoding")?;
    if !["base64", "utf-8"].contains(&encoding) {
        return None;
    }
    // `application/pdf` may be in `pdf`, `image/png` in `png` or `image`.
    let mime_type = text(object, "mimeType").unwrap_or_default();
    let (class, format) = mime_type.split_once('/').unwrap_or_default();
    let named = ["content", format, class, "data"];
    let named = named.into_iter().find(|it| text(object, it).is_some());
    named
        .and_then(|name| object.get_key_value(name))
        .map(|(name, _)| &**name)
}

fn read(object: &Map<String, Value>, name: &str, path: Vec<String>) -> Result<Binary, String> {
    let content = text(object, name).unwrap_or_default();
    let bytes = if text(object, "encoding") == Some("utf-8") {
        content.as_bytes().to_vec()
    } else {
        let decoded = if content.contains(|it: char| it.is_ascii_whitespace()) {
            let whole: String = content.split_ascii_whitespace().collect();
            BASE64.decode(whole)
        } else {
            BASE64.decode(content)
        };
        let field = path.join(".");
        decoded.map_err(|error| format!("{field} of the result is not base64: {error}"))?
    };
    if let Some(size) = object.get("size").and_then(Value::as_u64)
        && size != bytes.len() as u64
    {
        let field = path.join(".");
        let have = bytes.len();
        return Err(format!(
            "{field} of the result has {have} bytes, and should have {size}"
        ));
    }
    let mime_type = text(object, "mimeType").map(String::from);
    Ok(Binary {
        bytes,
        mime_type,
        path,
    })
}

fn text<'a>(object: &'a Map<String, Value>, field: &str) -> Option<&'a str> {
    object.get(field)?.as_str()
}

/// The data for a person to read: long base64 is cut.
pub(super) fn abridged(data: &Value) -> Value {
    match data {
        Value::String(text) if text.len() >= LONG && is_base64(text) => {
            let kept = &text[..32];
            let length = text.len();
            format!("{kept}… ({length} characters; --output FILE writes what they encode)").into()
        }
        Value::Array(items) => items.iter().map(abridged).collect(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, it)| (name.clone(), abridged(it)));
            Value::Object(fields.collect())
        }
        other => other.clone(),
    }
}

fn is_base64(text: &str) -> bool {
    let letter = |it: u8| it.is_ascii_alphanumeric() || b"+/-_=".contains(&it);
    text.bytes().all(letter)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bytes(data: &Value) -> Option<Result<Vec<u8>, String>> {
        Binary::of(data).map(|it| it.map(|it| it.bytes))
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
            let binary = Binary::of(&data).unwrap().unwrap();
            assert_eq!(binary.bytes, b"hi", "{data}");
            assert_eq!(binary.rest(&data), rest);
        }
    }

    #[test]
    fn a_field_inherits_the_type_of_the_data() {
        let data = json!({ "pdf": { "content": "", "encoding": "base64" }, "mimeType": "application/pdf" });
        let binary = Binary::of(&data).unwrap().unwrap();
        assert_eq!(binary.mime_type.as_deref(), Some("application/pdf"));
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
}
