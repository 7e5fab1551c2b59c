//! Markdown that can be parsed a section at a time.

use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag};
use std::collections::HashMap;
use std::ops::Range;

/// Where the section that begins at `start` may end, at least `least` bytes on.
///
/// After an empty line, text at the very left ends every block but fenced code and some raw HTML;
/// whether one of those was open shows when the section is parsed: see [`LastBlock`].
pub fn end(markdown: &str, start: usize, least: usize) -> usize {
    let from = markdown.ceil_char_boundary((start + least).min(markdown.len()));
    let breaks = markdown[from..]
        .match_indices('\n')
        .map(|(at, _)| from + at);
    let begins = |at: &usize| {
        markdown[..*at].trim_end_matches('\r').ends_with('\n')
            && markdown[at + 1..].starts_with(|c: char| c == '#' || c.is_alphabetic())
    };
    breaks
        .filter(|at| *at > start)
        .find(begins)
        .map_or(markdown.len(), |at| at + 1)
}

/// The last block of a section.
#[derive(Default)]
pub struct LastBlock {
    depth: usize,
    /// Where it is in the section, and whether it is code, if it is fenced code or raw HTML.
    block: Option<(Range<usize>, bool)>,
}

impl LastBlock {
    /// Sees the next event of the section, and where in it that is.
    pub fn see(&mut self, event: &Event, range: &Range<usize>) {
        if let Event::End(_) = event {
            self.depth -= 1;
            return;
        }
        if self.depth == 0 {
            self.block = match event {
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                    Some((range.clone(), true))
                }
                Event::Start(Tag::HtmlBlock) => Some((range.clone(), false)),
                _ => None,
            };
        }
        if let Event::Start(_) = event {
            self.depth += 1;
        }
    }

    /// Whether it may go on after the section.
    pub fn goes_on(&self, section: &str) -> bool {
        let Some((range, code)) = &self.block else {
            return false;
        };
        let block = section[range.start..].trim();
        if !code {
            // Those that do not end with an empty line.
            let start = block.get(..9).unwrap_or(block).to_ascii_lowercase();
            let long = ["<!", "<?", "<pre", "<script", "<style", "<textarea"];
            return long.iter().any(|tag| start.starts_with(tag));
        }
        let fence = |line: &str| {
            let mark = line
                .trim_start()
                .chars()
                .next()
                .filter(|c| matches!(c, '`' | '~'))?;
            let length = line.trim_start().chars().take_while(|&c| c == mark).count();
            Some((mark, length, line.trim().len() == length))
        };
        let mut lines = block.lines();
        let (opening, closing) = (
            lines.next().and_then(fence),
            lines.next_back().and_then(fence),
        );
        match (opening, closing) {
            (Some((mark, length, _)), Some((same, longer, true))) => {
                mark != same || longer < length
            }
            _ => true,
        }
    }
}

/// The link definitions of all sections: a link may be defined in another one.
#[derive(Default)]
pub struct References(HashMap<String, (String, String)>);

impl References {
    /// Reads those of one section. The first of a name counts.
    pub fn read(&mut self, section: &str, options: Options) {
        for (label, link) in Parser::new_ext(section, options)
            .reference_definitions()
            .iter()
        {
            let title = link.title.as_deref().unwrap_or_default();
            self.0
                .entry(name(label))
                .or_insert_with(|| (link.dest.to_string(), title.to_owned()));
        }
    }

    /// Where a link leads, and its title.
    pub fn find<'a>(&self, label: &str) -> Option<(CowStr<'a>, CowStr<'a>)> {
        let (target, title) = self.0.get(&name(label))?;
        Some((target.clone().into(), title.clone().into()))
    }
}

/// A label as labels are compared.
fn name(label: &str) -> String {
    label
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase()
}
