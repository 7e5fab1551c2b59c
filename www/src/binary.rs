//! Bytes in parameters and results: base64 text, or raw bytes on transports that carry them.

use crate::failure::Failure;
use crate::pace::Pace;
use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Bytes converted between two checkpoints: a multiple of 3, and also of 4 for the text.
const STEP: usize = 96 * 1024;

const STANDARD: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The encoding of bytes in a result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// Text, which every transport carries.
    #[default]
    Base64,
    /// An ArrayBuffer, for transports that carry one.
    ArrayBuffer,
}

/// Bytes in a result, in the encoding that the caller requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// Standard base64 with padding.
    Base64(String),
    /// The bytes themselves.
    Bytes(Vec<u8>),
}

impl Payload {
    /// Writes `bytes` in the requested encoding.
    pub async fn new<P: Pace>(bytes: Vec<u8>, encoding: Encoding, pace: &P) -> Self {
        if encoding == Encoding::ArrayBuffer {
            return Self::Bytes(bytes);
        }
        let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
        for chunk in bytes.chunks(STEP) {
            STANDARD.encode_string(chunk, &mut text);
            pace.checkpoint().await;
        }
        Self::Base64(text)
    }
}

impl Serialize for Payload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Base64(text) => serializer.serialize_str(text),
            #[cfg(target_arch = "wasm32")]
            Self::Bytes(bytes) => {
                let buffer = js_sys::Uint8Array::from(bytes.as_slice()).buffer();
                serde_wasm_bindgen::preserve::serialize(&buffer, serializer)
            }
            #[cfg(not(target_arch = "wasm32"))]
            Self::Bytes(bytes) => serializer.serialize_bytes(bytes),
        }
    }
}

/// Bytes in parameters: base64 text, a `data:` URL, raw bytes (ArrayBuffer, Uint8Array), or
/// `{content, mimeType?, encoding?, size?, filename?}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Base64 text or a `data:` URL.
    Text(String),
    /// The bytes themselves.
    Bytes(Vec<u8>),
}

impl Source {
    /// Returns the bytes. `name` is the parameter's name, for the message if its value cannot be
    /// read.
    pub async fn bytes<P: Pace>(self, name: &str, pace: &P) -> Result<Vec<u8>, Failure> {
        let text = match self {
            Self::Bytes(bytes) => return Ok(bytes),
            Self::Text(text) => text,
        };
        let mut encoded = text.as_str();
        if let Some(rest) = encoded.strip_prefix("data:") {
            let (head, body) = rest
                .split_once(',')
                .ok_or_else(|| Failure::invalid(format!("{name}: a data: URL has a comma")))?;
            if !head.trim_end().to_ascii_lowercase().ends_with(";base64") {
                return Err(Failure::invalid(format!(
                    "{name}: a data: URL must be base64"
                )));
            }
            encoded = body;
        }
        let mut bytes = Vec::with_capacity(encoded.len() / 4 * 3 + 3);
        let mut pending = Vec::with_capacity(STEP + 4);
        for chunk in encoded.as_bytes().chunks(STEP) {
            pending.extend(chunk.iter().filter(|byte| !byte.is_ascii_whitespace()));
            // Only the last piece may be padded or end within a group of four characters.
            let whole = pending.len() - pending.len() % 4;
            let whole = if pending[..whole].ends_with(b"=") {
                whole - 4
            } else {
                whole
            };
            decode(&pending[..whole], &mut bytes, name)?;
            pending.drain(..whole);
            pace.checkpoint().await;
        }
        decode(&pending, &mut bytes, name)?;
        Ok(bytes)
    }
}

fn decode(text: &[u8], bytes: &mut Vec<u8>, name: &str) -> Result<(), Failure> {
    STANDARD
        .decode_vec(text, bytes)
        .map_err(|error| Failure::invalid(format!("{name}: not base64: {error}")))
}

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SourceVisitor)
    }
}

struct SourceVisitor;

impl<'de> Visitor<'de> for SourceVisitor {
    type Value = Source;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("base64 text, a data: URL, bytes, or {content, mimeType, encoding}")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Source, E> {
        Ok(Source::Text(text.into()))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Source, E> {
        Ok(Source::Text(text))
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Source, E> {
        Ok(Source::Bytes(bytes.into()))
    }

    fn visit_byte_buf<E: de::Error>(self, bytes: Vec<u8>) -> Result<Source, E> {
        Ok(Source::Bytes(bytes))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Source, A::Error> {
        let mut bytes = Vec::with_capacity(items.size_hint().unwrap_or(0).min(1 << 20));
        while let Some(byte) = items.next_element()? {
            bytes.push(byte);
        }
        Ok(Source::Bytes(bytes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Source, A::Error> {
        let (mut content, mut encoding) = (None, None);
        while let Some(field) = fields.next_key::<String>()? {
            match field.as_str() {
                "content" => content = Some(fields.next_value::<Source>()?),
                "encoding" => encoding = fields.next_value::<Option<String>>()?,
                _ => {
                    fields.next_value::<de::IgnoredAny>()?;
                }
            }
        }
        match (content, encoding.as_deref()) {
            (None, _) => Err(de::Error::missing_field("content")),
            (Some(Source::Text(text)), Some("utf-8")) => Ok(Source::Bytes(text.into_bytes())),
            (Some(content), None | Some("base64" | "utf-8")) => Ok(content),
            (Some(_), Some(other)) => Err(de::Error::unknown_variant(other, &["base64", "utf-8"])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pace::testing::{Counting, finish};
    use serde_json::json;

    fn read(value: serde_json::Value) -> Result<Vec<u8>, Failure> {
        let source: Source = serde_json::from_value(value).expect("a source");
        finish(source.bytes("image", &Counting::default()))
    }

    #[test]
    fn base64_survives_the_way_there_and_back() {
        for length in [0, 1, 2, 3, STEP - 1, STEP, STEP + 1, 3 * STEP + 2] {
            let bytes: Vec<u8> = (0..length).map(|i| (i * 7) as u8).collect();
            let pace = Counting::default();
            let Payload::Base64(text) =
                finish(Payload::new(bytes.clone(), Encoding::Base64, &pace))
            else {
                panic!("base64 was asked for")
            };
            assert_eq!(text.len(), length.div_ceil(3) * 4);
            assert_eq!(read(json!(text)).unwrap(), bytes);
            assert_eq!(
                read(json!(format!("data:image/png;base64,{text}"))).unwrap(),
                bytes
            );
            assert_eq!(
                read(json!({"content": text, "mimeType": "image/png", "encoding": "base64"}))
                    .unwrap(),
                bytes
            );
        }
    }

    #[test]
    fn base64_may_be_wrapped_and_unpadded() {
        assert_eq!(read(json!("aGVs\r\nbG8")).unwrap(), b"hello");
        assert_eq!(read(json!([104, 105])).unwrap(), b"hi");
        assert_eq!(
            read(json!({"content": "hi", "encoding": "utf-8"})).unwrap(),
            b"hi"
        );
    }

    #[test]
    fn what_is_not_base64_is_refused() {
        for bad in [
            json!("%%%"),
            json!("aGVsbG8=aGVs"),
            json!("data:image/png,abc"),
            json!("data:x"),
        ] {
            assert_eq!(
                read(bad.clone()).unwrap_err().code,
                "INVALID_PARAMS",
                "{bad}"
            );
        }
        assert!(serde_json::from_value::<Source>(json!({"mimeType": "image/png"})).is_err());
        assert!(
            serde_json::from_value::<Source>(json!({"content": "", "encoding": "hex"})).is_err()
        );
        assert!(serde_json::from_value::<Source>(json!(12)).is_err());
    }
}
