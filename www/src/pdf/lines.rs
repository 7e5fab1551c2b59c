//! Breaks text into lines.

use super::block::{Style, Text};
use super::fonts::Fonts;
use unicode_linebreak::{BreakOpportunity, linebreaks};

/// A piece of a line in one style.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// The index of the span in the text.
    pub span: usize,
    /// The range of bytes in the text.
    pub start: usize,
    pub end: usize,
    /// The width in points.
    pub width: f32,
}

/// A line of text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Line {
    pub parts: Vec<Part>,
    /// The width in points, without blanks at the end.
    pub width: f32,
    /// The bytes of text in this line.
    pub bytes: usize,
}

/// Breaks a text into lines, one at a time.
pub struct Lines<'t> {
    text: &'t Text,
    breaks: Box<dyn Iterator<Item = (usize, BreakOpportunity)> + 't>,
    /// A break opportunity that was read, but lies beyond the end of the previous line.
    pending: Option<(usize, BreakOpportunity)>,
    at: usize,
    size: f32,
    width: f32,
}

impl<'t> Lines<'t> {
    /// Breaks `text` into lines of `width` points at a font size of `size` points.
    pub fn new(text: &'t Text, size: f32, width: f32) -> Self {
        let breaks = Box::new(linebreaks(&text.text));
        Self {
            text,
            breaks,
            pending: None,
            at: 0,
            size,
            width,
        }
    }

    pub fn next(&mut self, fonts: &mut Fonts) -> Option<Line> {
        let start = self.at;
        if start >= self.text.text.len() {
            return None;
        }
        let (mut end, mut width) = (start, 0.0);
        while let Some((at, kind)) = self.pending.take().or_else(|| self.breaks.next()) {
            let word = &self.text.text[end..at];
            let bare = end + word.trim_end_matches(is_blank).len();
            if width + self.measure(fonts, end, bare) > self.width {
                self.pending = Some((at, kind));
                if end == start {
                    end = self.cut(fonts, start, bare);
                }
                break;
            }
            width += self.measure(fonts, end, at);
            end = at;
            if kind == BreakOpportunity::Mandatory {
                break;
            }
        }
        self.at = end;
        Some(self.line(fonts, start, end))
    }

    /// How much of a word that is too long for a line fits into the line; at least one character.
    fn cut(&self, fonts: &mut Fonts, start: usize, end: usize) -> usize {
        let (mut width, mut fits) = (0.0, start);
        for (span, from, to) in self.spans(start, end) {
            let style = &self.text.spans[span].1;
            for (offset, c) in self.text.text[from..to].char_indices() {
                width += fonts
                    .glyph(style.emphasis, c)
                    .map_or(0.0, |glyph| glyph.width)
                    * self.scale(style);
                if width > self.width && fits > start {
                    return fits;
                }
                fits = from + offset + c.len_utf8();
            }
        }
        fits
    }

    fn line(&self, fonts: &mut Fonts, start: usize, end: usize) -> Line {
        let text = &self.text.text[start..end];
        let bare = start + text.trim_end_matches(is_blank).len();
        let mut line = Line {
            bytes: end - start,
            ..Line::default()
        };
        for (span, start, end) in self.spans(start, bare) {
            let width = self.measure(fonts, start, end);
            line.width += width;
            line.parts.push(Part {
                span,
                start,
                end,
                width,
            });
        }
        line
    }

    /// The width of the bytes from `start` to `end`, in points.
    fn measure(&self, fonts: &mut Fonts, start: usize, end: usize) -> f32 {
        self.spans(start, end)
            .map(|(span, start, end)| {
                let style = &self.text.spans[span].1;
                fonts.width(style.emphasis, &self.text.text[start..end]) * self.scale(style)
            })
            .sum()
    }

    fn scale(&self, style: &Style) -> f32 {
        scaled(self.size, style) / 1000.0
    }

    /// The spans of a part of the text, each with its start and end there.
    fn spans(&self, start: usize, end: usize) -> impl Iterator<Item = (usize, usize, usize)> {
        let spans = &self.text.spans;
        let mut span = spans.partition_point(|&(span_end, _)| span_end <= start);
        let mut at = start;
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let to = spans[span].0.min(end);
            let part = (span, at, to);
            at = to;
            span += 1;
            Some(part)
        })
    }
}

/// The font size of text in `style`.
pub fn scaled(size: f32, style: &Style) -> f32 {
    match style {
        Style {
            shift: 0, emphasis, ..
        } if emphasis.mono => size * 0.92,
        Style { shift: 0, .. } => size,
        _ => size * 0.7,
    }
}

fn is_blank(c: char) -> bool {
    matches!(
        c,
        ' ' | '\n' | '\r' | '\u{2028}' | '\u{2029}' | '\u{85}' | '\x0b' | '\x0c'
    )
}
