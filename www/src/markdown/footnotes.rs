//! Footnotes, numbered across the whole text although the text is rendered in pieces.

use pulldown_cmark::{CowStr, Event, Tag, TagEnd};
use std::collections::HashMap;

/// The numbers given to footnotes so far, by name.
#[derive(Default)]
pub struct Footnotes<'a> {
    numbers: HashMap<CowStr<'a>, usize>,
}

impl<'a> Footnotes<'a> {
    /// Returns the event to render instead. References and definitions become HTML with links.
    pub fn rewrite(&mut self, event: Event<'a>) -> Event<'a> {
        let html = match event {
            Event::FootnoteReference(name) => {
                let number = self.number(name);
                format!(
                    "<sup class=\"footnote-reference\"><a href=\"#fn-{number}\">{number}</a></sup>"
                )
            }
            Event::Start(Tag::FootnoteDefinition(name)) => {
                let number = self.number(name);
                format!(
                    "<div class=\"footnote-definition\" id=\"fn-{number}\"><sup>{number}</sup>\n"
                )
            }
            Event::End(TagEnd::FootnoteDefinition) => "</div>\n".into(),
            other => return other,
        };
        Event::Html(html.into())
    }

    fn number(&mut self, name: CowStr<'a>) -> usize {
        let next = self.numbers.len() + 1;
        *self.numbers.entry(name).or_insert(next)
    }
}
