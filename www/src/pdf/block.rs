//! What a document is made of.

use std::rc::Rc;

/// Which face text is set in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Emphasis {
    pub bold: bool,
    pub italic: bool,
    pub mono: bool,
}

/// How a piece of text looks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Style {
    pub emphasis: Emphasis,
    pub underline: bool,
    pub strike: bool,
    /// Half a line up (1) or down (-1), and smaller.
    pub shift: i8,
    /// Where it leads.
    pub link: Option<Rc<str>>,
}

/// Text of one style after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Text {
    pub text: String,
    /// Where each style ends, in bytes.
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

/// What a block of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Paragraph,
    /// 1 to 6.
    Heading(u8),
    /// Blanks and line ends stay as they are.
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

/// Where text stands in its cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Align {
    #[default]
    Left,
    Center,
    Right,
}

/// What a block shows.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    Text(Role, Text),
    Rule,
    Image {
        source: String,
        /// Shown where the image cannot be.
        alternative: String,
        /// CSS pixels, if the document says so.
        width: Option<f32>,
        height: Option<f32>,
    },
    /// Some rows of a table; `first` if none of its rows came before.
    Rows {
        rows: Vec<Vec<Cell>>,
        first: bool,
    },
}

/// A block, and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    pub content: Content,
    /// Points from the left margin.
    pub indent: f32,
    /// Where the bars of quotes around it are, in points from the left margin.
    pub bars: Rc<[f32]>,
    /// A list item's bullet or number, left of the text.
    pub marker: Option<String>,
    /// Whether it follows the block before closely, as the items of a list do.
    pub tight: bool,
}
