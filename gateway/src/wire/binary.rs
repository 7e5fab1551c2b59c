//! Files in the result of a call: where they stand, and of which type they are.
//!
//! ABP has one form for a file, `{ content, mimeType, encoding, size?, filename? }`, and apps often give the
//! content a name of its own, such as `pdf`. One rule finds both forms, for every dialect:
//!
//! - An object holds a file when its `encoding` is `base64` or `utf-8` and a text stands in
//!   `content`, in `data`, or in a member named after its `mimeType`: the subtype or the type, so
//!   `pdf` of `application/pdf`, and `png` or `image` of `image/png`. Of several such texts it is the
//!   first that can be read.
//! - Without an `encoding`, base64 in a member named after the `mimeType` is a file as well, unless
//!   that is a `text/…` type: such a member holds the text itself.
//! - An object without a `mimeType` has that of the object around it.
//! - The names after the `mimeType` are in lower case, whatever the case of the `mimeType` is.
//! - Base64 is of the standard alphabet; white space in it and missing padding do no harm.

use std::borrow::Cow;

use base64::engine::general_purpose::STANDARD;
use base64::{DecodeError, Engine};
use memchr::memmem;
use serde_json::{Map, Value};

use super::Json;

/// One file in a result. Its content stays in the result, where [`Binary::path`] leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binary {
    /// The path from the data to the member that holds the content.
    pub path: Vec<String>,
    /// The `mimeType` of the object, or of an object around it.
    pub media_type: Option<String>,
    /// How the content is written.
    pub encoding: Encoding,
    /// Whether the content can be read by its `encoding`.
    pub is_valid: bool,
    /// The app's name for the file.
    pub filename: Option<String>,
    /// The size in bytes, as the app says.
    pub size: Option<u64>,
}

/// How the content of a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// As base64.
    Base64,
    /// As plain text.
    Utf8,
}

/// The value of JSON that may hold a file: it has a member `mimeType` or `encoding`, or a `\u` that may hide
/// one. Other large JSON need not be read.
pub fn opened(json: &Json) -> Option<Value> {
    let text = json.as_str().as_bytes();
    let has = |part: &str| memmem::find(text, part.as_bytes()).is_some();
    let may_hold_a_file = has(r#""mimeType""#) || has(r#""encoding""#) || has(r"\u");
    may_hold_a_file.then(|| json.value().ok()).flatten()
}

impl Binary {
    /// All files in `data`, in the order of the members. A file that contains others comes before them.
    pub fn all(data: &Value) -> Vec<Self> {
        let mut found = Vec::new();
        visit(data, None, &mut Vec::new(), &mut found);
        found
    }

    /// The file, if `data` itself is one.
    pub fn of(data: &Value) -> Option<Self> {
        of_object(data.as_object()?, None, &[])
    }

    /// The name of the member that holds the content.
    pub fn member(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }

    /// The text of the content in `data`.
    pub fn text<'a>(&self, data: &'a Value) -> &'a str {
        let found = data.pointer(&pointer(&self.path));
        found.and_then(Value::as_str).unwrap_or_default()
    }

    /// Whether the content is base64 whose bytes can be given in another form.
    pub fn has_bytes(&self, data: &Value) -> bool {
        let text = self.text(data);
        let is_empty = text
            .bytes()
            .all(|byte| byte.is_ascii_whitespace() || byte == b'=');
        self.encoding == Encoding::Base64 && self.is_valid && !is_empty
    }

    /// The text of the content in `data`, to be replaced.
    pub fn text_mut<'a>(&self, data: &'a mut Value) -> Option<&'a mut String> {
        match data.pointer_mut(&pointer(&self.path)) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// The object in `data` that holds the content.
    pub fn object_mut<'a>(&self, data: &'a mut Value) -> Option<&'a mut Map<String, Value>> {
        let (_, object) = self.path.split_last()?;
        data.pointer_mut(&pointer(object))?.as_object_mut()
    }

    /// Removes the content from `data`, and leaves the description of the file.
    pub fn remove(&self, data: &mut Value) -> Option<String> {
        match self.object_mut(data)?.remove(self.member())? {
            Value::String(text) => Some(text),
            _ => None,
        }
    }
}

impl Encoding {
    fn of(name: &str) -> Option<Self> {
        match name {
            "base64" => Some(Encoding::Base64),
            "utf-8" | "utf8" => Some(Encoding::Utf8),
            _ => None,
        }
    }

    /// The bytes that `text` stands for.
    pub fn decode(self, text: &str) -> Result<Vec<u8>, DecodeError> {
        match self {
            Encoding::Base64 => STANDARD.decode(canonical(text.to_string())),
            Encoding::Utf8 => Ok(text.as_bytes().to_vec()),
        }
    }

    fn fits(self, text: &str) -> bool {
        self == Encoding::Utf8 || is_base64(text)
    }
}

/// The members that may hold the content of a file of that type, the likeliest first; `declared`
/// says whether it has an `encoding`.
pub fn content_members(
    media_type: Option<&str>,
    declared: bool,
) -> impl Iterator<Item = Cow<'static, str>> {
    let plain = declared.then_some(["content", "data"].map(Cow::Borrowed));
    let named = media_type.and_then(split);
    let named = named.filter(|(kind, _)| declared || *kind != "text");
    let named = named.map(|(kind, subtype)| [subtype, kind].map(Cow::Owned));
    plain.into_iter().chain(named).flatten()
}

/// The type and the subtype of a media type in lower case, if both are tokens.
fn split(media_type: &str) -> Option<(String, String)> {
    let essence = media_type.split(';').next()?.trim();
    let (kind, subtype) = essence.split_once('/')?;
    let is_token = |text: &str| {
        let valid = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte);
        !text.is_empty() && text.bytes().all(valid)
    };
    let are_tokens = is_token(kind) && is_token(subtype);
    are_tokens.then(|| (kind.to_ascii_lowercase(), subtype.to_ascii_lowercase()))
}

/// Base64 in one line and with padding, as most readers need it.
pub fn canonical(mut text: String) -> String {
    text.retain(|letter| !letter.is_ascii_whitespace());
    text.truncate(text.trim_end_matches('=').len());
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

fn visit<'a>(
    value: &'a Value,
    media_type: Option<&'a str>,
    path: &mut Vec<String>,
    found: &mut Vec<Binary>,
) {
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate().filter(|(_, it)| may_hold(it)) {
                path.push(index.to_string());
                visit(item, media_type, path, found);
                path.pop();
            }
        }
        Value::Object(members) => {
            found.extend(of_object(members, media_type, path));
            let media_type = text(members, "mimeType").or(media_type);
            for (name, member) in members.iter().filter(|(_, it)| may_hold(it)) {
                path.push(name.clone());
                visit(member, media_type, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}

fn may_hold(value: &Value) -> bool {
    value.is_object() || value.is_array()
}

/// The file in the object at `path`. `around` is the type of the object around it.
fn of_object(
    members: &Map<String, Value>,
    around: Option<&str>,
    path: &[String],
) -> Option<Binary> {
    let declared = match members.get("encoding") {
        Some(encoding) => Some(Encoding::of(encoding.as_str()?)?),
        None => None,
    };
    let media_type = match (members.get("mimeType"), declared) {
        (Some(media_type), _) => Some(media_type.as_str()?),
        (None, Some(_)) => around,
        (None, None) => return None,
    };
    let encoding = declared.unwrap_or(Encoding::Base64);
    let candidates = content_members(media_type, declared.is_some());
    let texts = candidates.filter_map(|name| Some((text(members, &name)?, name)));
    let mut unreadable = None;
    let readable = texts
        .inspect(|(_, name)| {
            unreadable.get_or_insert_with(|| name.clone());
        })
        .find(|(text, _)| encoding.fits(text));
    let is_valid = readable.is_some();
    // An object that only looks like a file may be something else.
    let unreadable = unreadable.filter(|_| declared.is_some());
    let member = readable.map(|(_, name)| name).or(unreadable)?;
    let mut path = path.to_vec();
    path.push(member.to_string());
    Some(Binary {
        path,
        media_type: media_type.map(str::to_string),
        encoding,
        is_valid,
        filename: text(members, "filename").map(str::to_string),
        size: members.get("size").and_then(Value::as_u64),
    })
}

fn text<'a>(members: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    members.get(name)?.as_str()
}

fn is_base64(text: &str) -> bool {
    let (mut digits, mut padding) = (0_usize, 0);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        match byte {
            b'=' => padding += 1,
            _ if padding > 0 => return false,
            b'+' | b'/' => digits += 1,
            _ if byte.is_ascii_alphanumeric() => digits += 1,
            _ => return false,
        }
    }
    digits % 4 != 1 && padding <= 2
}

/// A JSON Pointer.
fn pointer(path: &[String]) -> String {
    let escaped = |name: &String| format!("/{}", name.replace('~', "~0").replace('/', "~1"));
    path.iter().map(escaped).collect()
}

#[cfg(test)]
mod tests;
