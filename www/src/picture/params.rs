//! The parameters of `image.process`.

use crate::binary::{Encoding, Source};
use crate::failure::Failure;
use serde::{Deserialize, Serialize};

/// The strongest blur. The work grows with the strength.
const MAX_SIGMA: f32 = 100.0;

/// An image and the operations on it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Params {
    /// A PNG, JPEG or WebP file.
    pub image: Source,
    /// The operations. They always run in this order: resize, grayscale, blur.
    #[serde(default)]
    pub operations: Operations,
    /// The form of the result.
    #[serde(default)]
    pub options: Options,
}

/// Operations on an image.
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
    /// Whether these operations can be done on any image.
    pub(super) fn check(&self) -> Result<(), Failure> {
        match self.blur.map(Blur::sigma) {
            Some(sigma) if !(sigma > 0.0 && sigma <= MAX_SIGMA) => Err(Failure::invalid(format!(
                "operations.blur: sigma {sigma}, must be above 0 and at most {MAX_SIGMA}"
            ))),
            _ => Ok(()),
        }
    }
}

/// A new size in pixels. If one of the two is missing, it follows from the image's shape.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Resize {
    /// Width in pixels.
    pub width: Option<u32>,
    /// Height in pixels.
    pub height: Option<u32>,
    /// How to fit the image if the shapes differ.
    pub fit: Fit,
}

/// How an image fits a size of another shape.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fit {
    /// As large as possible inside the size.
    #[default]
    Contain,
    /// As small as possible while covering the size. The excess is cut off on both sides.
    Cover,
    /// Stretched.
    Fill,
}

/// A Gaussian blur: `{sigma}` or only the number.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(untagged)]
pub enum Blur {
    /// Standard deviation in pixels.
    Sigma(f32),
    /// The same, with a name.
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

/// The form of the result.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// The file format. By default, the format of the image.
    pub format: Option<Format>,
    /// The quality of a JPEG, 1 (small) to 100 (faithful); 85 by default.
    pub quality: u8,
    /// The encoding of the file in the answer.
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
    /// Lossy and without transparency: on white.
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
