//! The result of a call: its file, and how the file is written.

use serde_json::{Value, json};

use super::output::Output;
use crate::cli::terminal::{self, one_line};
use crate::wire::binary::Binary;

/// The content to write for a result.
#[derive(Debug)]
pub(super) struct Contents {
    pub bytes: Vec<u8>,
    mime_type: Option<String>,
    /// The data without the file's content, if anything is left.
    pub rest: Option<Value>,
    /// The URL of the file, if the data only refers to a file.
    reference: Option<String>,
}

impl Contents {
    /// The file in the data. Without a file, the data as JSON.
    pub fn of(data: &Value, output: &Output) -> Result<Self, String> {
        if let Some(file) = file_of(data) {
            return file;
        }
        let reference = data["downloadUrl"].as_str();
        if let Some(url) = reference.filter(|url| url.starts_with("blob:")) {
            let (url, output) = (one_line(url), output.shown());
            return Err(format!(
                "nothing is written to {output}: the file is at {url}, which only the page can read"
            ));
        }
        Ok(Contents {
            bytes: format!("{}\n", terminal::json(data)).into_bytes(),
            mime_type: Some("application/json".into()),
            rest: None,
            reference: reference.map(String::from),
        })
    }

    /// `{ path, bytes, mimeType? }`
    pub fn document(&self, output: &Output) -> Value {
        let mut document = json!({ "path": output.shown(), "bytes": self.bytes.len() });
        if let Some(mime_type) = &self.mime_type {
            document["mimeType"] = mime_type.as_str().into();
        }
        document
    }

    /// The line for people.
    pub fn line(&self, output: &Output) -> String {
        let mut line = format!("Wrote {} ({} bytes", output.shown(), self.bytes.len());
        if let Some(mime_type) = &self.mime_type {
            line.push_str(&format!(", {}", one_line(mime_type)));
        }
        line.push(')');
        if let Some(url) = &self.reference {
            let url = one_line(url);
            line.push_str(&format!("\nIt is a reference: the file itself is at {url}"));
        }
        line
    }
}

/// Text that looks like base64 and has at least this length is not for reading.
const LONG: usize = 256;

/// The file in some data: the data itself, or one of its fields. `Err` if the data declares a file that
/// cannot be read.
fn file_of(data: &Value) -> Option<Result<Contents, String>> {
    data.as_object()?;
    let files = Binary::all(data);
    let of_field = |file: &&Binary| file.path.len() == 2;
    let file = match files.first()? {
        whole if whole.path.len() == 1 => whole,
        // With several files it is unclear which one is meant.
        _ if files.iter().filter(of_field).count() > 1 => return None,
        _ => files.iter().find(of_field)?,
    };
    Some(read(file, data))
}

fn read(file: &Binary, data: &Value) -> Result<Contents, String> {
    let field = file.path.join(".");
    let bytes = file
        .encoding
        .decode(file.text(data))
        .map_err(|error| format!("{field} of the result is not base64: {error}"))?;
    if let Some(size) = file.size.filter(|size| *size != bytes.len() as u64) {
        let have = bytes.len();
        return Err(format!(
            "{field} of the result has {have} bytes, and should have {size}"
        ));
    }
    let mut rest = data.clone();
    file.remove(&mut rest);
    Ok(Contents {
        bytes,
        mime_type: file.media_type.clone(),
        rest: Some(rest),
        reference: None,
    })
}

/// The data for people: long base64 is shortened.
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
        file_of(data).map(|it| it.map(|it| it.bytes))
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
            let file = file_of(&data).unwrap().unwrap();
            assert_eq!(file.bytes, b"hi", "{data}");
            assert_eq!(file.rest, Some(rest));
        }
    }

    #[test]
    fn a_field_inherits_the_type_of_the_data() {
        let data = json!({ "pdf": { "content": "", "encoding": "base64" }, "mimeType": "application/pdf" });
        let file = file_of(&data).unwrap().unwrap();
        assert_eq!(file.mime_type.as_deref(), Some("application/pdf"));
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
