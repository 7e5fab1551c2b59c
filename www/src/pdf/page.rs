//! Marks on a page.

use super::block::Style;
use super::block::Text;
use super::fonts::{Fonts, Glyph};
use super::lines::{Line, scaled};
use pdf_writer::{Content, Name, Rect, Str};
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// The margin in points.
pub const MARGIN: f32 = 56.7;

const BLACK: [f32; 3] = [0.1, 0.1, 0.12];
const LINK: [f32; 3] = [0.05, 0.3, 0.65];

/// A size of paper, upright.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PageSize {
    /// 8.5 by 11 inches.
    Letter,
    /// 210 by 297 mm.
    #[default]
    A4,
    /// 8.5 by 14 inches.
    Legal,
}

impl PageSize {
    /// Width and height in points.
    pub fn points(self) -> (f32, f32) {
        match self {
            Self::Letter => (612.0, 792.0),
            Self::A4 => (595.28, 841.89),
            Self::Legal => (612.0, 1008.0),
        }
    }
}

/// The names of the fonts in page content.
pub const FONT_NAMES: [Name; 5] = [
    Name(b"F0"),
    Name(b"F1"),
    Name(b"F2"),
    Name(b"F3"),
    Name(b"F4"),
];

/// A page that is being written. Coordinates are points from the lower left.
pub struct Page {
    pub content: Content,
    /// The rectangles and targets of links.
    pub links: Vec<(Rect, Rc<str>)>,
    pub empty: bool,
}

impl Page {
    pub fn new() -> Self {
        Self {
            content: Content::new(),
            links: Vec::new(),
            empty: true,
        }
    }

    /// Writes a line of `text` with its baseline at `y`.
    pub fn line(&mut self, fonts: &mut Fonts, text: &Text, line: &Line, size: f32, x: f32, y: f32) {
        self.empty = false;
        self.begin(x, y);
        for part in &line.parts {
            let style = &text.spans[part.span].1;
            self.show(fonts, style, &text.text[part.start..part.end], size);
        }
        self.content.end_text();
        let mut x = x;
        for part in &line.parts {
            self.decorate(&text.spans[part.span].1, size, x, y, part.width);
            x += part.width;
        }
    }

    /// Writes plain text.
    pub fn words(&mut self, fonts: &mut Fonts, text: &str, size: f32, x: f32, y: f32) {
        self.empty = false;
        self.begin(x, y);
        self.show(fonts, &Style::default(), text, size);
        self.content.end_text();
    }

    fn begin(&mut self, x: f32, y: f32) {
        self.content.begin_text();
        self.content.set_text_matrix([1.0, 0.0, 0.0, 1.0, x, y]);
    }

    /// Appends text to the current line.
    fn show(&mut self, fonts: &mut Fonts, style: &Style, text: &str, size: f32) {
        let points = scaled(size, style);
        let [r, g, b] = ink(style);
        self.content.set_fill_rgb(r, g, b);
        if style.shift != 0 {
            self.content.set_rise(f32::from(style.shift) * size * 0.33);
        }
        let mut glyphs = text
            .chars()
            .filter_map(|c| fonts.glyph(style.emphasis, c))
            .peekable();
        while let Some(&Glyph { font, .. }) = glyphs.peek() {
            let mut codes = Vec::with_capacity(text.len() * 2);
            while let Some(glyph) = glyphs.next_if(|glyph| glyph.font == font) {
                codes.extend(glyph.cid.to_be_bytes());
            }
            self.content.set_font(FONT_NAMES[font], points);
            self.content.show(Str(&codes));
        }
        if style.shift != 0 {
            self.content.set_rise(0.0);
        }
    }

    /// Fills a rectangle with a grey, 0 (black) to 1 (white).
    pub fn fill(&mut self, grey: f32, x: f32, y: f32, width: f32, height: f32) {
        self.empty = false;
        self.content
            .set_fill_gray(grey)
            .rect(x, y, width, height)
            .fill_nonzero();
    }

    /// Draws an image into a rectangle.
    pub fn image(&mut self, name: Name, x: f32, y: f32, width: f32, height: f32) {
        self.empty = false;
        self.content.save_state();
        self.content.transform([width, 0.0, 0.0, height, x, y]);
        self.content.x_object(name);
        self.content.restore_state();
    }

    fn decorate(&mut self, style: &Style, size: f32, x: f32, y: f32, width: f32) {
        if !(style.strike || style.underline || style.link.is_some()) {
            return;
        }
        let thickness = size * 0.06;
        let [r, g, b] = ink(style);
        self.content.set_fill_rgb(r, g, b);
        if style.strike {
            self.content
                .rect(x, y + size * 0.27, width, thickness)
                .fill_nonzero();
        }
        if style.underline || style.link.is_some() {
            self.content
                .rect(x, y - size * 0.14, width, thickness)
                .fill_nonzero();
        }
        if let Some(target) = &style.link {
            let area = Rect::new(x, y - size * 0.25, x + width, y + size * 0.9);
            self.links.push((area, target.clone()));
        }
    }
}

fn ink(style: &Style) -> [f32; 3] {
    if style.link.is_some() { LINK } else { BLACK }
}
