//! Splits Markdown into sections that can be parsed one at a time.

use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag};
use std::collections::HashMap;
use std::ops::Range;

/// Returns where the section that begins at `start` may end, after at least `least` bytes.
///
/// After an empty line, text without indentation ends every block except fenced code and some raw
/// HTML. Whether such a block was open is known when the section is parsed: see [`LastBlock`].
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
    /// The block's range in the section, and whether it is code, if it is fenced code or raw HTML.
    block: Option<(Range<usize>, bool)>,
}

impl LastBlock {
    /// Takes the next event of the section, and its range in the section.
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

    /// Whether the block may continue after the section.
    pub fn goes_on(&self, section: &str) -> bool {
        let Some((range, code)) = &self.block else {
            return false;
        };
        let block = section[range.start..].trim();
        if !code {
            // These HTML blocks do not end with an empty line.
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

/// The link definitions of all sections. A link may be defined in another section than its use.
#[derive(Default)]
pub struct References(HashMap<String, (String, String)>);

impl References {
    /// Reads the definitions of one section. The first definition of a name counts.
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

    /// Returns the target and the title of a link.
    pub fn find<'a>(&self, label: &str) -> Option<(CowStr<'a>, CowStr<'a>)> {
        let (target, title) = self.0.get(&name(label))?;
        Some((target.clone().into(), title.clone().into()))
    }
}

/// Normalises a label for comparison.
fn name(label: &str) -> String {
    label
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase()
}
