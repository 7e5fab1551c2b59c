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
        let bytes = self.bytes.len() as u64;
        let mut line = wrote(output, bytes, self.mime_type.as_deref());
        if let Some(url) = &self.reference {
            let url = one_line(url);
            line.push_str(&format!("\nIt is a reference: the file itself is at {url}"));
        }
        line
    }
}

/// The line for people about a file that was written.
pub(super) fn wrote(output: &Output, bytes: u64, mime_type: Option<&str>) -> String {
    let output = output.shown();
    match mime_type {
        Some(mime_type) => format!("Wrote {output} ({bytes} bytes, {})", one_line(mime_type)),
        None => format!("Wrote {output} ({bytes} bytes)"),
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
mod tests;
