use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::*;
use crate::bounds::QuotaKey;
use crate::fronts::socket::bursts::AT_ONCE;
use crate::fronts::socket::messages::MessageBytes;
use tungstenite::Utf8Bytes;

/// An endpoint that belongs to a token after its first message.
struct Registering {
    watch: Watch,
    bounds: SocketBounds,
    came: AtomicUsize,
    /// How many messages another connection of the token may read at once when the last message has come.
    left: AtomicUsize,
}

fn member() -> QuotaKey {
    QuotaKey::AppsOfToken("a".into())
}

impl Endpoint for Registering {
    fn text(self: &Arc<Self>, _: &Utf8Bytes, _: usize) -> Counted {
        if self.came.fetch_add(1, Relaxed) == 0 {
            self.watch.belongs_to(member());
        }
        let left = self.bounds.bursts.begin(&member()).share();
        self.left.store(left, Relaxed);
        Counted::Request
    }

    fn binary(&self, _: Bytes, _: usize) -> Counted {
        Counted::Aside
    }

    fn gone(&self) {}
}

impl Registering {
    fn new(bounds: SocketBounds) -> Arc<Self> {
        let stranger = QuotaKey::Stranger([10, 0, 0, 1].into());
        Arc::new(Registering {
            watch: Watch::new(bounds.unfinished.clone(), stranger),
            bounds,
            came: AtomicUsize::new(0),
            left: AtomicUsize::new(0),
        })
    }
}

#[tokio::test]
async fn a_connection_with_long_messages_lets_others_read_after_fewer_of_them() {
    for (bytes, at_once) in [(100_u64, AT_ONCE), (40 << 10, AT_ONCE / 10), (400 << 10, 1)] {
        let limits = Limits::default();
        let endpoint = Registering::new(SocketBounds::new(&limits));
        let (watch, bounds) = (&endpoint.watch, &endpoint.bounds);
        // The frames are masked with zeros.
        let mut frame = vec![0x81, 0xff];
        frame.extend(bytes.to_be_bytes());
        frame.extend([0; 4]);
        frame.resize(frame.len() + bytes as usize, b'x');
        let sent = frame.repeat(2 * AT_ONCE);
        let sizes = MessageBytes {
            kept: limits.message_bytes,
            read: limits.frame_bytes,
        };
        let mut messages = Messages::new(&sent[..], sizes, watch.clone());
        let outbox = Outbox::new(1, Arc::default());
        let replies = messages.replies();
        let reading = read(
            &mut messages,
            &replies,
            watch,
            bounds,
            &limits,
            &endpoint,
            &outbox,
        );
        assert!(reading.now_or_never().is_none());
        let came = endpoint.came.load(Relaxed);
        assert!(
            (at_once / 2..=at_once).contains(&came),
            "{came} of {bytes} bytes"
        );
    }
}

#[tokio::test]
async fn what_comes_after_a_token_was_shown_counts_for_the_token() {
    let limits = Limits::default();
    let endpoint = Registering::new(SocketBounds::new(&limits));
    let (watch, bounds) = (&endpoint.watch, &endpoint.bounds);
    let many = 2 * AT_ONCE;
    // The frames are masked with zeros.
    let sent = [0x81, 0x81, 0, 0, 0, 0, b'x'].repeat(many);
    let bytes = MessageBytes {
        kept: limits.message_bytes,
        read: limits.frame_bytes,
    };
    let mut messages = Messages::new(&sent[..], bytes, watch.clone());
    let outbox = Outbox::new(1, Arc::default());
    let replies = messages.replies();
    let end = read(
        &mut messages,
        &replies,
        watch,
        bounds,
        &limits,
        &endpoint,
        &outbox,
    )
    .await;
    assert!(matches!(end, End::Lost));
    assert_eq!(endpoint.came.load(Relaxed), many);
    // The connection is one of two that have messages to read.
    assert_eq!(endpoint.left.load(Relaxed), AT_ONCE / 2);
}
