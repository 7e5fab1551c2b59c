//! Text within a line: its style and its blanks.

use super::block::{Style, Text};
use scraper::node::Element;

/// Changes `style` to that of text inside `element`.
pub fn restyle(style: &mut Style, element: &Element) {
    match element.name() {
        "b" | "strong" | "th" | "dt" | "summary" | "legend" => style.emphasis.bold = true,
        "i" | "em" | "cite" | "dfn" | "var" | "address" | "figcaption" | "caption" => {
            style.emphasis.italic = true;
        }
        "code" | "kbd" | "samp" | "tt" | "pre" => style.emphasis.mono = true,
        "s" | "del" | "strike" => style.strike = true,
        "u" | "ins" => style.underline = true,
        "sup" => style.shift = 1,
        "sub" => style.shift = -1,
        "a" => {
            if let Some(target) = element.attr("href").filter(|target| leads_out(target)) {
                style.link = Some(target.into());
            }
        }
        _ => {}
    }
}

/// Whether a link works outside the page that it was written for, and is safe to follow.
fn leads_out(target: &str) -> bool {
    let lower = target
        .trim_start()
        .get(..8)
        .unwrap_or(target)
        .to_ascii_lowercase();
    ["http://", "https://", "mailto:", "tel:"]
        .iter()
        .any(|scheme| lower.starts_with(scheme))
}

/// Adds text as HTML shows it: a run of blanks becomes one blank, and none starts a line.
pub fn push_collapsed(to: &mut Text, text: &str, style: &Style) {
    let mut piece = String::with_capacity(text.len());
    let mut blank = to.is_empty() || to.text.ends_with([' ', '\n']);
    for c in text.chars() {
        match c {
            ' ' | '\n' | '\t' | '\r' | '\x0c' => {
                if !blank {
                    piece.push(' ');
                }
                blank = true;
            }
            c => {
                piece.push(c);
                blank = false;
            }
        }
    }
    to.push(&piece, style);
}

/// Adds text unchanged, except that tabs become blanks.
pub fn push_verbatim(to: &mut Text, text: &str, style: &Style) {
    let text = text.replace("\r\n", "\n").replace('\t', "    ");
    // The line end directly after <pre> is not part of the text.
    let text = if to.is_empty() {
        text.strip_prefix('\n').unwrap_or(&text)
    } else {
        &text
    };
    to.push(text, style);
}
