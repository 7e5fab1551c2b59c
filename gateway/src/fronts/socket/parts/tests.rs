use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio::io::duplex;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Error, Message};

use super::*;

const MOST: usize = 1 << 20;

/// What is read of what a client sends, over a connection that takes so many bytes at once.
async fn received(at_once: usize, sent: Vec<Message>) -> Vec<Result<Message, Error>> {
    let (ours, theirs) = duplex(at_once);
    let mut client = WebSocketStream::from_raw_socket(theirs, Role::Client, None).await;
    let config = WebSocketConfig::default()
        .max_frame_size(Some(MOST))
        .max_message_size(Some(MOST));
    let parts = Parts::new(ours, MOST);
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
