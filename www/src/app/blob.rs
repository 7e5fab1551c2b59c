//! Archives as Blobs: the browser holds their bytes, on disk where they are many.

use crate::archive::Sink;
use crate::failure::Failure;
use js_sys::{Array, Uint8Array};
use std::cell::RefCell;
use std::collections::VecDeque;
use wasm_bindgen::JsValue;
use web_sys::{Blob, BlobPropertyBag, Url};

/// Finished archives that can be read at a time; older ones are released.
const KEPT: usize = 4;

thread_local! {
    static URLS: RefCell<VecDeque<String>> = const { RefCell::new(VecDeque::new()) };
}

/// An archive that is being written, part by part. Dropped unfinished, it lets go of its parts.
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

impl Sink for Blobs {
    fn append(&mut self, part: &[u8]) -> Result<(), Failure> {
        // A Blob of its own: so the bytes leave the page's memory at once.
        let bytes = Array::of1(&Uint8Array::from(part));
        let blob = Blob::new_with_u8_array_sequence(&bytes).map_err(refused)?;
        self.parts.push(&blob);
        Ok(())
    }

    fn finish(self, mime_type: &str) -> Result<String, Failure> {
        let options = BlobPropertyBag::new();
        options.set_type(mime_type);
        let blob =
            Blob::new_with_blob_sequence_and_options(&self.parts, &options).map_err(refused)?;
        let url = Url::create_object_url_with_blob(&blob).map_err(refused)?;
        let oldest = URLS.with_borrow_mut(|urls| {
            urls.push_back(url.clone());
            if urls.len() > KEPT {
                urls.pop_front()
            } else {
                None
            }
        });
        if let Some(oldest) = oldest {
            Url::revoke_object_url(&oldest).map_err(refused)?;
        }
        Ok(url)
    }
}

impl Drop for Blobs {
    fn drop(&mut self) {
        self.parts.set_length(0);
    }
}

fn refused(error: JsValue) -> Failure {
    let message = js_sys::Error::from(error).message();
    Failure::failed(format!(
        "the browser refused to keep the archive: {message}"
    ))
}
