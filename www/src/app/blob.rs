//! Archives as Blobs. The browser holds their bytes, and moves large ones to disk.
//!
//! A worker writes the Blobs. The page makes their URLs, because a worker's URLs end with the
//! worker.

use crate::archive::Sink;
use crate::failure::Failure;
use caphost::Error;
use js_sys::{Array, Reflect, Uint8Array};
use serde::{Serialize, Serializer};
use std::cell::RefCell;
use std::collections::VecDeque;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, BlobPropertyBag, Url};

/// The most finished archives that can be read at a time. Older archives are released.
const KEPT: usize = 4;

thread_local! {
    static URLS: RefCell<VecDeque<String>> = const { RefCell::new(VecDeque::new()) };
}

/// An archive that is being written in parts. If it is dropped before it is finished, its parts are
/// released.
pub struct Blobs {
    parts: Array,
}

impl Blobs {
    pub fn new() -> Self {
        Self {
            parts: Array::new(),
        }
    }
}

/// A whole archive, for the page.
pub struct Whole(Blob);

impl Serialize for Whole {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_wasm_bindgen::preserve::serialize(&self.0, serializer)
    }
}

impl Sink for Blobs {
    type Whole = Whole;

    fn append(&mut self, part: &[u8]) -> Result<(), Failure> {
        // Each part is a Blob of its own, so that its bytes leave the worker's memory at once.
        let bytes = Array::of1(&Uint8Array::from(part));
        let blob = Blob::new_with_u8_array_sequence(&bytes).map_err(refused)?;
        self.parts.push(&blob);
        Ok(())
    }

    fn finish(self, mime_type: &str) -> Result<Whole, Failure> {
        let options = BlobPropertyBag::new();
        options.set_type(mime_type);
        Blob::new_with_blob_sequence_and_options(&self.parts, &options)
            .map(Whole)
            .map_err(refused)
    }
}

impl Drop for Blobs {
    fn drop(&mut self) {
        self.parts.set_length(0);
    }
}

/// Runs in the page. Replaces the Blob that came from the worker with a URL.
pub fn publish(archive: JsValue) -> Result<JsValue, Error> {
    published(&archive).map_err(|error| super::error(refused(error)))?;
    Ok(archive)
}

fn published(archive: &JsValue) -> Result<(), JsValue> {
    let key = "downloadUrl".into();
    let blob = Reflect::get(archive, &key)?.dyn_into::<Blob>()?;
    let url = Url::create_object_url_with_blob(&blob)?;
    Reflect::set(archive, &key, &url.as_str().into())?;
    let oldest = URLS.with_borrow_mut(|urls| {
        urls.push_back(url);
        if urls.len() > KEPT {
            urls.pop_front()
        } else {
            None
        }
    });
    oldest.map_or(Ok(()), |oldest| Url::revoke_object_url(&oldest))
}

fn refused(error: JsValue) -> Failure {
    let message = js_sys::Error::from(error).message();
    Failure::failed(format!(
        "the browser refused to keep the archive: {message}"
    ))
}
