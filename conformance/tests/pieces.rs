//! The readers and writers, apart from any peer.

use caphost_conformance::expected;
use caphost_conformance::peer::Tool;
use caphost_conformance::report::junit::escaped;
use caphost_conformance::wire::frames::Frames;
use serde_json::json;

#[test]
fn a_file_of_expected_failures_has_a_reason_for_each() {
    let read = expected::read("# why\n\nMCP-C-09  streams cannot be taken up\r\n")
        .expect("it is well formed");
    assert_eq!(
        read.into_iter().collect::<Vec<_>>(),
        [("MCP-C-09".into(), "streams cannot be taken up".into())]
    );
    assert_eq!(
        expected::read("MCP-C-09"),
        Err("`MCP-C-09` has no reason after it".into())
    );
}

#[test]
fn tools_are_found_by_the_names_that_peers_give_them() {
    assert_eq!(
        Tool::Count.find(["conformance.read", "conformance.count"]),
        Some("conformance.count".into())
    );
    assert_eq!(
        Tool::Read.find(["my-app_conformance_read"]),
        Some("my-app_conformance_read".into())
    );
    assert_eq!(Tool::Count.find(["conformanceCounter", "count"]), None);
}

#[test]
fn text_of_peers_is_escaped() {
    assert_eq!(
        escaped("<a href=\"x\">&\u{1b}\u{0}"),
        "&lt;a href=&quot;x&quot;&gt;&amp;\u{fffd}\u{fffd}"
    );
}

#[tokio::test]
async fn both_frames_are_read_as_they_are_written() {
    let messages = [json!({ "id": 1, "text": "é\n😀" }), json!({})];
    for frames in [Frames::Lines, Frames::Headers] {
        let mut bytes = Vec::new();
        for message in &messages {
            frames.write(message, &mut bytes);
        }
        let mut reader = bytes.as_slice();
        for message in &messages {
            assert_eq!(
                frames.read(&mut reader).await.expect("no error"),
                Some(Ok(message.clone()))
            );
        }
        assert_eq!(frames.read(&mut reader).await.expect("no error"), None);
    }
}
