//! Renders Markdown to HTML in pieces, so that the work can stop between any two.

use super::MAX_BYTES;
use super::footnotes::Footnotes;
use super::markup::OpenElements;
use super::sanitize::sanitizer;
use super::sections::{self, LastBlock, References};
use crate::failure::Failure;
use crate::pace::Pace;
use ammonia::Builder;
use pulldown_cmark::{BrokenLink, Event, Options, Parser, Tag, TagEnd, html};

/// Bytes of Markdown that are parsed at once, if the blocks allow it.
const SECTION: usize = 32 * 1024;

/// Bytes of Markdown in one piece, if the blocks allow it.
const PIECE: usize = 8 * 1024;

/// Events between two checkpoints in a block that is longer than a piece.
const EVENTS: usize = 2048;

/// Converts `markdown` to an HTML fragment.
pub(crate) async fn render<P: Pace>(
    markdown: &str,
    sanitize: bool,
    pace: &P,
) -> Result<String, Failure> {
    if markdown.len() > MAX_BYTES {
        return Err(Failure::invalid(format!(
            "markdown: {} bytes, at most {MAX_BYTES} are converted in one call",
            markdown.len()
        )));
    }
    let extensions = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS;
    let references = references(markdown, extensions, pace).await;
    // The definition of a footnote is known only in its own section, so such a text is one section.
    let whole = markdown.contains("[^");
    let mut pieces = Pieces::new(sanitize);
    let (mut start, mut least) = (0, SECTION);
    while start < markdown.len() {
        let end = match whole {
            true => markdown.len(),
            false => sections::end(markdown, start, least),
        };
        let section = &markdown[start..end];
        let elsewhere = |link: BrokenLink<'_>| references.find(&link.reference);
        let parser = Parser::new_with_broken_link_callback(section, extensions, Some(elsewhere));
        let (mut events, mut last) = (Vec::new(), LastBlock::default());
        for (event, range) in parser.into_offset_iter() {
            last.see(&event, &range);
            events.push((event, start + range.end));
            if events.len() % EVENTS == 0 {
                pace.checkpoint().await;
            }
        }
        pace.checkpoint().await;
        if end < markdown.len() && last.goes_on(section) {
            least = 2 * section.len();
            continue;
        }
        for (number, (event, at)) in events.into_iter().enumerate() {
            if pieces.add(event, at) {
                pace.progress(at.min(end), markdown.len(), "converting");
                pace.checkpoint().await;
            } else if number % EVENTS == 0 {
                pace.checkpoint().await;
            }
        }
        (start, least) = (end, SECTION);
    }
    pieces.flush(markdown.len());
    pace.progress(markdown.len(), markdown.len(), "converting");
    pace.checkpoint().await;
    Ok(pieces.html)
}

async fn references<P: Pace>(markdown: &str, extensions: Options, pace: &P) -> References {
    let mut references = References::default();
    let mut start = 0;
    while start < markdown.len() && markdown[start..].contains("]:") {
        let end = sections::end(markdown, start, SECTION);
        references.read(&markdown[start..end], extensions);
        start = end;
        pace.checkpoint().await;
    }
    references
}

struct Pieces<'a> {
    html: String,
    events: Vec<Event<'a>>,
    footnotes: Footnotes<'a>,
    open: OpenElements,
    sanitizer: Option<Builder<'static>>,
    depth: usize,
    /// 1 inside a top-level list, whose items are separate pieces; otherwise 0.
    base: usize,
    /// The end of the last piece, in bytes of Markdown.
    start: usize,
}

impl<'a> Pieces<'a> {
    fn new(sanitize: bool) -> Self {
        Self {
            html: String::new(),
            events: Vec::new(),
            footnotes: Footnotes::default(),
            open: OpenElements::default(),
            sanitizer: sanitize.then(sanitizer),
            depth: 0,
            base: 0,
            start: 0,
        }
    }

    /// Adds an event that ends at byte `end` of the text. Returns whether the event completed a
    /// piece.
    fn add(&mut self, event: Event<'a>, end: usize) -> bool {
        match &event {
            Event::Start(Tag::List(first)) if self.depth == 0 && self.open.none() => {
                let tag = match first {
                    None => "<ul>\n".into(),
                    Some(1) => "<ol>\n".into(),
                    Some(first) => format!("<ol start=\"{first}\">\n"),
                };
                self.flush(self.start);
                self.html.push_str(&tag);
                (self.depth, self.base) = (1, 1);
                return false;
            }
            Event::End(TagEnd::List(ordered)) if self.depth == 1 && self.base == 1 => {
                self.flush(end);
                self.html
                    .push_str(if *ordered { "</ol>\n" } else { "</ul>\n" });
                (self.depth, self.base) = (0, 0);
                return true;
            }
            Event::Start(_) => self.depth += 1,
            Event::End(_) => self.depth -= 1,
            Event::Html(html) | Event::InlineHtml(html) => self.open.read(html),
            _ => {}
        }
        self.events.push(self.footnotes.rewrite(event));
        let complete = self.depth == self.base && self.open.none() && end >= self.start + PIECE;
        if complete {
            self.flush(end);
        }
        complete
    }

    fn flush(&mut self, end: usize) {
        self.start = end;
        match &self.sanitizer {
            None => html::push_html(&mut self.html, self.events.drain(..)),
            Some(sanitizer) => {
                let mut piece = String::new();
                html::push_html(&mut piece, self.events.drain(..));
                self.html.push_str(&sanitizer.clean(&piece).to_string());
            }
        }
    }
}
