use super::*;

/// What comes out when the bytes come so many at a time.
fn frames(bytes: &[u8], step: usize, max: usize) -> (Vec<Frame>, Option<Lost>) {
    let mut deframer = Deframer::new(max);
    let mut frames = Vec::new();
    for part in bytes.chunks(step) {
        deframer.push(part);
        loop {
            match deframer.next_frame() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(lost) => return (frames, Some(lost)),
            }
        }
    }
    frames.extend(deframer.finish());
    (frames, None)
}

fn message(text: &str) -> Frame {
    Frame::Message(text.into())
}

#[test]
fn lines() {
    let bytes = "\r\n {\"a\":\"ü\"}\r\n\n[]\nnonsense\n{}".as_bytes();
    let expected = [r#"{"a":"ü"}"#, "[]", "nonsense", "{}"].map(message);
    for step in 1..bytes.len() {
        assert_eq!(frames(bytes, step, 100), (expected.to_vec(), None));
    }
}

#[test]
fn headers() {
    let bytes = "Content-Length: 10\r\n\r\n{\"a\":\"ü\"}\
        content-type: x; charset=utf-8\r\nCONTENT-LENGTH:2\r\n\r\n[]\r\n\
        Content-Length: 0\n\nContent-Length: 3\r\n\r\n\n{}";
    let expected = [r#"{"a":"ü"}"#, "[]", "", "\n{}"].map(message);
    for step in 1..bytes.len() {
        assert_eq!(
            frames(bytes.as_bytes(), step, 100),
            (expected.to_vec(), None)
        );
    }
}

#[test]
fn what_is_too_large_is_dropped_and_the_next_is_read() {
    let line = format!("{{}}\n{}\n[]\n", "x".repeat(50));
    let headers = format!("Content-Length: 50\r\n\r\n{}", "x".repeat(50));
    let headers = format!("{headers}Content-Length: 2\r\n\r\n[]");
    for step in 1..60 {
        let expected = vec![message("{}"), Frame::TooLarge(50), message("[]")];
        assert_eq!(frames(line.as_bytes(), step, 20), (expected.clone(), None));
        let expected = expected[1..].to_vec();
        assert_eq!(frames(headers.as_bytes(), step, 20), (expected, None));
    }
    let mut deframer = Deframer::new(20);
    for _ in 0..1_000 {
        deframer.push(&[b'x'; 100]);
        assert_eq!(deframer.next_frame(), Ok(None));
        assert!(deframer.bytes.len() <= 120);
    }
}

#[test]
fn what_is_not_utf_8() {
    let expected = vec![Frame::NotText, message("{}")];
    assert_eq!(frames(b"\xff\n{}\n", 1, 20), (expected.clone(), None));
    let headers = b"Content-Length: 1\r\n\r\n\xffContent-Length: 2\r\n\r\n{}";
    assert_eq!(frames(headers, 1, 20), (expected, None));
}

#[test]
fn headers_that_make_no_sense_are_the_end() {
    let endless = format!("Content-Type: {}", "x".repeat(MAX_HEADER_BYTES));
    for bytes in [
        "Content-Length: -1\r\n\r\n",
        "Content-Length: two\r\n\r\n",
        "Content-Type: x\r\n\r\n",
        "Content-Length: 2\r\n\r\n{}nonsense\r\n\r\n",
        &endless,
    ] {
        let (_, lost) = frames(bytes.as_bytes(), 7, 20);
        assert!(lost.is_some(), "{bytes:.40}");
    }
}

#[test]
fn nothing_comes_of_a_message_cut_off() {
    for bytes in ["", " \n", "Content-Length: 5\r\n\r\n{}", "Content-Len"] {
        assert_eq!(frames(bytes.as_bytes(), 3, 20), (vec![], None));
    }
}

#[test]
fn a_message_is_written_as_it_would_be_read() {
    for framing in [Framing::Lines, Framing::Headers] {
        let bytes = framing.write("{\"a\":\n\"ü\"}");
        let (read, _) = frames(&bytes, 1, 100);
        let [Frame::Message(text)] = &read[..] else {
            panic!("{read:?}")
        };
        assert_eq!(text.replace(['\n', ' '], ""), r#"{"a":"ü"}"#);
    }
}
