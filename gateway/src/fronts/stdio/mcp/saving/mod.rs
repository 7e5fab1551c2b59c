//! `caphost mcp --save-to FOLDER`: the files that a result links to are written into a folder, and the result says
//! where they are.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | the links of a result, and their files |
//! | [`folder`] | the folder, and a file while it is written |
//! | [`file_name`] | safe names |

mod file_name;
mod folder;

use std::collections::HashMap;
use std::time::Duration;

use reqwest::Response;
use serde_json::{Value, json};
use tokio::time::timeout;
use url::Url;
use uuid::Uuid;

use super::link::Link;
use crate::gateway::files::{PATH, id_of};
use crate::http_client::innermost;
use crate::wire::for_log;
pub use folder::Folder;
use folder::{Draft, Unfinished};

/// How long the next bytes of a file may take. The gateway gives up an app that is silent before.
const SILENCE: Duration = Duration::from_secs(60);

/// Where files are saved, and where they come from.
#[derive(Clone, Debug)]
pub struct SaveTo {
    /// The folder.
    pub folder: Folder,
    /// The URL of the gateway's files, to which an id is added.
    pub files: Url,
}

/// An answer whose files are saved. The files are removed when this value is dropped, unless they are
/// [kept](Self::keep).
pub struct Saved {
    /// The answer, which says where the files are.
    pub message: String,
    files: Vec<Unfinished>,
}

impl Saved {
    /// The client gets the answer: the files stay.
    pub fn keep(self) {
        for file in self.files {
            file.keep();
        }
    }
}

/// A file that was saved, or why it was not.
struct Outcome {
    /// The block that takes the place of the link, if the file was saved.
    block: Option<Value>,
    /// What the model reads.
    said: String,
}

impl SaveTo {
    /// Saves the files that an answer refers to. An answer without such files stays as it is. Dropping the future
    /// removes what was written.
    pub async fn save(&self, message: String, link: &Link) -> Saved {
        let mut saved = Saved {
            message,
            files: Vec::new(),
        };
        let mut answer: Value = match saved.message.contains(PATH) {
            true => serde_json::from_str(&saved.message).unwrap_or_default(),
            false => return saved,
        };
        let result = &mut answer["result"];
        let mut texts = Texts::of(result);
        let mut found = Vec::new();
        for block in result["content"].as_array().into_iter().flatten() {
            if block["type"] == "resource_link" {
                found.extend(Reference::new(block, "uri", "name"));
            }
        }
        texts.each(&mut |members| {
            let reference = Reference::new(members, "downloadUrl", "filename");
            let is_new = |it: &Reference| found.iter().all(|known| known.id != it.id);
            found.extend(reference.filter(is_new));
        });
        if found.is_empty() {
            return saved;
        }
        let mut outcomes = HashMap::new();
        let mut notes = Vec::new();
        for reference in found {
            let outcome = self.save_one(&reference, link, &mut saved.files).await;
            notes.push(json!({ "type": "text", "text": outcome.said }));
            outcomes.insert(reference.id, outcome);
        }
        let place = |id: Option<Uuid>| outcomes.get(&id?)?.block.as_ref();
        texts.each(&mut |members| {
            let url = members["downloadUrl"].as_str();
            if let (Some(block), Some(members)) =
                (place(url.and_then(id_of)), members.as_object_mut())
            {
                members.insert("downloadUrl".into(), block["uri"].clone());
                members.remove("expiresAt");
            }
        });
        texts.put_into(result);
        if let Some(content) = result["content"].as_array_mut() {
            for block in content.iter_mut() {
                let id = block["uri"].as_str().and_then(id_of);
                if let Some(replacement) = place(id) {
                    *block = replacement.clone();
                }
            }
            content.extend(notes);
        }
        saved.message = answer.to_string();
        saved
    }

    async fn save_one(
        &self,
        file: &Reference,
        link: &Link,
        saved: &mut Vec<Unfinished>,
    ) -> Outcome {
        let name = for_log(file.name.clone().unwrap_or_else(|| "file".into()));
        let (written, bytes) = match self.write(file, link).await {
            Ok(written) => written,
            Err(why) => {
                return Outcome {
                    block: None,
                    said: format!("{name} could not be saved: {why}"),
                };
            }
        };
        let path = written.path();
        let mut block = json!({
            "type": "resource_link",
            "uri": Url::from_file_path(path).map(String::from).unwrap_or_default(),
            "name": path.file_name().map(|it| it.to_string_lossy()),
            "size": bytes,
        });
        if let Some(media_type) = &file.media_type {
            block["mimeType"] = media_type.clone();
        }
        let said = format!("Saved to {} ({bytes} bytes)", path.display());
        saved.push(written);
        Outcome {
            block: Some(block),
            said,
        }
    }

    /// Writes a file as it comes. Returns how many bytes it has.
    async fn write(&self, file: &Reference, link: &Link) -> Result<(Unfinished, u64), String> {
        let mut url = self.files.clone();
        url.set_path(&format!("{}{}", url.path(), file.id.simple()));
        let broken =
            |error: reqwest::Error| format!("the file did not come: {}", innermost(&error));
        let mut response = link.get(url).await.map_err(broken)?;
        if !response.status().is_success() {
            return Err(refusal(response).await);
        }
        let cannot = |error: std::io::Error| format!("it cannot be written: {error}");
        let mut draft = Draft::begin(&self.folder).await.map_err(cannot)?;
        let mut bytes = 0;
        loop {
            let part = timeout(SILENCE, response.chunk()).await;
            let part =
                part.map_err(|_| "the file did not come: the gateway is silent".to_string())?;
            let Some(part) = part.map_err(broken)? else {
                break;
            };
            draft.write(&part).await.map_err(cannot)?;
            bytes += part.len() as u64;
        }
        let written = draft.finish(file.name.as_deref()).await.map_err(cannot)?;
        Ok((written, bytes))
    }
}

/// Why the gateway does not give a file.
async fn refusal(response: Response) -> String {
    let status = response.status();
    let said: Value = response.json().await.unwrap_or_default();
    let why = said["error"]["message"].as_str().map(str::to_string);
    for_log(why.unwrap_or_else(|| format!("the gateway answers with status {status}"))).to_string()
}

/// A file that a result refers to.
struct Reference {
    id: Uuid,
    name: Option<String>,
    media_type: Option<Value>,
}

impl Reference {
    /// The file of the gateway to which the member `url` of an object leads.
    fn new(object: &Value, url: &str, name: &str) -> Option<Self> {
        Some(Reference {
            id: id_of(object[url].as_str()?)?,
            name: object[name].as_str().map(str::to_string),
            media_type: Some(object["mimeType"].clone()).filter(Value::is_string),
        })
    }
}

/// The data of a result: its structured content, and its texts that are JSON with references.
struct Texts {
    structured: Option<Value>,
    /// With their places in the content.
    parsed: Vec<(usize, Value)>,
}

impl Texts {
    fn of(result: &mut Value) -> Self {
        let blocks = result["content"].as_array().into_iter().flatten();
        let parsed = blocks.enumerate().filter_map(|(place, block)| {
            let text = block["text"].as_str()?;
            let refers = text.contains(PATH);
            let data = refers.then(|| serde_json::from_str(text).ok()).flatten()?;
            Some((place, data))
        });
        Texts {
            parsed: parsed.collect(),
            structured: result.get_mut("structuredContent").map(Value::take),
        }
    }

    /// Visits each object of the data.
    fn each(&mut self, visit: &mut impl FnMut(&mut Value)) {
        let parsed = self.parsed.iter_mut().map(|(_, data)| data);
        for data in self.structured.iter_mut().chain(parsed) {
            each_object(data, visit);
        }
    }

    fn put_into(self, result: &mut Value) {
        if let Some(structured) = self.structured {
            result["structuredContent"] = structured;
        }
        for (place, data) in self.parsed {
            result["content"][place]["text"] = data.to_string().into();
        }
    }
}

fn each_object(data: &mut Value, visit: &mut impl FnMut(&mut Value)) {
    if data.is_object() {
        visit(data);
    }
    match data {
        Value::Array(items) => items.iter_mut().for_each(|it| each_object(it, visit)),
        Value::Object(members) => members.values_mut().for_each(|it| each_object(it, visit)),
        _ => {}
    }
}
