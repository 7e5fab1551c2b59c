//! What a call returned, on its way into a file.

use serde_json::{Value, json};

use super::binary::file_of;
use super::output::Output;
use crate::cli::terminal::{self, one_line};

/// What was written.
#[derive(Debug)]
pub(super) struct Written {
    bytes: usize,
    mime_type: Option<String>,
    /// The data without what is in the file now, if anything is left.
    pub rest: Option<Value>,
    /// Where the file is that the data only refers to.
    reference: Option<String>,
}

/// Writes the file in the data, or the data as JSON if there is none. Blocks.
pub(super) fn write(data: &Value, output: &Output) -> Result<Written, String> {
    if let Some(file) = file_of(data) {
        let file = file?;
        output.write(&file.bytes)?;
        return Ok(Written {
            bytes: file.bytes.len(),
            rest: Some(file.rest),
            mime_type: file.mime_type,
            reference: None,
        });
    }
    let text = format!("{}\n", terminal::json(data));
    output.write(text.as_bytes())?;
    Ok(Written {
        bytes: text.len(),
        mime_type: Some("application/json".into()),
        rest: None,
        reference: data["downloadUrl"].as_str().map(String::from),
    })
}

impl Written {
    /// `{ path, bytes, mimeType? }`
    pub fn document(&self, output: &Output) -> Value {
        let mut document = json!({ "path": output.shown(), "bytes": self.bytes });
        if let Some(mime_type) = &self.mime_type {
            document["mimeType"] = mime_type.as_str().into();
        }
        document
    }

    /// For a person.
    pub fn line(&self, output: &Output) -> String {
        let mut line = format!("Wrote {} ({} bytes", output.shown(), self.bytes);
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
