//! Parses HTML text into a tree, a little at a time.

use crate::markdown::OpenElements;
use crate::pace::Pace;
use ego_tree::Tree;
use html5ever::driver::{ParseOpts, parse_document};
use html5ever::tendril::{StrTendril, TendrilSink};
use scraper::{Html, HtmlTreeSink, Node};

/// Bytes parsed between two checkpoints.
const STEP: usize = 4 * 1024;

/// An element may cost as many steps as there are elements around it. If there are more than this
/// many, fewer bytes are parsed at once.
const SHALLOW: usize = 256;

/// Nodes freed between two checkpoints.
const NODES: usize = 4096;

pub async fn parse<P: Pace>(html: &str, pace: &P) -> Html {
    let mut parser = parse_document(HtmlTreeSink::new(empty(html)), ParseOpts::default());
    let mut open = OpenElements::default();
    let mut at = 0;
    while at < html.len() {
        let step = (STEP * SHALLOW / (SHALLOW + open.count())).max(16);
        let end = html.ceil_char_boundary(at + step);
        open.read(&html[at..end]);
        parser.process(StrTendril::from(&html[at..end]));
        at = end;
        pace.progress(at, html.len(), "reading");
        pace.checkpoint().await;
    }
    parser.finish()
}

/// A tree with room for all of `html`. To move a large tree later would take longer than a step
/// may.
fn empty(html: &str) -> Html {
    let tags = html.bytes().filter(|&byte| byte == b'<').count();
    let mut tree = Html::new_document();
    tree.tree = Tree::with_capacity(Node::Document, tags + 16);
    tree
}

/// Frees a tree, a few nodes at a time.
pub async fn release<P: Pace>(mut tree: Html, pace: &P) {
    for (number, node) in tree.tree.values_mut().enumerate() {
        *node = Node::Fragment;
        if number % NODES == 0 {
            pace.checkpoint().await;
        }
    }
}
