use caphost::dialect::mcp::STATELESS;

use super::*;

fn extracted(mut data: Value) -> (Value, Value) {
    let run = "6a0e9d0c-6c0b-4a0e-9b9e-0b8f4d2a1c3e".parse().unwrap();
    let blocks = extract(&mut data, 1, &STATELESS, run);
    (data, json!(blocks))
}

#[test]
fn a_file_under_the_name_of_its_type_becomes_an_embedded_resource() {
    let (data, blocks) = extracted(json!({
        "pdf": "JVBERi0=", "mimeType": "application/pdf", "pageCount": 2, "encoding": "base64",
        "filename": "a b.pdf",
    }));
    assert_eq!(data["pdf"], "#/content/1/resource/blob");
    assert_eq!(data["pageCount"], 2);
    assert_eq!(
        blocks,
        json!([{ "type": "resource", "resource": {
                "uri": "caphost://6a0e9d0c-6c0b-4a0e-9b9e-0b8f4d2a1c3e/1/a%20b.pdf",
                "mimeType": "application/pdf", "blob": "JVBERi0=",
            } }])
    );
}

#[test]
fn an_image_that_models_do_not_take_is_a_file() {
    for (media_type, kind) in [
        ("image/png", "image"),
        ("image/jpeg; q=1", "image"),
        ("image/gif", "image"),
        ("image/webp", "image"),
        ("image/svg+xml", "resource"),
        ("image/tiff", "resource"),
        ("image/avif", "resource"),
    ] {
        let (_, blocks) = extracted(json!({ "image": "AAAA", "mimeType": media_type }));
        assert_eq!(blocks[0]["type"], kind, "{media_type}");
    }
    let (_, blocks) = extracted(json!({ "image": "AAAA", "mimeType": "image/jpeg; q=1" }));
    assert_eq!(blocks[0]["mimeType"], "image/jpeg");
}

#[test]
fn images_and_sounds_have_content_types_of_their_own() {
    let (data, blocks) = extracted(json!([
        { "image": "iVBORw0KGgo=", "mimeType": "image/png" },
        { "data": "UklG", "mimeType": "audio/wav", "encoding": "base64" },
    ]));
    assert_eq!(data[0]["image"], "#/content/1/data");
    assert_eq!(data[1]["data"], "#/content/2/data");
    assert_eq!(
        blocks,
        json!([
            { "type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png" },
            { "type": "audio", "data": "UklG", "mimeType": "audio/wav" },
        ])
    );
}

#[test]
fn what_is_no_binary_value_stays_as_it_is() {
    for plain in [
        json!({ "content": "hello", "mimeType": "text/plain", "encoding": "utf-8" }),
        json!({ "content": "hello", "mimeType": "text/plain" }),
        json!({ "content": "not base64!", "mimeType": "image/png", "encoding": "base64" }),
        json!({ "content": "", "mimeType": "image/png", "encoding": "base64" }),
        json!({ "content": "AAAAA", "mimeType": "image/png", "encoding": "base64" }),
        json!({ "content": "AAAA====", "mimeType": "image/png", "encoding": "base64" }),
        json!({ "downloadUrl": "blob:x", "mimeType": "application/zip", "size": 3 }),
        json!({ "content": 7, "mimeType": "image/png", "encoding": "base64" }),
        json!({ "content": "AAAA", "mimeType": "nonsense", "encoding": "hex" }),
        json!({ "pdf": "AAAA", "mimeType": 5 }),
        json!("AAAA"),
        json!(null),
    ] {
        let (data, blocks) = extracted(plain.clone());
        assert_eq!((data, blocks), (plain, json!([])));
    }
}

#[test]
fn base64_is_given_as_clients_want_it() {
    let (_, blocks) = extracted(json!([
        { "content": "aGVs\r\nbG8", "mimeType": "image/png", "encoding": "base64" },
        { "png": "aGVsbA", "mimeType": "image/png" },
    ]));
    assert_eq!(blocks[0]["data"], "aGVsbG8=");
    assert_eq!(blocks[1]["data"], "aGVsbA==");
}

#[test]
fn a_type_that_makes_no_sense_is_still_passed_on_as_a_resource() {
    let (data, blocks) = extracted(json!({
        "content": "AAAA", "mimeType": "nonsense", "encoding": "base64",
    }));
    assert_eq!(data["content"], "#/content/1/resource/blob");
    assert_eq!(blocks[0]["resource"]["mimeType"], "nonsense");
}
