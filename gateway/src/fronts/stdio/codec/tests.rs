use super::*;

/// The frames if the bytes come in steps of `step`, and whether the stream ended with an error.
fn frames(mut codec: Codec, bytes: &[u8], step: usize) -> (Vec<Frame>, bool) {
    let (mut frames, mut buffer) = (Vec::new(), BytesMut::new());
    for part in bytes.chunks(step) {
        buffer.extend_from_slice(part);
        loop {
            match codec.decode(&mut buffer) {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(_) => return (frames, true),
            }
        }
    }
    loop {
        match codec.decode_eof(&mut buffer) {
            Ok(Some(frame)) => frames.push(frame),
            ended => return (frames, ended.is_err()),
        }
    }
}

fn detected(bytes: &[u8], step: usize, max: usize) -> (Vec<Frame>, bool) {
    frames(Codec::detecting(max), bytes, step)
}

fn message(text: &str) -> Frame {
    Frame::Message(text.into())
}

#[test]
fn lines() {
    let bytes = "\r\n {\"a\":\"ü\"}\r\n\n  \n[]\nnonsense\n{}".as_bytes();
    let expected = [r#"{"a":"ü"}"#, "[]", "nonsense", "{}"].map(message);
    for step in 1..bytes.len() {
        assert_eq!(detected(bytes, step, 100), (expected.to_vec(), false));
        let read = frames(Codec::lines(100), bytes, step);
        assert_eq!(read, (expected.to_vec(), false));
    }
    let header = frames(Codec::lines(100), b"Content-Length: 2\n{}", 3);
    assert_eq!(header.0, [message("Content-Length: 2"), message("{}")]);
}

#[test]
fn headers() {
    let bytes = "Content-Length: 10\r\n\r\n{\"a\":\"ü\"}\
            content-type: x; charset=utf-8\r\nCONTENT-LENGTH:2\r\n\r\n[]\r\n\
            Content-Length: 0\n\nContent-Length: 3\r\n\r\n\n{}";
    let expected = [r#"{"a":"ü"}"#, "[]", "", "\n{}"].map(message);
    for step in 1..bytes.len() {
        let read = detected(bytes.as_bytes(), step, 100);
        assert_eq!(read, (expected.to_vec(), false));
    }
}

#[test]
fn what_is_too_large_is_dropped_and_the_next_is_read() {
    let line = format!("{{}}\n{}\n[]\n", "x".repeat(50));
    let headers = format!("Content-Length: 50\r\n\r\n{}", "x".repeat(50));
    let headers = format!("{headers}Content-Length: 2\r\n\r\n[]");
    for step in 1..60 {
        let expected = vec![message("{}"), Frame::TooLarge(50), message("[]")];
        let read = detected(line.as_bytes(), step, 20);
        assert_eq!(read, (expected.clone(), false));
        let read = detected(headers.as_bytes(), step, 20);
        assert_eq!(read, (expected[1..].to_vec(), false));
    }
    let (mut codec, mut buffer) = (Codec::detecting(20), BytesMut::new());
    for _ in 0..1_000 {
        buffer.extend_from_slice(&[b'x'; 100]);
        assert!(codec.decode(&mut buffer).unwrap().is_none());
        assert!(buffer.is_empty());
    }
}

#[test]
fn what_is_not_utf_8() {
    let expected = (vec![Frame::NotText, message("{}")], false);
    assert_eq!(detected(b"\xff\n{}\n", 1, 20), expected);
    let headers = b"Content-Length: 1\r\n\r\n\xffContent-Length: 2\r\n\r\n{}";
    assert_eq!(detected(headers, 1, 20), expected);
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
        let (_, lost) = detected(bytes.as_bytes(), 7, 20);
        assert!(lost, "{bytes:.40}");
    }
}

#[test]
fn a_message_cut_off_is_the_end_and_a_last_line_is_not() {
    for (bytes, lost) in [
        ("", false),
        (" \n", false),
        ("Content-Length: 2\r\n\r\n{}\r\n", false),
        ("Content-Length: 5\r\n\r\n{}", true),
        ("Content-Length: 50\r\n\r\n{}", true),
        ("Content-Length: 5\r\n\r\n", true),
        ("Content-Len", true),
        ("Con", true),
    ] {
        assert_eq!(detected(bytes.as_bytes(), 3, 20).1, lost, "{bytes:?}");
    }
    let line = "x".repeat(50);
    let expected = (vec![Frame::TooLarge(50)], false);
    assert_eq!(detected(line.as_bytes(), 7, 20), expected);
}

#[test]
fn a_message_is_written_as_it_would_be_read() {
    for framing in [Framing::Lines, Framing::Headers] {
        let mut codec = Codec::detecting(100);
        let _ = codec.framing.set(framing);
        let mut bytes = BytesMut::new();
        codec.encode("{\"a\":\n\"ü\"}", &mut bytes).unwrap();
        let (read, _) = detected(&bytes, 1, 100);
        let [Frame::Message(text)] = &read[..] else {
            panic!("{read:?}")
        };
        assert_eq!(text.replace(['\n', ' '], ""), r#"{"a":"ü"}"#);
    }
}
