//! Images between the paragraphs.

use super::block::{Emphasis, Role, Style, Text};
use super::flow::Flow;
use super::page::MARGIN;
use super::raster::{self, Raster};
use crate::binary::Source;
use crate::failure::Failure;
use crate::pace::Pace;
use pdf_writer::Name;

/// Points per CSS pixel.
const PIXEL: f32 = 0.75;

impl Flow {
    /// Shows an image in its own size if it fits the page; otherwise its alternative text.
    pub(super) async fn image<P: Pace>(
        &mut self,
        source: String,
        alternative: &str,
        asked_for: (Option<f32>, Option<f32>),
        indent: f32,
        pace: &P,
    ) -> Result<(), Failure> {
        let raster = match self.figures.0.get(&source) {
            Some(known) => *known,
            None => {
                let read = self.read(source.clone(), pace).await?;
                self.figures.0.insert(source, read);
                read
            }
        };
        let Some(raster) = raster else {
            let mut text = Text::default();
            let emphasis = Emphasis {
                italic: true,
                ..Emphasis::default()
            };
            let name = if alternative.is_empty() {
                "image"
            } else {
                alternative
            };
            text.push(
                &format!("[{name}]"),
                &Style {
                    emphasis,
                    ..Style::default()
                },
            );
            self.caption(&text, indent, pace).await;
            return Ok(());
        };
        let (own_width, own_height) = (raster.width as f32, raster.height as f32);
        let positive = |side: Option<f32>| side.filter(|side| side.is_finite() && *side >= 1.0);
        let (width, height) = match (positive(asked_for.0), positive(asked_for.1)) {
            (Some(width), Some(height)) => (width, height),
            (Some(width), None) => (width, width * own_height / own_width),
            (None, Some(height)) => (height * own_width / own_height, height),
            (None, None) => (own_width, own_height),
        };
        let (width, height) = (width * PIXEL, height * PIXEL);
        let shrink = ((self.width() - indent) / width)
            .min(self.height() / height)
            .min(1.0);
        let (width, height) = (width * shrink, height * shrink);
        self.room(height);
        self.y -= height;
        let name = format!("I{}", raster.id.get());
        self.page.image(
            Name(name.as_bytes()),
            MARGIN + indent,
            self.y,
            width,
            height,
        );
        Ok(())
    }

    async fn read<P: Pace>(&mut self, source: String, pace: &P) -> Result<Option<Raster>, Failure> {
        let Ok(file) = Source::Text(source).bytes("image", pace).await else {
            return Ok(None);
        };
        raster::embed(self.file(), &file, pace).await
    }

    async fn caption<P: Pace>(&mut self, text: &Text, indent: f32, pace: &P) {
        self.text(Role::Paragraph, text, indent, &[], None, pace)
            .await;
    }
}
