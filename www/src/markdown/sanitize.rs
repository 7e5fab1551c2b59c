//! The HTML that may stay in a converted text.

use ammonia::Builder;
use std::borrow::Cow;
use std::collections::HashSet;

/// Ammonia's own list of safe HTML, and the additions that Markdown needs: alignment of table
/// cells, languages of code, footnotes, check boxes of task lists.
pub fn sanitizer() -> Builder<'static> {
    let mut builder = Builder::default();
    builder
        .add_tags(["input"])
        .add_tag_attributes("input", ["checked"])
        .set_tag_attribute_value("input", "type", "checkbox")
        .set_tag_attribute_value("input", "disabled", "")
        .add_tag_attributes("code", ["class"])
        .add_tag_attributes("sup", ["class"])
        .add_tag_attributes("div", ["class", "id"])
        .add_tag_attributes("th", ["style"])
        .add_tag_attributes("td", ["style"])
        .filter_style_properties(HashSet::from(["text-align"]))
        .attribute_filter(|_, name, value| keep(name, value).then_some(Cow::Borrowed(value)));
    builder
}

/// Whether an attribute stays. Other ids and classes could collide with those of the page around it.
fn keep(name: &str, value: &str) -> bool {
    match name {
        "id" => value.starts_with("fn-"),
        "class" => value.starts_with("language-") || value.starts_with("footnote-"),
        _ => true,
    }
}
