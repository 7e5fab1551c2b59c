use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tungstenite::error::ProtocolError;
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Error, Message};

use super::frames::{FINAL, MASKED, TINY};
use super::*;
use crate::fronts::ledger::{Ledgers, Party};

const MOST: usize = 1 << 20;

fn watch() -> Watch {
    let ledgers = Ledgers::new(usize::MAX, usize::MAX);
    let watch = Watch::new(ledgers.into(), Party::Stranger([10, 0, 0, 1].into()));
    watch.is_socket(usize::MAX);
    watch
}

fn parts<S>(stream: S) -> Parts<S> {
    Parts::new(stream, MOST, MOST, watch())
}

/// What is read of what a client sends, over a connection that takes so many bytes at once.
async fn received(at_once: usize, sent: Vec<Message>) -> Vec<Result<Message, Error>> {
    let (ours, theirs) = duplex(at_once);
    exchanged(parts(ours), theirs, sent).await
}

/// What is read of what a client sends over that connection.
async fn exchanged(
    parts: Parts<DuplexStream>,
    theirs: DuplexStream,
    sent: Vec<Message>,
) -> Vec<Result<Message, Error>> {
    let mut client = WebSocketStream::from_raw_socket(theirs, Role::Client, None).await;
    let config = WebSocketConfig::default()
        .max_frame_size(Some(MOST))
        .max_message_size(Some(MOST));
    let mut server = WebSocketStream::from_raw_socket(parts, Role::Server, Some(config)).await;
    let sending = async {
        for message in sent {
            // What is refused is not taken to its end.
            let _ = client.send(message).await;
        }
        let _ = client.close(None).await;
    };
    let reading = async {
        let mut read = Vec::new();
        while let Some(message) = server.next().await {
            match message {
                Ok(Message::Close(_)) => break,
                Err(_) => {
                    read.push(message);
                    break;
                }
                _ => read.push(message),
            }
        }
        drop(server);
        read
    };
    let both = async { tokio::join!(sending, reading).1 };
    timeout(Duration::from_secs(20), both).await.unwrap()
}

fn fragment(text: &str, code: Data, is_last: bool) -> Message {
    let code = OpCode::Data(code);
    Message::Frame(Frame::message(text.to_string(), code, is_last))
}

#[tokio::test]
async fn what_is_read_in_parts_is_what_was_sent() {
    let part = PART as usize;
    let sizes = [
        0,
        1,
        125,
        126,
        4_095,
        65_535,
        part,
        part + 1,
        2 * part,
        3 * part + 5,
        MOST,
    ];
    // Characters of three bytes, which lie across the parts.
    let mut sent: Vec<_> = sizes
        .map(|size| "\u{20ac}".repeat(size / 3))
        .map(Message::text)
        .into();
    sent.extend(sizes.map(|size| Message::binary(vec![7; size])));
    sent.insert(5, Message::Ping("ping".into()));
    for at_once in [1_000, 16 << 10, 4 << 20] {
        let read = received(at_once, sent.clone()).await;
        let read: Vec<_> = read.into_iter().map(Result::unwrap).collect();
        assert!(read == sent, "{at_once}");
    }
    let few = sent
        .into_iter()
        .filter(|it| it.len() < 5_000)
        .collect::<Vec<_>>();
    let read = received(1, few.clone()).await;
    assert!(read.into_iter().map(Result::unwrap).eq(few));
}

#[tokio::test]
async fn fragments_stay_fragments_of_one_message() {
    let long = "x".repeat(100_000);
    let sent = vec![
        fragment(&long, Data::Text, false),
        Message::Ping("ping".into()),
        fragment(&long, Data::Continue, false),
        fragment("end", Data::Continue, true),
        Message::text("next"),
    ];
    let mut read = received(10_000, sent).await.into_iter().map(Result::unwrap);
    assert_eq!(read.next(), Some(Message::Ping("ping".into())));
    assert!(read.next() == Some(Message::text(format!("{long}{long}end"))));
    assert_eq!(read.next(), Some(Message::text("next")));
}

#[tokio::test]
async fn what_is_too_large_is_refused_by_its_header() {
    let read = received(10_000, vec![Message::text("x".repeat(MOST + 1))]).await;
    assert!(matches!(read[..], [Err(Error::Capacity(_))]), "{read:?}");
    let long = "x".repeat(MOST / 2);
    let fragments = [Data::Text, Data::Continue, Data::Continue];
    let sent = fragments.map(|code| fragment(&long, code, false)).into();
    let read = received(10_000, sent).await;
    assert!(matches!(read[..], [Err(Error::Capacity(_))]), "{read:?}");
}

#[test]
fn a_message_is_cut_into_frames_that_make_it() {
    let part = PART as usize;
    for (bytes, count) in [(0, 1), (1, 1), (part, 1), (part + 1, 2), (3 * part, 3)] {
        let text = Bytes::from(vec![b'x'; bytes]);
        let frames: Vec<_> = frames_of(text.clone()).collect();
        assert_eq!(frames.len(), count, "{bytes}");
        let payloads: Vec<_> = frames.iter().map(Frame::payload).collect();
        assert_eq!(payloads.concat(), text);
        for (index, frame) in frames.iter().enumerate() {
            let header = frame.header();
            assert_eq!(header.is_final, index + 1 == count);
            let code = if index == 0 {
                Data::Text
            } else {
                Data::Continue
            };
            assert_eq!(header.opcode, OpCode::Data(code));
        }
    }
}

#[test]
fn a_text_that_waits_keeps_no_room_that_it_does_not_need() {
    let mut text = String::with_capacity(4 * PART as usize);
    text.push_str(&"ä".repeat(PART as usize));
    let expected = text.clone();
    let kept = fitted(text.into());
    assert_eq!(kept.as_str(), expected);
    let bytes = Vec::from(Bytes::from(kept));
    assert!(
        bytes.capacity() < expected.len() + 1024,
        "{} bytes are kept",
        bytes.capacity()
    );
}

/// Frames of a client, which are masked with zeros.
fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![
        first,
        MASKED | u8::try_from(payload.len()).unwrap(),
        0,
        0,
        0,
        0,
    ];
    frame.extend_from_slice(payload);
    frame
}

/// A message of so many fragments, and how long it took to be read.
async fn taken(payload: &str, many: usize) -> (Message, Duration) {
    let (ours, mut theirs) = duplex(1 << 20);
    let parts = parts(ours);
    let mut server = WebSocketStream::from_raw_socket(parts, Role::Server, None).await;
    let mut sent = masked(1, b"");
    sent.extend(masked(0, payload.as_bytes()).repeat(many));
    sent.extend(masked(FINAL, b"!"));
    theirs.write_all(&sent).await.unwrap();
    let began = Instant::now();
    let message = timeout(Duration::from_secs(20), server.next()).await;
    (message.unwrap().unwrap().unwrap(), began.elapsed())
}

#[tokio::test]
async fn a_flood_of_empty_or_tiny_continuation_frames_has_to_wait() {
    let many = 4 * TINY_PER_SECOND as usize;
    let (empty, tiny) = tokio::join!(taken("", many), taken("x", many));
    for ((message, waited), payload) in [(empty, ""), (tiny, "x")] {
        assert_eq!(message, Message::text(payload.repeat(many) + "!"));
        // But for a second's worth, and what was in the last reading.
        assert!(waited >= Duration::from_secs(1), "{waited:?}");
    }
}

#[tokio::test]
async fn fragments_of_an_honest_size_and_whole_messages_do_not_wait() {
    let mut sent = masked(FINAL | 1, b"x").repeat(3 * TINY_PER_SECOND as usize);
    let part = [0, MASKED | 126, 4, 0, 0, 0, 0, 0].into_iter();
    let part: Vec<_> = part.chain([b'x'; TINY as usize]).collect();
    sent.extend(masked(1, b"x"));
    sent.extend(part.repeat(2 * TINY_PER_SECOND as usize));
    sent.extend(masked(FINAL, b""));
    let (ours, mut theirs) = duplex(4 << 20);
    theirs.write_all(&sent).await.unwrap();
    drop(theirs);
    let mut parts = Parts::new(ours, 4 * MOST, 4 * MOST, watch());
    let mut read = Vec::new();
    parts.read_to_end(&mut read).await.unwrap();
    assert!(read == sent);
    let one = parts
        .paid
        .unwrap()
        .saturating_duration_since(Instant::now());
    assert!(one <= Duration::from_secs(1) / TINY_PER_SECOND && parts.pause.is_none());
}

/// Messages that are accepted, and of which more than the beginning is handed on.
const ACCEPTED: usize = 100_000;

#[tokio::test]
async fn of_a_message_that_is_too_large_the_beginning_is_handed_on_and_how_long_it_was() {
    let part = PART as usize;
    // Characters of two, three and four bytes, cut anywhere.
    let large = |character: &str, shift: usize| "x".repeat(shift) + &character.repeat(100_000);
    let mut sent: Vec<String> = Vec::new();
    for character in ["x", "ä", "\u{20ac}", "\u{1f600}"] {
        for shift in 0..4 {
            sent.push(large(character, shift + usize::from(character == "x")));
            sent.push("between".into());
        }
    }
    for at_once in [100, 10_000, 4 << 20] {
        let (ours, theirs) = duplex(at_once);
        let watch = watch();
        let parts = Parts::new(ours, ACCEPTED, MOST, watch.clone());
        let messages = sent.iter().map(Message::text).collect();
        let read = exchanged(parts, theirs, messages).await;
        assert_eq!(read.len(), sent.len());
        for (index, (read, sent)) in read.into_iter().zip(&sent).enumerate() {
            let read = read.unwrap().into_text().unwrap();
            let bytes = watch.bytes_of(index as u64 + 1, read.len());
            assert_eq!(bytes, sent.len(), "{index}");
            assert!(sent.starts_with(read.as_str()));
            match sent.len() > ACCEPTED {
                true => assert!((part..part + 4).contains(&read.len()), "{}", read.len()),
                false => assert_eq!(read.len(), sent.len()),
            }
        }
    }
}

#[tokio::test]
async fn of_many_fragments_no_more_is_handed_on_than_is_accepted() {
    let (euro, emoji) = ("\u{20ac}".repeat(20_000), "\u{1f600}".repeat(1_000));
    let sent = vec![
        fragment("", Data::Text, false),
        fragment(&euro, Data::Continue, false),
        Message::Ping("ping".into()),
        fragment(&emoji, Data::Continue, false),
        fragment(&euro, Data::Continue, false),
        Message::Ping("pong".into()),
        fragment("", Data::Continue, false),
        fragment(&euro, Data::Continue, false),
        fragment("", Data::Continue, true),
        // And one that grows at once.
        fragment("x", Data::Text, false),
        fragment(&euro.repeat(4), Data::Continue, true),
        Message::binary(vec![7; 200_000]),
        Message::text("next"),
    ];
    for at_once in [1_000, 4 << 20] {
        let (ours, theirs) = duplex(at_once);
        let watch = watch();
        let parts = Parts::new(ours, ACCEPTED, MOST, watch.clone());
        let read = exchanged(parts, theirs, sent.clone()).await;
        let mut read = read.into_iter().map(Result::unwrap);
        assert_eq!(read.next(), Some(Message::Ping("ping".into())));
        assert_eq!(read.next(), Some(Message::Ping("pong".into())));
        let one = read.next().unwrap();
        let rest = &euro[..PART as usize - 64_000];
        assert!(one == Message::text(format!("{euro}{emoji}{rest}")));
        assert_eq!(watch.bytes_of(1, one.len()), 3 * 60_000 + 4_000);
        let beginning = read.next().unwrap().into_text().unwrap();
        assert!(format!("x{euro}{euro}").starts_with(beginning.as_str()));
        assert!(beginning.len() < PART as usize + 4);
        assert_eq!(watch.bytes_of(2, beginning.len()), 240_001);
        let binary = read.next().unwrap();
        assert_eq!(watch.bytes_of(3, binary.len()), 200_000);
        let next = read.next().unwrap();
        assert_eq!((watch.bytes_of(4, next.len()), next.len()), (4, 4));
        assert_eq!(read.next(), None);
    }
}

#[tokio::test]
async fn what_breaks_the_protocol_is_refused_before_it_has_come() {
    let unmasked = [FINAL | 1, 127, 0, 0, 0, 0, 0, 8, 0, 0];
    let ping = [FINAL | 9, MASKED | 127, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0];
    for (sent, expected) in [
        (&unmasked[..], ProtocolError::UnmaskedFrameFromClient),
        (&ping[..], ProtocolError::ControlFrameTooBig),
    ] {
        let (ours, mut theirs) = duplex(1 << 20);
        let parts = parts(ours);
        let mut server = WebSocketStream::from_raw_socket(parts, Role::Server, None).await;
        theirs.write_all(sent).await.unwrap();
        theirs.write_all(&[0; 126]).await.unwrap();
        let read = timeout(Duration::from_secs(20), server.next()).await;
        match read.unwrap().unwrap() {
            Err(Error::Protocol(error)) => assert_eq!(error, expected),
            other => panic!("{other:?}"),
        }
    }
}
