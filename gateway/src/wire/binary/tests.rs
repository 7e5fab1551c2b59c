use serde_json::json;

use super::*;

fn member(data: Value) -> Option<String> {
    let found = Binary::of(&data)?;
    Some(found.member().to_string())
}

#[test]
fn the_content_has_a_plain_name_or_that_of_its_type() {
    for (name, media_type, encoding) in [
        ("content", "image/png", "base64"),
        ("data", "a/b", "base64"),
        ("pdf", "application/pdf", "base64"),
        ("png", "image/png; q=1", "base64"),
        ("png", "IMAGE/PNG", "base64"),
        ("image", "image/png", "base64"),
        ("content", "nonsense", "base64"),
        ("svg+xml", "image/svg+xml", "utf8"),
    ] {
        let data = json!({ name: "aGk=", "mimeType": media_type, "encoding": encoding });
        assert_eq!(member(data).as_deref(), Some(name));
    }
    let data = json!({ "png": "aGk=", "mimeType": "image/png" });
    assert_eq!(member(data).as_deref(), Some("png"), "no encoding");
}

#[test]
fn of_several_texts_the_content_is_the_first_that_can_be_read() {
    let data = json!({ "content": "AAAA", "image": "BBBB", "mimeType": "image/png", "encoding": "base64" });
    assert_eq!(member(data).as_deref(), Some("content"));
    let data = json!({ "content": "a picture of a cat!", "image": "BBBB", "mimeType": "image/png", "encoding": "base64" });
    assert_eq!(member(data).as_deref(), Some("image"));
}

#[test]
fn what_declares_no_file_has_none() {
    for data in [
        json!(null),
        json!("AAAA"),
        json!([1]),
        json!({ "content": "AAAA" }),
        json!({ "content": "AAAA", "mimeType": "a/b" }),
        json!({ "text": "word", "mimeType": "text/plain" }),
        json!({ "image": "a link!", "mimeType": "image/png" }),
        json!({ "content": "AAAA", "encoding": "arraybuffer" }),
        json!({ "content": 7, "mimeType": "a/b", "encoding": "base64" }),
        json!({ "note": "AAAA", "mimeType": "image/png", "encoding": "base64" }),
        json!({ "pdf": "AAAA", "mimeType": 5 }),
    ] {
        assert_eq!(Binary::all(&data), [], "{data}");
    }
}

#[test]
fn what_says_that_it_is_a_file_and_cannot_be_read_is_found_all_the_same() {
    for bad in ["not base64!", "AAAAA", "AAAA===", "AA=A"] {
        let data = json!({ "content": bad, "encoding": "base64" });
        assert!(!Binary::of(&data).unwrap().is_valid, "{bad}");
    }
    let empty = json!({ "content": "", "encoding": "base64" });
    assert!(Binary::of(&empty).unwrap().is_valid);
}

#[test]
fn files_lie_anywhere_and_have_the_type_of_what_is_around_them() {
    let mut data = json!({
        "mimeType": "image/png",
        "a/b~": [{ "png": "aG\nk", "encoding": "base64", "size": 2, "filename": "x.png" }, 1],
        "z": { "image": "BBBB", "mimeType": "image/webp" },
    });
    let found = Binary::all(&data);
    assert_eq!(found[0].path, ["a/b~", "0", "png"]);
    assert_eq!(found[0].media_type.as_deref(), Some("image/png"));
    assert_eq!(
        (found[0].size, found[0].filename.as_deref()),
        (Some(2), Some("x.png"))
    );
    assert_eq!(found[1].media_type.as_deref(), Some("image/webp"));
    assert_eq!(found.len(), 2);
    let text = found[0].text(&data);
    assert_eq!(found[0].encoding.decode(text).unwrap(), b"hi");
    assert_eq!(found[0].remove(&mut data).as_deref(), Some("aG\nk"));
    assert_eq!(data["a/b~"][0].get("png"), None);
    *found[1].text_mut(&mut data).unwrap() = "taken".into();
    assert_eq!(data["z"]["image"], "taken");
}

#[test]
fn base64_is_given_in_one_line_and_padded() {
    assert_eq!(canonical("aGVs\r\nbG8".into()), "aGVsbG8=");
    assert_eq!(canonical("aGVsbG8=".into()), "aGVsbG8=");
}
