use std::time::Duration;

use futures_util::SinkExt;
use tokio::io::{AsyncWriteExt, DuplexStream, duplex};
use tokio::time::{Instant, timeout};
use tokio_tungstenite::WebSocketStream;
use tungstenite::Message;
use tungstenite::protocol::Role;

use super::*;
use crate::bounds::{FREE_BYTES, Ledgers, QuotaKey};
use crate::fronts::socket::stream::{SLOWEST, UNFINISHED_TIME};

const MOST: usize = 1 << 20;
const FINAL: u8 = 0x80;
const MASKED: u8 = 0x80;

fn watch(ledgers: &Arc<Ledgers>, last: u8) -> Watch {
    Watch::new(ledgers.clone(), QuotaKey::Stranger([10, 0, 0, last].into()))
}

fn most(kept: usize) -> MessageBytes {
    let read = MOST;
    MessageBytes { kept, read }
}

fn messages<S: AsyncRead + Unpin>(stream: S, accepted: usize) -> Messages<S> {
    let ledgers = Arc::new(Ledgers::new(usize::MAX, usize::MAX));
    Messages::new(stream, most(accepted), watch(&ledgers, 1))
}

/// What is read of the client's messages, over a connection that accepts `at_once` bytes at a time.
async fn received(at_once: usize, accepted: usize, sent: Vec<Message>) -> Vec<Received> {
    let (ours, theirs) = duplex(at_once);
    let mut client = WebSocketStream::from_raw_socket(theirs, Role::Client, None).await;
    let sending = async {
        for message in sent {
            client.send(message).await.unwrap();
        }
        client.close(None).await.unwrap();
    };
    let mut messages = messages(ours, accepted);
    let reading = async {
        let mut all = Vec::new();
        loop {
            match messages.next().await.unwrap() {
                Received::Close => return all,
                received => all.push(received),
            }
        }
    };
    let both = async { tokio::join!(sending, reading).1 };
    timeout(Duration::from_secs(20), both).await.unwrap()
}

/// The text that was read, and how many bytes were sent.
fn text(received: Received) -> (String, usize) {
    match received {
        Received::Text(text) => {
            let sent = text.sent;
            (text.read().unwrap().as_str().to_string(), sent)
        }
        Received::Binary(_, sent) => ("binary".into(), sent),
        other => (format!("{other:?}"), 0),
    }
}

fn whole(text: &str) -> (String, usize) {
    (text.to_string(), text.len())
}

fn fragment(text: &str, code: Data, is_last: bool) -> Message {
    let code = OpCode::Data(code);
    Message::Frame(Frame::message(text.to_string(), code, is_last))
}

#[tokio::test]
async fn what_is_read_is_what_was_sent() {
    let sizes = [
        0,
        1,
        125,
        126,
        4_095,
        READ,
        READ + 1,
        65_535,
        PART,
        PART + 1,
        3 * PART + 5,
        MOST,
    ];
    // Characters of three bytes that cross the borders of the parts.
    let texts = sizes.map(|size| "\u{20ac}".repeat(size / 3));
    let mut sent = vec![Message::Ping("ping".into())];
    sent.extend(texts.iter().map(Message::text));
    sent.extend(sizes.map(|size| Message::binary(vec![7; size])));
    let mut expected = vec![("Control".to_string(), 0)];
    expected.extend(texts.iter().map(|it| whole(it)));
    expected.extend(sizes.map(|size| ("binary".into(), size)));
    for at_once in [1_000, 16 << 10, 4 << 20] {
        let read = received(at_once, MOST, sent.clone()).await;
        assert!(read.into_iter().map(text).eq(expected.clone()), "{at_once}");
    }
    sent.retain(|it| it.len() < 5_000);
    expected.retain(|(_, size)| *size < 5_000);
    let read = received(1, MOST, sent).await;
    assert!(read.into_iter().map(text).eq(expected));
}

#[tokio::test]
async fn fragments_are_one_message_with_pings_between_them() {
    let long = "x".repeat(100_000);
    let sent = vec![
        fragment(&long, Data::Text, false),
        Message::Ping("ping".into()),
        fragment(&long, Data::Continue, false),
        fragment("end", Data::Continue, true),
        Message::text("next"),
    ];
    let read = received(10_000, MOST, sent).await.into_iter().map(text);
    let long = whole(&format!("{long}{long}end"));
    assert!(read.eq([("Control".to_string(), 0), long, whole("next")]));
}

#[tokio::test]
async fn a_text_that_waits_keeps_no_room_that_it_does_not_need() {
    let mut text = String::with_capacity(4 * PART);
    text.push_str(&"ä".repeat(PART));
    let expected = text.clone();
    let sent = text.len();
    let kept = text.into_bytes().into();
    let kept = Text { kept, sent }.read().unwrap();
    assert_eq!(kept.as_str(), expected);
    let bytes = Vec::from(Bytes::from(kept));
    assert!(
        bytes.capacity() < expected.len() + 1024,
        "{} bytes are kept",
        bytes.capacity()
    );
}

/// The frames of a client, masked with zeros.
fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first];
    match u8::try_from(payload.len()) {
        Ok(length @ ..126) => frame.push(MASKED | length),
        _ => {
            frame.push(MASKED | 127);
            frame.extend_from_slice(&(payload.len() as u64).to_be_bytes());
        }
    }
    frame.extend_from_slice(&[0; 4]);
    frame.extend_from_slice(payload);
    frame
}

/// Reads a message of `many` fragments. Returns its size and the time that reading took.
async fn taken(payload: &[u8], many: usize) -> (usize, Duration) {
    let mut sent = masked(1, b"");
    sent.extend(masked(0, payload).repeat(many));
    sent.extend(masked(FINAL, b""));
    let mut messages = messages(&sent[..], MOST);
    messages.most.read = usize::MAX;
    let began = Instant::now();
    let message = timeout(Duration::from_secs(20), messages.next()).await;
    (text(message.unwrap().unwrap()).1, began.elapsed())
}

#[tokio::test]
async fn a_flood_of_empty_or_tiny_continuation_frames_has_to_wait() {
    let many = 3 * TINY_PER_SECOND as usize;
    let (empty, tiny) = tokio::join!(taken(b"", many), taken(b"x", many));
    for ((bytes, waited), size) in [(empty, 0), (tiny, 1)] {
        assert_eq!(bytes, many * size);
        // The first second's worth came at once.
        assert!(waited >= Duration::from_secs(1), "{waited:?}");
    }
}

#[tokio::test]
async fn fragments_of_an_honest_size_and_whole_messages_do_not_wait() {
    let many = 3 * TINY_PER_SECOND as usize;
    let (bytes, waited) = taken(&[b'x'; TINY as usize], many).await;
    assert_eq!(bytes, many * TINY as usize);
    let sent = masked(FINAL | 1, b"x").repeat(many);
    let (mut messages, began) = (messages(&sent[..], MOST), Instant::now());
    for _ in 0..many {
        assert_eq!(text(messages.next().await.unwrap()), whole("x"));
    }
    let waited = waited + began.elapsed();
    assert!(waited < Duration::from_secs(1), "{waited:?}");
}

/// Messages up to this size are accepted and handed on as a whole.
const ACCEPTED: usize = 100_000;

#[tokio::test]
async fn of_a_message_that_is_too_large_the_beginning_is_handed_on_and_how_long_it_was() {
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
        let messages = sent.iter().map(Message::text).collect();
        let read = received(at_once, ACCEPTED, messages).await;
        assert_eq!(read.len(), sent.len());
        for (index, (read, sent)) in read.into_iter().zip(&sent).enumerate() {
            let (read, bytes) = text(read);
            assert_eq!(bytes, sent.len(), "{index}");
            assert!(sent.starts_with(read.as_str()));
            match sent.len() > ACCEPTED {
                true => assert!((PART - 3..=PART).contains(&read.len()), "{}", read.len()),
                false => assert_eq!(read.len(), sent.len()),
            }
        }
    }
}

#[tokio::test]
async fn of_many_fragments_no_more_is_handed_on_than_the_beginning() {
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
        // A message that grows too large at once, and a message of which more was kept.
        fragment("x", Data::Text, false),
        fragment(&euro.repeat(4), Data::Continue, true),
        fragment(&"x".repeat(90_000), Data::Text, false),
        fragment(&euro, Data::Continue, true),
        Message::binary(vec![7; 200_000]),
        Message::text("next"),
    ];
    for at_once in [1_000, 4 << 20] {
        let read = received(at_once, ACCEPTED, sent.clone()).await;
        let mut read = read.into_iter().map(text);
        let mut next = || read.next().unwrap();
        assert_eq!((next().0, next().0), ("Control".into(), "Control".into()));
        let rest = &euro[..(PART - 64_000) / 3 * 3];
        assert!(next() == (format!("{euro}{emoji}{rest}"), 3 * 60_000 + 4_000));
        let (beginning, bytes) = next();
        assert!(format!("x{euro}{euro}").starts_with(&beginning));
        assert_eq!((beginning.len(), bytes), (PART, 240_001));
        assert!(next() == ("x".repeat(PART), 150_000));
        assert_eq!(
            (next(), next()),
            (("binary".into(), 200_000), whole("next"))
        );
        assert_eq!(read.next(), None);
    }
}

/// Why reading the client's bytes ends early.
async fn end(sent: &[u8]) -> End {
    let (ours, mut theirs) = duplex(4 << 20);
    theirs.write_all(sent).await.unwrap();
    let mut messages = messages(ours, MOST);
    loop {
        let next = timeout(Duration::from_secs(20), messages.next()).await;
        match next.unwrap() {
            Ok(Received::Text(text)) => match text.read() {
                Ok(_) => {}
                Err(end) => return end,
            },
            Ok(_) => {}
            Err(end) => return end,
        }
    }
}

#[tokio::test]
async fn what_breaks_the_protocol_is_refused_before_it_has_come() {
    let unmasked = vec![FINAL | 1, 127, 0, 0, 0, 0, 0, 8, 0, 0];
    let header = |first| vec![first, MASKED | 127, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0];
    let twice = [masked(1, b"x"), header(FINAL | 1)].concat();
    for (sent, expected) in [
        (unmasked, ProtocolError::UnmaskedFrameFromClient),
        (header(FINAL | 9), ProtocolError::ControlFrameTooBig),
        (header(9), ProtocolError::FragmentedControlFrame),
        (header(FINAL | 0x41), ProtocolError::NonZeroReservedBits),
        (header(FINAL | 3), ProtocolError::InvalidOpcode(3)),
        (header(FINAL), ProtocolError::UnexpectedContinueFrame),
        (twice, ProtocolError::ExpectedFragment(Data::Text)),
        (masked(FINAL | 8, b"x"), ProtocolError::InvalidCloseSequence),
    ] {
        let expected = End::Broken(CloseCode::PROTOCOL, expected.to_string());
        assert_eq!(end(&sent).await, expected);
    }
    for sent in [
        masked(FINAL | 1, b"\xff"),
        masked(FINAL | 1, &[0xe2; PART + 1]),
        masked(FINAL | 8, b"\x03\xe8\xff"),
        [masked(1, b"\xe2\x82"), masked(FINAL, b"")].concat(),
    ] {
        let expected = End::Broken(CloseCode::NOT_TEXT, "Not UTF-8".into());
        assert_eq!(end(&sent).await, expected);
    }
}

#[tokio::test]
async fn what_is_too_large_is_refused_by_its_header() {
    let too_big = || {
        let reason = format!("A message may have at most {MOST} bytes");
        End::Broken(CloseCode::TOO_BIG, reason)
    };
    let mut header = vec![FINAL | 1, MASKED | 127];
    header.extend_from_slice(&(MOST as u64 + 1).to_be_bytes());
    header.extend_from_slice(&[0; 4]);
    assert_eq!(end(&header).await, too_big());
    let half = vec![b'x'; MOST / 2];
    let fragments = [masked(1, &half), masked(0, &half), masked(0, b"x")];
    assert_eq!(end(&fragments.concat()).await, too_big());
}

#[tokio::test]
async fn pings_and_close_frames_are_answered() {
    let mut sent = masked(FINAL | 9, b"one");
    sent.extend(masked(FINAL | 9, b"two"));
    sent.extend(masked(FINAL | 8, b"\x03\xe8bye"));
    sent.extend(masked(FINAL | 1, b"after"));
    let mut messages = messages(&sent[..], MOST);
    let replies = messages.replies();
    for ping in ["one", "two"] {
        assert!(matches!(messages.next().await, Ok(Received::Control)));
        assert_eq!(replies.next().await.payload(), ping.as_bytes());
    }
    assert!(matches!(messages.next().await, Ok(Received::Close)));
    assert_eq!(replies.next().await.payload(), b"\x03\xe8bye");
    assert_eq!(messages.next().await.unwrap_err(), End::Lost);
    let forbidden = answer_to(Bytes::from_static(b"\x03\xed")).unwrap().unwrap();
    assert_eq!(forbidden.code, WsCode::Protocol);
    assert_eq!(answer_to(Bytes::new()).unwrap(), None);
}

/// A connection on which the beginning of a message has come and was read.
async fn begun(watch: Watch, bytes: usize) -> (Messages<DuplexStream>, DuplexStream) {
    let (ours, mut theirs) = duplex(1 << 20);
    let mut messages = Messages::new(ours, most(MOST), watch);
    theirs
        .write_all(&masked(1, &vec![b'x'; bytes]))
        .await
        .unwrap();
    assert!(futures_util::poll!(std::pin::pin!(messages.next())).is_pending());
    (messages, theirs)
}

#[tokio::test]
async fn unfinished_messages_are_bounded_together() {
    let all = Arc::new(Ledgers::new(0, 5 * FREE_BYTES));
    let first = watch(&all, 1);
    let (mut one, mut far_one) = begun(first.clone(), 3 * FREE_BYTES).await;
    let second = watch(&all, 2);
    let (mut two, mut far_two) = begun(second.clone(), FREE_BYTES + READ).await;
    assert!(futures_util::poll!(std::pin::pin!(first.evicted())).is_pending());
    // The largest message of the party with most bytes makes room.
    far_two
        .write_all(&masked(0, &[b'x'; 3 * FREE_BYTES / 2]))
        .await
        .unwrap();
    assert!(futures_util::poll!(std::pin::pin!(two.next())).is_pending());
    first.evicted().await;
    far_one
        .write_all(&masked(0, &[b'x'; 2 * FREE_BYTES]))
        .await
        .unwrap();
    assert_eq!(one.next().await.unwrap_err(), End::NoRoom);
    far_two.write_all(&masked(FINAL, b"")).await.unwrap();
    assert_eq!(
        text(two.next().await.unwrap()).1,
        FREE_BYTES + READ + 3 * FREE_BYTES / 2
    );
}

#[tokio::test]
async fn no_message_is_larger_than_is_allowed_just_then() {
    let all = Arc::new(Ledgers::new(0, usize::MAX));
    let watch = watch(&all, 1);
    let (mut messages, mut far) = begun(watch.clone(), 3 * FREE_BYTES).await;
    watch.allow(3 * FREE_BYTES);
    far.write_all(&masked(FINAL, b"x")).await.unwrap();
    let end = messages.next().await.unwrap_err();
    assert!(matches!(end, End::Broken(CloseCode::TOO_BIG, _)), "{end:?}");
}

#[tokio::test]
async fn a_message_that_drips_is_not_waited_for() {
    let all = Arc::new(Ledgers::new(0, usize::MAX));
    let watch = watch(&all, 1);
    let (mut messages, mut far) = begun(watch.clone(), 3 * FREE_BYTES).await;
    watch
        .began_before(UNFINISHED_TIME + Duration::from_secs((3 * FREE_BYTES / SLOWEST + 1) as u64));
    far.write_all(&masked(0, b"x")).await.unwrap();
    let end = messages.next().await.unwrap_err();
    assert!(matches!(end, End::Broken(CloseCode::POLICY, _)), "{end:?}");
}

#[tokio::test]
async fn a_message_that_comes_steadily_may_take_longer() {
    let all = Arc::new(Ledgers::new(0, usize::MAX));
    let watch = watch(&all, 1);
    let (mut messages, mut far) = begun(watch.clone(), 3 * FREE_BYTES).await;
    // At the slowest allowed pace, the received bytes would have taken this long.
    watch
        .began_before(UNFINISHED_TIME + Duration::from_secs((3 * FREE_BYTES / SLOWEST - 1) as u64));
    far.write_all(&masked(FINAL, b"x")).await.unwrap();
    assert_eq!(text(messages.next().await.unwrap()).1, 3 * FREE_BYTES + 1);
}

#[tokio::test]
async fn pings_and_pongs_are_no_part_of_a_message() {
    let all = Arc::new(Ledgers::new(0, 3 * FREE_BYTES));
    let (mut messages, mut far) = begun(watch(&all, 1), 2 * FREE_BYTES).await;
    for _ in 0..100 {
        far.write_all(&masked(FINAL | 9, &[0; 125]).repeat(FREE_BYTES / 125))
            .await
            .unwrap();
        for _ in 0..FREE_BYTES / 125 {
            assert!(matches!(messages.next().await, Ok(Received::Control)));
        }
    }
    far.write_all(&masked(FINAL, b"x")).await.unwrap();
    assert_eq!(text(messages.next().await.unwrap()).1, 2 * FREE_BYTES + 1);
}
