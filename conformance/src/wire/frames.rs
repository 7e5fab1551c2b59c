//! How messages stand in a stream of bytes.

use std::io;

use clap::ValueEnum;
use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

/// How messages stand in a stream of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Frames {
    /// One message a line, as MCP and ACP have it.
    Lines,
    /// Each after a header `Content-Length`, as LSP has it.
    Headers,
}

impl Frames {
    /// Writes `message` at the end of `bytes`.
    pub fn write(self, message: &Value, bytes: &mut Vec<u8>) {
        let text = message.to_string();
        match self {
            Self::Lines => bytes.extend_from_slice(format!("{text}\n").as_bytes()),
            Self::Headers => bytes.extend_from_slice(
                format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes(),
            ),
        }
    }

    /// Reads the next message. `None` at the end; `Some(Err)` for text that is no JSON.
    pub async fn read(
        self,
        from: &mut (impl AsyncBufRead + Unpin),
    ) -> io::Result<Option<Result<Value, String>>> {
        match self {
            Self::Lines => loop {
                let mut line = String::new();
                if from.read_line(&mut line).await? == 0 {
                    return Ok(None);
                }
                if !line.trim().is_empty() {
                    return Ok(Some(serde_json::from_str(&line).map_err(|_| line)));
                }
            },
            Self::Headers => {
                let mut length = None;
                loop {
                    let mut line = String::new();
                    if from.read_line(&mut line).await? == 0 {
                        return Ok(None);
                    }
                    match line.trim().split_once(':') {
                        Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                            length = value.trim().parse().ok()
                        }
                        None if line.trim().is_empty() => break,
                        _ => {}
                    }
                }
                let Some(length) = length else {
                    return Ok(Some(Err("a header without Content-Length".into())));
                };
                let mut body = vec![0; length];
                from.read_exact(&mut body).await?;
                Ok(Some(
                    serde_json::from_slice(&body)
                        .map_err(|_| String::from_utf8_lossy(&body).into_owned()),
                ))
            }
        }
    }
}
