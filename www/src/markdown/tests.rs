use super::*;
use crate::pace::testing::{Counting, finish, stop_after};

fn convert(markdown: &str, sanitize: bool) -> String {
    let params = Params {
        markdown: markdown.into(),
        options: Options { sanitize },
    };
    finish(run(params, &Counting::default()))
        .expect("html")
        .html
}

#[test]
fn headings_lists_tables_code_and_links_become_html() {
    let html = convert(
        "# Title\n\nSome *text* and **more**, [a link](https://example.org).\n\n3. three\n4. four\n\n- [x] done\n\n\
         | a | b |\n|---|--:|\n| 1 | 2 |\n\n```rust\nfn main() {}\n```\n",
        true,
    );
    for part in [
        "<h1>Title</h1>",
        "<em>text</em> and <strong>more</strong>",
        "<a href=\"https://example.org\" rel=\"noopener noreferrer\">a link</a>",
        "<ol start=\"3\">\n<li>three</li>\n<li>four</li>\n</ol>",
        "type=\"checkbox\"",
        "<td style=\"text-align:right\">2</td>",
        "<code class=\"language-rust\">fn main() {}",
    ] {
        assert!(html.contains(part), "{part} in {html}");
    }
}

#[test]
fn scripts_handlers_and_unsafe_urls_are_removed_unless_asked_for() {
    let evil = "<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n\n[x](javascript:alert(1)) \
                <a id=\"abp\" href=\"data:text/html,x\">y</a>\n\n<input type=\"text\" name=\"n\">";
    let html = convert(evil, true);
    for part in [
        "script",
        "onerror",
        "javascript",
        "data:",
        "id=",
        "name=",
        "\"text\"",
    ] {
        assert!(!html.contains(part), "{part} in {html}");
    }
    assert!(convert(evil, false).contains("<script>alert(1)</script>"));
}

#[test]
fn a_text_converted_in_pieces_reads_as_if_converted_whole() {
    let block = "## Part\n\nWords with a note[^n] and `code`.\n\n<div>\n\n*inside*\n\n</div>\n\n* one\n* two\n\n  more\n\n";
    let text = block.repeat(400) + "[^n]: The note.\n";
    let whole = convert(&text, false);
    assert_eq!(whole.matches("<div>").count(), 400);
    assert_eq!(whole.matches("<a href=\"#fn-1\">1</a>").count(), 400);
    assert_eq!(whole.matches("id=\"fn-1\"").count(), 1);

    let clean = convert(&text, true);
    assert_eq!(
        clean
            .matches("<div>\n<p><em>inside</em></p>\n</div>")
            .count(),
        400
    );
    assert_eq!(clean.replace(" rel=\"noopener noreferrer\"", ""), whole);
}

#[test]
fn an_element_left_open_is_closed_at_the_end_only() {
    let text = format!("<div>\n\n{}", "word\n\n".repeat(5000));
    let html = convert(&text, true);
    assert!(html.starts_with("<div>") && html.ends_with("</div>"));
    assert_eq!(html.matches("<p>word</p>").count(), 5000);
}

#[test]
fn deep_nesting_and_an_empty_text_are_converted() {
    assert_eq!(convert("", true), "");
    assert!(convert(&"> ".repeat(500), true).contains("<blockquote>"));
    assert!(convert(&"<b>".repeat(1000), true).contains("<b>"));
}

#[test]
fn too_long_a_text_is_refused() {
    let params = Params {
        markdown: "a".repeat(MAX_BYTES + 1),
        options: Options::default(),
    };
    assert_eq!(
        finish(run(params, &Counting::default())).unwrap_err().code,
        "INVALID_PARAMS"
    );
}

#[test]
fn a_long_text_is_left_at_the_checkpoint_where_it_is_dropped() {
    let text = "A paragraph of some words.\n\n".repeat(20_000) + &"* item\n".repeat(20_000);
    let pace = Counting::default();
    finish(render(&text, true, &pace)).unwrap();
    assert!(
        pace.checkpoints() >= text.len() / (2 * 8 * 1024),
        "{}",
        pace.checkpoints()
    );
    let reports = pace.reports();
    assert!(reports.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    assert_eq!(reports.last().unwrap().0, text.len());

    let pace = Counting::default();
    assert!(stop_after(10, render(&text, true, &pace)).is_none());
    assert_eq!(pace.checkpoints(), 10);
}

/// The whole text as pulldown-cmark renders it.
fn whole(markdown: &str) -> String {
    let extensions = pulldown_cmark::Options::ENABLE_TABLES
        | pulldown_cmark::Options::ENABLE_STRIKETHROUGH
        | pulldown_cmark::Options::ENABLE_TASKLISTS;
    let mut html = String::new();
    pulldown_cmark::html::push_html(
        &mut html,
        pulldown_cmark::Parser::new_ext(markdown, extensions),
    );
    html
}

#[test]
fn sections_are_parsed_as_parts_of_the_whole() {
    let filler = |start: &str| {
        format!(
            "{start}\n\n{}",
            "Some words of a paragraph.\n\n# Heading\n\n".repeat(2000)
        )
    };
    let code = "# not a heading\n\nnor text\n\n".repeat(2000);
    for text in [
        filler("A [link] and [another one][Far  away].\n\n[link]: https://example.org/a 'Title'")
            + "[far away]: <https://example.org/b>\n\n[link]: https://example.org/second",
        filler("text") + "````\n```\n" + &code + "````\n\n" + &filler("after"),
        filler("text") + "~~~ rust\n" + &code,
        filler("text") + "<!--\n\n" + &code + "-->\n\n" + &filler("after"),
        filler("text") + "<pre>\n\n" + &code + "</pre>\n\n" + &filler("after"),
        filler("text") + "<div>\n\n" + &filler("inside") + "</div>\n\nend",
        "<div>\n\n".to_owned()
            + &filler("in")
            + "```\n"
            + &code
            + "```\n\n</div>\n\n```\n"
            + &code
            + "```\n",
        "<div>\n\n".to_owned()
            + &filler("in")
            + "```\n"
            + &code
            + "```\n\n</div>\n\n```\n"
            + &code
            + "```\n",
        "1. item\n\n   more\n\n".repeat(3000)
            + "Paragraph\n\n> quote\n\n"
            + &"    code\n\n".repeat(3000)
            + "end",
        filler("wide").replace('\n', "\r\n"),
        "| a | b |\n|---|---|\n".to_owned()
            + &"| 1 | 2 |\n".repeat(6000)
            + "\nend\n\n"
            + &filler("x"),
    ] {
        assert!(text.len() > 64 * 1024);
        assert!(convert(&text, false) == whole(&text), "{:.200}", text);
    }
}
