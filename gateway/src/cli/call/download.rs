//! The file that a result refers to at an address of the gateway.

use std::pin::pin;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use url::Url;

use super::Signals;
use super::output::{LAST_BYTES, Output};
use super::result::wrote;
use crate::cli::gateway_args::Access;
use crate::cli::terminal::one_line;
use crate::gateway::files::{PATH, id_of};
use crate::http_client::{self, innermost};

/// How many parts of the file may wait to be written.
const WAITING: usize = 4;

/// A part of the file, or its end.
type Part = Option<Bytes>;

/// A file that was written.
pub(super) struct Downloaded {
    bytes: u64,
    mime_type: Option<String>,
    /// The data without the address, which leads nowhere any more.
    pub rest: Value,
}

impl Downloaded {
    /// `{ path, bytes, mimeType? }`
    pub fn document(&self, output: &Output) -> Value {
        let mut document = json!({ "path": output.shown(), "bytes": self.bytes });
        if let Some(mime_type) = &self.mime_type {
            document["mimeType"] = mime_type.as_str().into();
        }
        document
    }

    /// The line for people.
    pub fn line(&self, output: &Output) -> String {
        wrote(output, self.bytes, self.mime_type.as_deref())
    }
}

/// The URL of the file that the data refers to, if the gateway has it.
pub(super) fn address(data: &Value, access: &Access) -> Option<Url> {
    let id = id_of(data["downloadUrl"].as_str()?)?;
    Some(access.http_url(&format!("{}{}", &PATH[1..], id.simple())))
}

/// Writes the file at that address, as it comes. An interrupt ends this.
pub(super) async fn download(
    access: &Access,
    url: Url,
    output: &Output,
    mut data: Value,
    signals: &mut Signals,
) -> Result<Downloaded, String> {
    let (parts, coming) = mpsc::channel(WAITING);
    let target = output.clone();
    let mut writing = spawn_blocking(move || write(&target, coming));
    let ended = {
        let fetching = fetch(access, url, parts);
        let both = pin!(async { tokio::join!(fetching, &mut writing) });
        tokio::select! {
            ended = both => Some(ended),
            () = signals.first() => None,
        }
    };
    let Some((fetched, written)) = ended else {
        // The part of the file that has come is removed.
        let _ = timeout(LAST_BYTES, writing).await;
        return Err("interrupted before the result was written".into());
    };
    let written = written.unwrap_or_else(|error| Err(error.to_string()))?;
    let mime_type = fetched?;
    let bytes = written.ok_or("the end of the file is missing")?;
    if let Some(members) = data.as_object_mut() {
        members.remove("downloadUrl");
        members.remove("expiresAt");
    }
    Ok(Downloaded {
        bytes,
        mime_type,
        rest: data,
    })
}

/// Gets the file part by part. Returns its media type.
async fn fetch(
    access: &Access,
    url: Url,
    parts: mpsc::Sender<Part>,
) -> Result<Option<String>, String> {
    let broken = |error: reqwest::Error| format!("the file did not come: {}", innermost(&error));
    let mut request = http_client::with(|builder| builder).get(url);
    if let Some(authorization) = access.authorization() {
        request = request.header("authorization", authorization);
    }
    let mut response = request.send().await.map_err(broken)?;
    if !response.status().is_success() {
        let said: Value = response.json().await.unwrap_or_default();
        let why = said["error"]["message"]
            .as_str()
            .unwrap_or("no reason given");
        return Err(format!("the file did not come: {}", one_line(why)));
    }
    let mime_type = response.headers().get("content-type");
    let mime_type = mime_type.and_then(|it| it.to_str().ok()).map(String::from);
    while let Some(part) = response.chunk().await.map_err(broken)? {
        if parts.send(Some(part)).await.is_err() {
            // The writer says what is wrong.
            return Ok(None);
        }
    }
    let _ = parts.send(None).await;
    Ok(mime_type)
}

/// Writes the parts. Returns how many bytes they have, or `None` if their end has not come. Blocks.
fn write(output: &Output, mut parts: mpsc::Receiver<Part>) -> Result<Option<u64>, String> {
    let mut writing = output.begin()?;
    let mut bytes = 0;
    while let Some(part) = parts.blocking_recv() {
        let Some(part) = part else {
            writing.finish()?;
            return Ok(Some(bytes));
        };
        writing.write(&part)?;
        bytes += part.len() as u64;
    }
    Ok(None)
}
