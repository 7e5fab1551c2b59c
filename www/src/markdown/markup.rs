//! Tracks whether raw HTML in Markdown has open elements.

/// Counts the elements that raw HTML opens and does not close.
///
/// In Markdown an element may start in one block and end in another, so a text can be cut only
/// where no element is open. In doubt the count says "open", and the text is then converted in
/// larger pieces.
#[derive(Default)]
pub struct OpenElements(usize);

/// Elements without content, and elements that end when the next one begins. The list or table
/// around them counts instead.
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

    /// Whether all opened elements are closed.
    pub fn none(&self) -> bool {
        self.0 == 0
    }
}
