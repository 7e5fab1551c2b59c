//! Packed bytes.

use crate::failure::Failure;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::{self, Write};

/// Compresses bytes for a stream.
pub fn deflate(bytes: &[u8]) -> Result<Vec<u8>, Failure> {
    let failed = |error: io::Error| {
        Failure::failed(format!(
            "a part of the document could not be packed: {error}"
        ))
    };
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::new(4));
    packed.write_all(bytes).map_err(failed)?;
    packed.finish().map_err(failed)
}
