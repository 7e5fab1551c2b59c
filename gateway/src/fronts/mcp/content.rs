//! Files in a capability's data, as MCP content.
//!
//! The bytes of a file (see [`binary`](crate::wire::binary)) stand once, in a content block of their own. In
//! the data, a JSON Pointer to that block takes their place, because models should not read large text. A
//! file that is text stays in the data.
//!
//! Only images that model interfaces accept are `image`. An image of another type, such as SVG or TIFF, would
//! end the conversation, so it is an embedded resource, as any other file is. So would an image under the name of
//! another type, so the bytes decide on the type.

use serde_json::{Value, json};
use url::Url;

use crate::broker::calls::RunId;
use crate::fronts::media_type::essence;
use crate::wire::binary::{Binary, canonical};
use caphost::dialect::mcp::Version;

/// The images that model interfaces accept.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Removes the bytes of files from `data`, and returns their blocks. The first block will stand at index
/// `first` of the result's `content`.
pub fn extract(data: &mut Value, first: usize, version: &Version, run: RunId) -> Vec<Value> {
    let mut blocks = Vec::new();
    for file in Binary::all(data) {
        if !file.has_bytes(data) {
            continue;
        }
        let Some(text) = file.text_mut(data) else {
            continue;
        };
        let index = first + blocks.len();
        let base64 = canonical(std::mem::take(text));
        let (block, place) = block(file, base64, index, version, run);
        *text = format!("#/content/{index}/{place}");
        blocks.push(block);
    }
    blocks
}

/// The block of a file, and the place of the bytes in it. The bytes are moved there: `json!` would copy them.
fn block(
    file: Binary,
    base64: String,
    index: usize,
    version: &Version,
    run: RunId,
) -> (Value, &'static str) {
    let media_type = file.media_type.as_deref();
    match media_type.and_then(|it| shown_as(essence(it), &base64, version)) {
        Some((kind, shown_type)) => {
            let mut block = json!({ "type": kind, "mimeType": shown_type });
            block["data"] = base64.into();
            (block, "data")
        }
        None => {
            let filename = file.filename.as_deref().unwrap_or(file.member());
            let mut resource = json!({ "uri": uri(run, index, filename) });
            if let Some(media_type) = media_type {
                resource["mimeType"] = media_type.into();
            }
            resource["blob"] = base64.into();
            let mut block = json!({ "type": "resource" });
            block["resource"] = resource;
            (block, "resource/blob")
        }
    }
}

/// The block type for a file that is said to have that type, and the type to show, if there is a special one.
fn shown_as(media_type: String, base64: &str, version: &Version) -> Option<(&'static str, String)> {
    if media_type.starts_with("image/") {
        let known = IMAGES.contains(&&*media_type).then_some(&*media_type);
        let shown_type = image_type(base64).or(known)?.to_string();
        return Some(("image", shown_type));
    }
    let is_sound = version.audio && media_type.starts_with("audio/");
    is_sound.then_some(("audio", media_type))
}

/// The type of an image that models accept, by its first bytes.
fn image_type(base64: &str) -> Option<&'static str> {
    let begins = |signature: &str| base64.starts_with(signature);
    let [png, jpeg, gif, webp] = IMAGES;
    match base64 {
        _ if begins("iVBORw0KGgo") => Some(png),
        _ if begins("/9j/") => Some(jpeg),
        _ if begins("R0lGODdh") || begins("R0lGODlh") => Some(gif),
        _ if begins("UklGR") && base64.get(11..16) == Some("XRUJQ") => Some(webp),
        _ => None,
    }
}

/// The name of an embedded resource. Clients cannot read it: the bytes are in the block.
fn uri(run: RunId, index: usize, filename: &str) -> String {
    let base = format!("caphost://{run}/{index}");
    match Url::parse(&base) {
        Ok(mut url) => {
            if let Ok(mut segments) = url.path_segments_mut() {
                segments.push(filename);
            }
            url.into()
        }
        Err(_) => base,
    }
}

#[cfg(test)]
mod tests;
