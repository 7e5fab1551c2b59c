use std::convert::Infallible;

use futures_util::{FutureExt, stream};

use super::*;
use crate::bounds::QuotaKey;

/// The extensions of a request with that token. The bodies of the token may have a bounded number of bytes
/// together.
fn bounded(ledgers: &Arc<Ledgers>, name: &str) -> Extensions {
    let mut extensions = Extensions::new();
    extensions.insert(QuotaKey::Token(name.into()));
    extensions.insert(Arc::new(BodyBounds {
        ledgers: ledgers.clone(),
        max: usize::MAX,
        time: Duration::from_secs(60),
    }));
    extensions
}

/// A body of several pieces, each of `bytes` bytes. Each piece is part of a larger buffer.
fn body(pieces: usize, bytes: usize) -> Body {
    let pieces = (0..pieces).map(move |_| {
        let mut piece = Vec::with_capacity(32 << 10);
        piece.resize(bytes, b'x');
        Ok::<_, Infallible>(Bytes::from(piece))
    });
    Body::from_stream(stream::iter(pieces))
}

#[tokio::test]
async fn a_body_of_many_tiny_chunks_takes_no_more_than_its_bytes() {
    let ledgers = Arc::new(Ledgers::new(1 << 20, 0));
    let of = bounded(&ledgers, "one");
    let read = read(&of, body(100_000, 1), usize::MAX).await.unwrap();
    assert_eq!(*read, [b'x'; 100_000]);
    let kept = Vec::from(read.bytes).capacity();
    assert!(kept <= 200_000, "{kept}");
}

#[tokio::test]
async fn small_bodies_of_one_token_count_together() {
    let ledgers = Arc::new(Ledgers::new(1 << 20, 0));
    let of = bounded(&ledgers, "greedy");
    // The bodies are read up to this point and no further.
    let half = || {
        let waits = stream::pending::<Result<Bytes, axum::Error>>();
        let came = body(50, 1_000).into_data_stream().chain(waits);
        Box::pin(read(&of, Body::from_stream(came), usize::MAX))
    };
    let mut greedy: Vec<_> = (0..100).map(|_| half()).collect();
    let mut refused = 0;
    for _ in 0..2 {
        greedy.retain_mut(|body| match body.now_or_never() {
            Some(read) => {
                refused += usize::from(read.unwrap_err() == Unread::NoRoom);
                false
            }
            None => true,
        });
    }
    assert!(
        refused >= 80 && greedy.len() <= 15,
        "{refused} of 100 were refused"
    );
    // Another party's body is accepted as well.
    let honest = bounded(&ledgers, "honest");
    let read = read(&honest, body(50, 1_000), usize::MAX).await.unwrap();
    assert_eq!(read.len(), 50_000);
}

#[tokio::test]
async fn a_body_counts_until_it_is_handled() {
    let ledgers = Arc::new(Ledgers::new(200_000, 0));
    let [one, other] = ["one", "other"].map(|name| bounded(&ledgers, name));
    let read = |of, pieces| read(of, body(pieces, 1_000), usize::MAX);
    let first = read(&one, 50).await.unwrap();
    let counts = || first._account.as_ref().is_some_and(|it| !it.is_evicted());
    assert!(counts());
    // This body takes the bytes that the other body held.
    read(&other, 40).await.unwrap();
    assert!(!counts());
}

#[tokio::test]
async fn a_body_that_comes_at_once_is_not_copied_or_counted() {
    let of = bounded(&Arc::new(Ledgers::new(0, 0)), "one");
    let data = Bytes::from(vec![b'x'; 100_000]);
    let read = read(&of, Body::from(data.clone()), data.len()).await;
    assert_eq!(read.unwrap().as_ptr(), data.as_ptr());
}

#[tokio::test]
async fn a_body_has_its_time_and_its_size() {
    let mut of = bounded(&Arc::new(Ledgers::new(1 << 20, 0)), "one");
    let too_large = read(&of, body(11, 1), 10).await.unwrap_err();
    assert_eq!(too_large, Unread::TooLarge(10));
    let time = Duration::from_millis(100);
    let ledgers = Arc::new(Ledgers::new(1 << 20, 0));
    let max = usize::MAX;
    of.insert(Arc::new(BodyBounds { ledgers, max, time }));
    // It does not help to send a little now and then.
    let slowly = stream::unfold((), move |()| async move {
        tokio::time::sleep(time / 4).await;
        Some((Ok::<_, Infallible>(Bytes::from_static(b" ")), ()))
    });
    let slow = Body::from_stream(Box::pin(slowly));
    assert_eq!(
        read(&of, slow, usize::MAX).await.unwrap_err(),
        Unread::Late(time)
    );
}
