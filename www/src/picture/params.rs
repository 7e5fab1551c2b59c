//! What `image.process` is asked for.

use crate::binary::{Encoding, Source};
use crate::failure::Failure;
use serde::{Deserialize, Serialize};

/// Strongest blur, because its work grows with it.
const MAX_SIGMA: f32 = 100.0;

/// An image and what to do with it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Params {
    /// A PNG, JPEG or WebP file.
    pub image: Source,
    /// What to do, in this order whatever the order here: resize, grayscale, blur.
    #[serde(default)]
    pub operations: Operations,
    /// How to answer.
    #[serde(default)]
    pub options: Options,
}

/// What to do with an image.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Operations {
    /// A new size.
    pub resize: Option<Resize>,
    /// A Gaussian blur.
    pub blur: Option<Blur>,
    /// Remove the colour.
    pub grayscale: bool,
}

impl Operations {
    /// Whether these can be done to some image.
    pub(super) fn check(&self) -> Result<(), Failure> {
        match self.blur.map(Blur::sigma) {
            Some(sigma) if !(sigma > 0.0 && sigma <= MAX_SIGMA) => Err(Failure::invalid(format!(
                "operations.blur: sigma {sigma}, must be above 0 and at most {MAX_SIGMA}"
            ))),
            _ => Ok(()),
        }
    }
}

/// A new size in pixels. With one of the two, the other follows from the image's shape.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Resize {
    /// Pixels.
    pub width: Option<u32>,
    /// Pixels.
    pub height: Option<u32>,
    /// What to do when the shapes differ.
    pub fit: Fit,
}

/// How an image fits a size of another shape.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fit {
    /// As large as fits inside.
    #[default]
    Contain,
    /// As small as covers it; what is outside is cut off on both sides.
    Cover,
    /// Stretched.
    Fill,
}

/// A Gaussian blur: `{sigma}` or just the number.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(untagged)]
pub enum Blur {
    /// Standard deviation in pixels.
    Sigma(f32),
    /// The same, named.
    Named {
        /// Standard deviation in pixels.
        sigma: f32,
    },
}

impl Blur {
    /// Standard deviation in pixels.
    pub fn sigma(self) -> f32 {
        match self {
            Self::Sigma(sigma) | Self::Named { sigma } => sigma,
        }
    }
}

/// How to answer.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// File format; that of the image by default.
    pub format: Option<Format>,
    /// 1 (small) to 100 (faithful), for JPEG; 85 by default.
    pub quality: u8,
    /// How the file is written in the answer.
    pub encoding: Encoding,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            format: None,
            quality: 85,
            encoding: Encoding::Base64,
        }
    }
}

impl Options {
    pub(super) fn check(&self) -> Result<(), Failure> {
        match self.quality {
            1..=100 => Ok(()),
            quality => Err(Failure::invalid(format!(
                "options.quality: {quality}, must be 1 to 100"
            ))),
        }
    }
}

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Lossless, with transparency.
    Png,
    /// Lossy, without transparency: on white.
    #[serde(alias = "jpg")]
    Jpeg,
    /// Lossless, with transparency.
    Webp,
}

impl Format {
    /// `image/…`
    pub fn mime_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Webp => "image/webp",
        }
    }
}
