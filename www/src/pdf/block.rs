//! The parts of a document.

use std::rc::Rc;

/// The face in which text is set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Emphasis {
    pub bold: bool,
    pub italic: bool,
    pub mono: bool,
}

/// The look of a piece of text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Style {
    pub emphasis: Emphasis,
    pub underline: bool,
    pub strike: bool,
    /// Half a line up (1) or down (-1), in a smaller size.
    pub shift: i8,
    /// The target of the link.
    pub link: Option<Rc<str>>,
}

/// Text whose style changes along the way.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Text {
    pub text: String,
    /// The end of each style, in bytes.
    pub spans: Vec<(usize, Style)>,
}

impl Text {
    pub fn push(&mut self, text: &str, style: &Style) {
        if text.is_empty() {
            return;
        }
        self.text.push_str(text);
        let end = self.text.len();
        match self.spans.last_mut() {
            Some((last, same)) if same == style => *last = end,
            _ => self.spans.push((end, style.clone())),
        }
    }

    /// Removes blanks at the end.
    pub fn trim_end(&mut self) {
        self.text
            .truncate(self.text.trim_end_matches([' ', '\n']).len());
        let end = self.text.len();
        while self.spans.len() > 1 && self.spans[self.spans.len() - 2].0 >= end {
            self.spans.pop();
        }
        if let Some((last, _)) = self.spans.last_mut() {
            *last = end;
        }
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

/// The kind of a text block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Paragraph,
    /// A heading of level 1 to 6.
    Heading(u8),
    /// Code. Blanks and line ends stay as they are.
    Code,
}

/// A cell of a table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cell {
    pub text: Text,
    pub header: bool,
    pub columns: usize,
    pub align: Align,
}

/// The alignment of text in its cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Align {
    #[default]
    Left,
    Center,
    Right,
}

/// The content of a block.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    Text(Role, Text),
    Rule,
    Image {
        source: String,
        /// The text that is shown if the image cannot be shown.
        alternative: String,
        /// The width in CSS pixels, if the document gives it.
        width: Option<f32>,
        height: Option<f32>,
    },
    /// Some rows of a table. `first` is true for the first rows of the table.
    Rows {
        rows: Vec<Vec<Cell>>,
        first: bool,
    },
}

/// A block and its position.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    pub content: Content,
    /// Points from the left margin.
    pub indent: f32,
    /// The positions of the bars of surrounding quotes, in points from the left margin.
    pub bars: Rc<[f32]>,
    /// A list item's bullet or number, left of the text.
    pub marker: Option<String>,
    /// Whether the block closely follows the block before, like the items of a list.
    pub tight: bool,
}
