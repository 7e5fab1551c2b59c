//! How the surrounding elements affect a piece of a document.

use super::block::{Role, Style};
use super::inline::restyle;
use scraper::node::Element;
use std::rc::Rc;

/// The points by which a list or a quote indents its content.
const INDENT: f32 = 20.0;

/// The most points by which content is indented, at any depth.
const MOST_INDENT: f32 = 200.0;

/// How an element takes part in the layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Hidden with its content.
    Hidden,
    /// The document's title.
    Title,
    /// A paragraph of its own.
    Block,
    Item,
    Row,
    Cell,
    Table,
    /// Part of a line.
    Inline,
}

pub fn kind(name: &str) -> Kind {
    match name {
        "title" => Kind::Title,
        "script" | "style" | "template" | "noscript" | "svg" | "math" | "iframe" | "object"
        | "video" | "audio" | "canvas" | "select" | "textarea" | "button" | "datalist" | "map"
        | "link" | "meta" | "base" | "dialog" => Kind::Hidden,
        "html" | "head" | "body" | "p" | "div" | "section" | "article" | "header" | "footer"
        | "main" | "aside" | "nav" | "figure" | "figcaption" | "address" | "details"
        | "summary" | "dl" | "dt" | "dd" | "form" | "fieldset" | "legend" | "hgroup" | "center"
        | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "ul" | "ol" | "menu" | "blockquote" | "pre"
        | "caption" | "hr" => Kind::Block,
        "li" => Kind::Item,
        "table" => Kind::Table,
        "tr" => Kind::Row,
        "td" | "th" => Kind::Cell,
        _ => Kind::Inline,
    }
}

/// The numbering of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    Bullets,
    /// A numbered list, with its next number.
    Numbers(i64),
}

/// The settings inside an element.
#[derive(Clone)]
pub struct Context {
    pub style: Style,
    pub role: Role,
    pub indent: f32,
    pub bars: Rc<[f32]>,
    pub list: Option<List>,
    /// How many lists are around.
    pub depth: usize,
}

impl Context {
    pub fn new() -> Self {
        Self {
            style: Style::default(),
            role: Role::Paragraph,
            indent: 0.0,
            bars: Rc::new([]),
            list: None,
            depth: 0,
        }
    }

    /// The settings inside `element`.
    pub fn inside(&self, element: &Element) -> Self {
        let mut inside = self.clone();
        restyle(&mut inside.style, element);
        match element.name() {
            name @ ("h1" | "h2" | "h3" | "h4" | "h5" | "h6") => {
                inside.role = Role::Heading(name.as_bytes()[1] - b'0');
                inside.style.emphasis.bold = true;
            }
            "pre" => inside.role = Role::Code,
            "ul" | "menu" => inside.enter_list(List::Bullets),
            "ol" => {
                let start = element
                    .attr("start")
                    .and_then(|start| start.trim().parse().ok());
                inside.enter_list(List::Numbers(start.unwrap_or(1)));
            }
            "dd" => inside.move_right(),
            "blockquote" => {
                let mut bars = self.bars.to_vec();
                // Bars at the same position are one bar.
                if bars.last().is_none_or(|&last| last < self.indent) {
                    bars.push(self.indent);
                }
                inside.bars = bars.into();
                inside.move_right();
            }
            _ => {}
        }
        inside
    }

    /// The mark of the next item of the list.
    pub fn marker(&mut self) -> String {
        match &mut self.list {
            Some(List::Numbers(next)) => {
                let marker = format!("{next}.");
                *next = next.saturating_add(1);
                marker
            }
            _ => ["•", "◦", "▪"][self.depth.saturating_sub(1) % 3].into(),
        }
    }

    fn enter_list(&mut self, list: List) {
        self.list = Some(list);
        self.depth += 1;
        self.move_right();
    }

    fn move_right(&mut self) {
        self.indent = (self.indent + INDENT).min(MOST_INDENT);
    }
}
