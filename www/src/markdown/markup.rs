//! Whether raw HTML in Markdown has elements open.

/// Counts the elements that raw HTML opens and does not close.
///
/// Markdown lets an element start in one block and end in another, so a text may be cut only where
/// nothing is open. The count errs towards "open": such a text is then converted in larger pieces.
#[derive(Default)]
pub struct OpenElements(usize);

/// Elements without content, and those that end by themselves when the next begins: what counts is
/// the list or table around them.
const UNCOUNTED: [&str; 29] = [
    "area", "base", "br", "col", "colgroup", "dd", "dt", "embed", "hr", "img", "input", "li",
    "link", "meta", "optgroup", "option", "p", "param", "rp", "rt", "source", "tbody", "td",
    "tfoot", "th", "thead", "tr", "track", "wbr",
];

impl OpenElements {
    /// Reads one piece of raw HTML.
    pub fn read(&mut self, html: &str) {
        for tag in html.split('<').skip(1) {
            let (closes, name) = match tag.strip_prefix('/') {
                Some(rest) => (true, rest),
                None => (false, tag),
            };
            if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
                continue;
            }
            let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
            let name = &name[..end.unwrap_or(name.len())];
            if UNCOUNTED
                .iter()
                .any(|other| other.eq_ignore_ascii_case(name))
            {
                continue;
            }
            self.0 = if closes {
                self.0.saturating_sub(1)
            } else {
                self.0 + 1
            };
        }
    }

    /// How many elements are open.
    pub fn count(&self) -> usize {
        self.0
    }

    /// Whether everything that was opened is closed.
    pub fn none(&self) -> bool {
        self.0 == 0
    }
}
