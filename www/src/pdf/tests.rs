use super::*;
use crate::pace::testing::{Counting, finish, stop_after};
use base64::Engine;
use lopdf::{Document as Pdf, Object};
use serde_json::{Value, json};

fn export(value: Value) -> Result<Document, Failure> {
    let params = serde_json::from_value(value).expect("parameters");
    finish(run(params, &Counting::default()))
}

fn bytes(document: &Document) -> Vec<u8> {
    let Payload::Base64(text) = &document.pdf else {
        panic!("base64 is the default")
    };
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(text)
        .expect("base64");
    assert_eq!(bytes.len(), document.size);
    bytes
}

/// Writes the document and reads it again.
fn read(value: Value) -> (Document, Pdf) {
    let document = export(value).expect("a document");
    let pdf = Pdf::load_mem(&bytes(&document)).expect("a valid PDF file");
    assert_eq!(pdf.get_pages().len(), document.page_count);
    (document, pdf)
}

/// The text of a page. Each run of blanks and line ends is one blank.
fn text(pdf: &Pdf, page: u32) -> String {
    let text = pdf
        .extract_text(&[page])
        .expect("text that can be selected");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The content of a page as PDF operators.
fn marks(pdf: &Pdf, page: u32) -> Vec<lopdf::content::Operation> {
    let id = pdf.get_pages()[&page];
    let content = pdf.get_page_content(id);
    lopdf::content::Content::decode(&content)
        .expect("operators")
        .operations
}

fn fonts_used(pdf: &Pdf, page: u32) -> Vec<String> {
    let is_font = |operation: &&lopdf::content::Operation| operation.operator == "Tf";
    let name = |operation: &lopdf::content::Operation| {
        String::from_utf8(operation.operands[0].as_name().expect("a name").to_vec()).expect("ASCII")
    };
    marks(pdf, page).iter().filter(is_font).map(name).collect()
}

#[test]
fn the_text_of_every_element_can_be_selected() {
    let (document, pdf) = read(
        json!({ "html": "<!doctype html><html><head><title>A  Report</title>\
        <style>p { color: red }</style></head><body><h1>Heading one</h1><p>Plain, <b>bold</b>, <i>italic</i>,\
        <b><i>both</i></b> and <code>code</code>.</p><ul><li>first<li>second<ol start=7><li>inner</ol></ul>\
        <blockquote>quoted</blockquote><pre>let a  = 1;\n    indented</pre><table><tr><th>Name<th>Price<tr>\
        <td>Lamp<td align=right>12.50</table><p>H<sub>2</sub>O &amp; x<sup>2</sup></p><script>alert(1)</script>\
        <p><a href='https://example.org/a'>a link</a></p><hr><p>last</p>" }),
    );
    assert_eq!(
        (
            document.page_count,
            document.mime_type,
            document.filename.as_str()
        ),
        (1, "application/pdf", "A-Report.pdf")
    );
    let text = text(&pdf, 1);
    for part in [
        "Heading one",
        "Plain, bold, italic,",
        "both",
        "and code.",
        "• first",
        "• second",
        "7. inner",
        "quoted",
        "indented",
        "Name",
        "Price",
        "Lamp",
        "12.50",
        "a link",
        "last",
        "1 / 1",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    for hidden in ["color", "alert", "A Report"] {
        assert!(!text.contains(hidden), "{hidden} in {text}");
    }
    let fonts = fonts_used(&pdf, 1);
    for font in ["F0", "F1", "F2", "F3", "F4"] {
        assert!(fonts.iter().any(|used| used == font), "{font}");
    }
}

#[test]
fn markdown_is_exported_as_its_html_is() {
    let markdown = "# Title\n\nSome **bold** text.\n\n1. one\n2. two\n\n| a | b |\n|---|---|\n| c | d |\n\n- [x] done\n";
    let (document, pdf) = read(json!({ "markdown": markdown }));
    assert_eq!(document.filename, "Title.pdf");
    let text = text(&pdf, 1);
    for part in ["Title", "Some bold text.", "1. one", "2. two", "☑ done"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn text_of_many_scripts_is_selected_as_it_was_written() {
    let written = "Ελληνικά Русский Łódź Ünïcödé “quotes” – “dash” … € → ∑ ≤ ½ ﬁ 日本語 한국어 🙂 non\u{a0}breaking";
    let (_, pdf) = read(json!({ "html": format!("<p>{written}</p><p><b>{written}</b></p>") }));
    let text = text(&pdf, 1);
    let written = written.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(text.matches(&written).count(), 2, "{text}");
}

#[test]
fn pages_have_the_size_asked_for_and_are_numbered() {
    let html = "<p>A paragraph of a few words that is repeated.</p>".repeat(300);
    for (size, width, height) in [
        ("letter", 612.0, 792.0),
        ("a4", 595.28, 841.89),
        ("legal", 612.0, 1008.0),
    ] {
        let (document, pdf) = read(json!({ "html": html, "options": { "pageSize": size } }));
        let count = document.page_count;
        assert!((7..12).contains(&count), "{count}");
        for (number, id) in pdf.get_pages() {
            assert!(text(&pdf, number).ends_with(&format!("{number} / {count}")));
            let tree = pdf
                .get_dictionary(id)
                .unwrap()
                .get(b"Parent")
                .unwrap()
                .as_reference()
                .unwrap();
            let media_box = pdf
                .get_dictionary(tree)
                .unwrap()
                .get(b"MediaBox")
                .unwrap()
                .as_array()
                .unwrap();
            let side = |index: usize| media_box[index].as_float().unwrap();
            assert_eq!((side(2), side(3)), (width, height));
        }
        let words: usize = (1..=count as u32)
            .map(|page| text(&pdf, page).matches("paragraph").count())
            .sum();
        assert_eq!(words, 300);
    }
}

#[test]
fn nothing_is_written_outside_the_margins() {
    let html = format!(
        "<p>{}</p><pre>{}</pre>{}<p>deep</p>",
        "unbreakable".repeat(60),
        "0123456789".repeat(40),
        "<blockquote>".repeat(60)
    );
    let (_, pdf) = read(json!({ "html": html }));
    for page in pdf.get_pages().keys() {
        for operation in marks(&pdf, *page)
            .iter()
            .filter(|operation| operation.operator == "Tm")
        {
            let at = |index: usize| operation.operands[index].as_float().unwrap();
            assert!(
                (56.0..540.0).contains(&at(4)) && (20.0..800.0).contains(&at(5)),
                "{operation:?}"
            );
        }
        assert!(pdf.extract_text(&[*page]).is_ok());
    }
}

#[test]
fn links_and_headings_lead_somewhere() {
    let html = "<h1>One</h1><p><a href='https://example.org/x?a=1&amp;b=2'>out</a> <a href='#in'>in</a> \
                <a href='javascript:alert(1)'>bad</a></p><h2>One A</h2><h2>One B</h2><h1>Two</h1>";
    let (_, pdf) = read(json!({ "html": html }));
    let is_uri = |object: &&Object| {
        object
            .as_dict()
            .is_ok_and(|dictionary| dictionary.has(b"A"))
    };
    let links: Vec<_> = pdf.objects.values().filter(is_uri).collect();
    assert_eq!(links.len(), 1);
    let action = links[0]
        .as_dict()
        .unwrap()
        .get(b"A")
        .unwrap()
        .as_dict()
        .unwrap();
    assert_eq!(
        action.get(b"URI").unwrap().as_str().unwrap(),
        b"https://example.org/x?a=1&b=2"
    );
    let bookmarks = pdf.get_toc().expect("bookmarks").toc;
    let found: Vec<_> = bookmarks
        .iter()
        .map(|entry| (entry.level, entry.title.as_str(), entry.page))
        .collect();
    assert_eq!(
        found,
        [
            (1, "One", 1),
            (2, "One A", 1),
            (2, "One B", 1),
            (1, "Two", 1)
        ]
    );
}

#[test]
fn images_are_embedded_and_unreadable_ones_named() {
    let pixels = image::RgbaImage::from_fn(40, 20, |x, y| {
        image::Rgba([x as u8, y as u8, 9, (x * 6) as u8])
    });
    let image = image::DynamicImage::from(pixels);
    let url = |format: image::ImageFormat, image: image::DynamicImage| {
        let mut file = std::io::Cursor::new(Vec::new());
        image.write_to(&mut file, format).unwrap();
        let text = base64::engine::general_purpose::STANDARD.encode(file.get_ref());
        format!("data:{};base64,{text}", format.to_mime_type())
    };
    let png = url(image::ImageFormat::Png, image.clone());
    let jpeg = url(image::ImageFormat::Jpeg, image.to_rgb8().into());
    let webp = url(image::ImageFormat::WebP, image);
    let (_, pdf) = read(json!({ "html": format!(
        "<img src='{png}'><img src='{png}' width=200><img src='{jpeg}'><p>text <img src='{webp}'> more</p>\
         <img src='data:image/png;base64,AAAA' alt='broken'><img src='https://example.org/x.png' alt='far away'>"
    ) }));
    let is_image = |object: &&Object| {
        object.as_stream().is_ok_and(|stream| {
            let kind = stream.dict.get(b"Subtype").and_then(Object::as_name);
            kind.is_ok_and(|kind| kind == b"Image")
        })
    };
    let images = pdf.objects.values().filter(is_image);
    // A PNG and a WebP, each with its opacity, and an unchanged JPEG.
    assert_eq!(images.count(), 5);
    let drawn = marks(&pdf, 1)
        .iter()
        .filter(|operation| operation.operator == "Do")
        .count();
    assert_eq!(drawn, 4);
    let text = text(&pdf, 1);
    assert!(
        text.contains("[broken]") && text.contains("[far away]"),
        "{text}"
    );
}

#[test]
fn a_long_table_repeats_its_headings_on_every_page() {
    let rows: String = (0..400)
        .map(|row| format!("<tr><td>row {row}<td>{}", "word ".repeat(row % 40)))
        .collect();
    let (document, pdf) =
        read(json!({ "html": format!("<table><tr><th>Number<th>Words{rows}</table>") }));
    assert!(document.page_count > 10);
    let mut found = 0;
    for page in 1..=document.page_count as u32 {
        let text = text(&pdf, page);
        assert!(text.starts_with("Number Words"), "{page}: {text}");
        found += text.matches("row ").count();
    }
    assert_eq!(found, 400);
}

#[test]
fn a_row_longer_than_a_page_goes_on() {
    let html = format!(
        "<table><tr><td>side<td>{}<tr><td>a<td>b</table>",
        "word ".repeat(6000)
    );
    let (document, pdf) = read(json!({ "html": html }));
    assert!(document.page_count > 3);
    let words: usize = (1..=document.page_count as u32)
        .map(|page| text(&pdf, page).matches("word").count())
        .sum();
    assert_eq!(words, 6000);
}

#[test]
fn empty_and_odd_documents_have_a_page() {
    for html in [
        "",
        "   ",
        "<",
        "<p>",
        "<table><tr><td colspan=99999></table>",
        "<ul><li></ul>",
        "\0",
        "<img src='data:'>",
    ] {
        assert_eq!(
            export(json!({ "html": html })).expect(html).page_count,
            1,
            "{html}"
        );
    }
    let deep = "<div><ul><li>".repeat(3000) + "deep";
    assert_eq!(text(&read(json!({ "html": deep })).1, 1), "▪ deep 1 / 1");
}

#[test]
fn html_or_markdown_is_needed_and_not_both() {
    assert_eq!(export(json!({})).unwrap_err().code, "MISSING_PARAM");
    assert_eq!(
        export(json!({ "html": "", "markdown": "" }))
            .unwrap_err()
            .code,
        "INVALID_PARAMS"
    );
}

#[test]
fn the_same_document_gives_the_same_file() {
    let params = json!({ "markdown": "# A\n\ntext", "options": { "title": "T" } });
    assert_eq!(
        bytes(&export(params.clone()).unwrap()),
        bytes(&export(params).unwrap())
    );
}

#[test]
fn a_long_document_is_left_at_the_checkpoint_where_it_is_dropped() {
    let html =
        "<h2>Part</h2><p>Some words of text.</p>".repeat(400) + "<p>" + &"word ".repeat(40_000);
    let params = Params {
        html: Some(html),
        ..Params::default()
    };
    let pace = Counting::default();
    let document = finish(run(params.clone(), &pace)).unwrap();
    let all = pace.checkpoints();
    // Steps of reading, steps for each block and for each few lines of the long paragraph, and
    // steps for pages.
    assert!(all > 800, "{all}");
    assert!(document.page_count > 40);
    for stage in ["reading", "laying out", "writing pages", "embedding fonts"] {
        assert!(
            pace.reports().iter().any(|report| report.2 == stage),
            "{stage}"
        );
    }

    let pace = Counting::default();
    assert!(stop_after(all / 2, run(params, &pace)).is_none());
    assert_eq!(pace.checkpoints(), all / 2);
}
