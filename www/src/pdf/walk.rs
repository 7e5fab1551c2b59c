//! Turns a tree into blocks, in the order of the text. It uses no recursion, because documents may
//! be nested deeply.

use super::block::{Block, Content, Role, Text};
use super::context::{Context, Kind, kind};
use super::inline::{push_collapsed, push_verbatim};
use super::rows::Table;
use ego_tree::iter::{Edge, Traverse};
use ego_tree::{NodeId, Tree};
use scraper::Node;
use scraper::node::Element;
use std::collections::VecDeque;

/// How many nodes are visited in one step.
const STEP: usize = 512;

/// The result of a step.
pub enum Next {
    Block(Block),
    /// Nothing yet.
    More,
    End,
}

pub struct Walk<'a> {
    edges: Traverse<'a, Node>,
    /// The element whose content is skipped.
    hidden: Option<NodeId>,
    stack: Vec<Context>,
    text: Text,
    marker: Option<String>,
    tight: bool,
    table: Option<Table>,
    in_cell: bool,
    in_title: bool,
    title: String,
    ready: VecDeque<Block>,
    done: usize,
    total: usize,
}

impl<'a> Walk<'a> {
    pub fn new(tree: &'a Tree<Node>) -> Self {
        Self {
            edges: tree.root().traverse(),
            hidden: None,
            stack: vec![Context::new()],
            text: Text::default(),
            marker: None,
            tight: false,
            table: None,
            in_cell: false,
            in_title: false,
            title: String::new(),
            ready: VecDeque::new(),
            done: 0,
            total: 2 * tree.nodes().len(),
        }
    }

    /// How many visits were made. Each node is entered and left.
    pub fn done(&self) -> usize {
        self.done
    }

    /// How many visits there are. Each node is entered and left.
    pub fn total(&self) -> usize {
        self.total
    }

    /// The text of the title element.
    pub fn title(&self) -> Option<String> {
        let title = self.title.split_whitespace().collect::<Vec<_>>().join(" ");
        (!title.is_empty()).then_some(title)
    }

    /// Continues to the next block, for at most one step.
    pub fn next(&mut self) -> Next {
        for _ in 0..STEP {
            if let Some(block) = self.ready.pop_front() {
                return Next::Block(block);
            }
            let Some(edge) = self.edges.next() else {
                self.flush();
                return self.ready.pop_front().map_or(Next::End, Next::Block);
            };
            self.done += 1;
            match edge {
                Edge::Open(node) if self.hidden.is_none() => match node.value() {
                    Node::Element(element) => {
                        if !self.open(element) {
                            self.hidden = Some(node.id());
                        }
                    }
                    Node::Text(text) if self.in_title => self.title.push_str(text),
                    Node::Text(text) => self.push(text),
                    _ => {}
                },
                Edge::Close(node) if self.hidden == Some(node.id()) => self.hidden = None,
                Edge::Close(node) if self.hidden.is_none() => {
                    if let Node::Element(element) = node.value() {
                        self.close(element);
                    }
                }
                _ => {}
            }
        }
        Next::More
    }

    fn context(&mut self) -> &mut Context {
        self.stack
            .last_mut()
            .expect("the context of the whole document")
    }

    /// Begins an element; false if it is not shown.
    fn open(&mut self, element: &Element) -> bool {
        let kind = kind(element.name());
        match kind {
            Kind::Hidden => return false,
            Kind::Title => self.in_title = true,
            Kind::Block => self.flush(),
            Kind::Item => {
                self.flush();
                let marker = self.context().marker();
                if self.in_cell {
                    self.push(&format!("{marker} "));
                } else {
                    self.marker = Some(marker);
                    self.tight = true;
                }
            }
            Kind::Table => match &mut self.table {
                Some(table) => table.inner += 1,
                None => {
                    self.flush();
                    self.table = Some(Table::new());
                }
            },
            Kind::Row => match &mut self.table {
                Some(table) if table.inner == 0 => table.begin_row(),
                _ => self.flush(),
            },
            Kind::Cell => match &mut self.table {
                Some(table) if table.inner == 0 => {
                    self.text = Text::default();
                    self.in_cell = true;
                }
                _ => self.flush(),
            },
            Kind::Inline => self.special(element),
        }
        let inside = self.context().inside(element);
        self.stack.push(inside);
        if element.name() == "hr" {
            self.emit(Content::Rule);
        }
        true
    }

    fn close(&mut self, element: &Element) {
        match kind(element.name()) {
            Kind::Title => self.in_title = false,
            Kind::Block => self.flush(),
            Kind::Item => {
                self.flush();
                // An item may be empty.
                if self.marker.is_some() {
                    self.emit(Content::Text(Role::Paragraph, Text::default()));
                }
            }
            Kind::Cell => self.close_cell(element),
            Kind::Row => match &mut self.table {
                Some(table) if table.inner == 0 => {
                    if table.is_full() {
                        self.emit_rows();
                    }
                }
                _ => self.flush(),
            },
            Kind::Table => match &mut self.table {
                Some(table) if table.inner > 0 => table.inner -= 1,
                _ => {
                    self.flush();
                    self.emit_rows();
                    self.table = None;
                }
            },
            Kind::Hidden | Kind::Inline => {}
        }
        if element.name() == "q" {
            self.push("”");
        }
        self.stack.pop();
    }

    /// Handles elements that are content themselves.
    fn special(&mut self, element: &Element) {
        match element.name() {
            "br" => {
                let style = self.context().style.clone();
                self.text.push("\n", &style);
            }
            "q" => self.push("“"),
            "input"
                if element
                    .attr("type")
                    .is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox")) =>
            {
                self.push(if element.attr("checked").is_some() {
                    "☑ "
                } else {
                    "☐ "
                });
            }
            "img" => {
                let source = element.attr("src").unwrap_or_default();
                let alternative = element.attr("alt").unwrap_or_default();
                if self.in_cell || !source.starts_with("data:") {
                    let text = if alternative.is_empty() {
                        "image"
                    } else {
                        alternative
                    };
                    self.push(&format!("[{text}]"));
                    return;
                }
                let pixels = |name| {
                    element
                        .attr(name)
                        .and_then(|value| value.trim_end_matches("px").parse().ok())
                };
                let content = Content::Image {
                    source: source.into(),
                    alternative: alternative.into(),
                    width: pixels("width"),
                    height: pixels("height"),
                };
                self.flush();
                self.emit(content);
            }
            _ => {}
        }
    }

    fn push(&mut self, text: &str) {
        let context = self
            .stack
            .last()
            .expect("the context of the whole document");
        match context.role {
            Role::Code => push_verbatim(&mut self.text, text, &context.style),
            _ => push_collapsed(&mut self.text, text, &context.style),
        }
    }

    /// Ends the paragraph that is being read.
    fn flush(&mut self) {
        if self.in_cell {
            if !self.text.is_empty() && !self.text.text.ends_with('\n') {
                let style = self.context().style.clone();
                self.text.push("\n", &style);
            }
            return;
        }
        self.text.trim_end();
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            let role = self.context().role;
            self.emit(Content::Text(role, text));
        }
        self.text = Text::default();
    }

    fn emit(&mut self, content: Content) {
        let marker = self.marker.take();
        let tight = std::mem::take(&mut self.tight);
        let context = self.context();
        let (indent, bars) = (context.indent, context.bars.clone());
        self.ready.push_back(Block {
            content,
            indent,
            bars,
            marker,
            tight,
        });
    }

    fn close_cell(&mut self, element: &Element) {
        let Some(table) = self.table.as_mut().filter(|table| table.inner == 0) else {
            return self.flush();
        };
        let mut text = std::mem::take(&mut self.text);
        text.trim_end();
        self.in_cell = false;
        table.add(element, text);
    }

    fn emit_rows(&mut self) {
        if let Some(rows) = self.table.as_mut().and_then(Table::take) {
            self.emit(rows);
        }
    }
}
