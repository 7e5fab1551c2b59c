//! Binary data in what a capability returns.

use serde_json::{Map, Value};

use crate::fronts::rap::wire::ContentItem;

/// Where ABP puts the data of a file.
const CONTENT: &str = "content";
/// Members that describe the data and are never the data.
const DESCRIPTIONS: [&str; 5] = ["mimeType", "encoding", "filename", "size", "name"];

/// ABP's `{content, mimeType, encoding, size?, filename?}`, or the same with the data under
/// another name, such as `pdf` or `image`.
#[derive(Debug)]
pub(super) struct Binary {
    data: String,
    media_type: String,
    is_text: bool,
    description: Map<String, Value>,
}

impl Binary {
    /// Takes the data out of what a capability returned, or gives that back as it was.
    pub(super) fn find(value: Value) -> Result<Self, Value> {
        let Value::Object(mut description) = value else {
            return Err(value);
        };
        let text = |key: &str| description.get(key).and_then(Value::as_str);
        let (Some(media_type), Some(encoding)) = (text("mimeType"), text("encoding")) else {
            return Err(Value::Object(description));
        };
        let is_text = match encoding {
            "base64" => false,
            "utf-8" | "utf8" => true,
            _ => return Err(Value::Object(description)),
        };
        let media_type = media_type.to_string();
        let Some(key) = data_key(&description, is_text) else {
            return Err(Value::Object(description));
        };
        match description.remove(&key) {
            Some(Value::String(data)) => Ok(Binary {
                data,
                media_type,
                is_text,
                description,
            }),
            _ => Err(Value::Object(description)),
        }
    }

    /// Its description as JSON, then the data: a picture as one, anything else as base64 text.
    pub(super) fn into_items(self) -> Vec<ContentItem> {
        let Binary {
            data,
            media_type,
            is_text,
            description,
        } = self;
        let description = ContentItem::Text {
            text: Value::Object(description).to_string(),
        };
        let is_image = !is_text && media_type.starts_with("image/");
        let data = if is_image {
            ContentItem::Image { data, media_type }
        } else {
            ContentItem::Text { text: data }
        };
        vec![description, data]
    }
}

/// Which member is the data: `content`, else the longest that may be.
fn data_key(members: &Map<String, Value>, is_text: bool) -> Option<String> {
    let fits = |value: &Value| {
        value
            .as_str()
            .is_some_and(|text| is_text || is_base64(text))
    };
    if members.get(CONTENT).is_some_and(fits) {
        return Some(CONTENT.into());
    }
    if is_text {
        return None;
    }
    let others = members
        .iter()
        .filter(|(key, _)| !DESCRIPTIONS.contains(&key.as_str()));
    let candidates = others.filter(|(_, value)| fits(value));
    let longest = candidates.max_by_key(|(_, value)| value.as_str().map_or(0, str::len));
    longest.map(|(key, _)| key.clone())
}

/// Whether a text may be base64, with padding or without.
fn is_base64(text: &str) -> bool {
    let bare = text.trim_end_matches('=');
    !bare.is_empty()
        && text.len() - bare.len() <= 2
        && bare.len() % 4 != 1
        && bare
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn items(value: Value) -> Option<Vec<ContentItem>> {
        Binary::find(value).ok().map(Binary::into_items)
    }

    #[test]
    fn pictures_are_images() {
        let image = json!({ "image": "iVBORw==", "mimeType": "image/png", "encoding": "base64", "width": 3 });
        let items = items(image).unwrap();
        assert_eq!(
            items[1],
            ContentItem::Image {
                data: "iVBORw==".into(),
                media_type: "image/png".into()
            }
        );
        let ContentItem::Text { text } = &items[0] else {
            panic!("{items:?}")
        };
        assert!(text.contains(r#""width":3"#) && !text.contains("iVBOR"));
    }

    #[test]
    fn content_is_the_data_whatever_else_there_is() {
        let file = json!({ "content": "AAAA", "note": "AAAAAAAA", "mimeType": "application/zip", "encoding": "base64" });
        assert_eq!(
            items(file).unwrap()[1],
            ContentItem::Text {
                text: "AAAA".into()
            }
        );
        let file = json!({ "content": "<svg/>", "mimeType": "image/svg+xml", "encoding": "utf-8" });
        assert_eq!(
            items(file).unwrap()[1],
            ContentItem::Text {
                text: "<svg/>".into()
            }
        );
    }

    #[test]
    fn what_is_not_binary_is_left_as_it_is() {
        for value in [
            json!("AAAA"),
            json!([1]),
            json!({ "content": "AAAA" }),
            json!({ "content": "AAAA", "mimeType": "a/b" }),
            json!({ "content": "not base64!", "mimeType": "a/b", "encoding": "base64" }),
            json!({ "content": 7, "mimeType": "a/b", "encoding": "base64" }),
            json!({ "downloadUrl": "blob:x", "mimeType": "a/b", "encoding": "base64", "filename": "AAAA" }),
            json!({ "data": {}, "mimeType": "a/b", "encoding": "arraybuffer" }),
            json!({ "note": "text", "mimeType": "a/b", "encoding": "utf-8" }),
        ] {
            assert_eq!(Binary::find(value.clone()).unwrap_err(), value);
        }
    }
}
