use std::convert::Infallible;

use axum::body::to_bytes;
use futures_util::stream;

use super::*;
use crate::fronts::shares::Holder;
use crate::tokens::Role;

fn received(ledgers: &Arc<Ledgers>, name: &str) -> Arc<Received> {
    let party = Party::Member(Holder::Token(name.into()), Role::Agent);
    Received::new(ledgers.clone(), party)
}

/// A body that comes in pieces of a larger buffer, each of so many bytes.
fn body(pieces: usize, bytes: usize) -> Body {
    let pieces = (0..pieces).map(move |_| {
        let mut piece = Vec::with_capacity(BUFFERED);
        piece.resize(bytes, b'x');
        Ok::<_, Infallible>(Bytes::from(piece))
    });
    Body::from_stream(stream::iter(pieces))
}

async fn frames(mut body: Gathered) -> Vec<Bytes> {
    let mut frames = Vec::new();
    let mut body = Pin::new(&mut body);
    while let Some(frame) = std::future::poll_fn(|it| body.as_mut().poll_frame(it)).await {
        frames.extend(frame.unwrap().into_data());
    }
    assert!(body.is_end_stream());
    frames
}

#[tokio::test]
async fn a_body_of_many_tiny_chunks_takes_no_more_than_its_bytes() {
    let ledgers = Arc::new(Ledgers::new(1 << 20, 0));
    let received = received(&ledgers, "one");
    let frames = frames(Gathered::new(body(100_000, 1), received)).await;
    assert_eq!(frames.concat(), [b'x'; 100_000]);
    assert!(frames.len() <= 1 + 100_000 / BLOCK, "{}", frames.len());
    for frame in frames {
        let bytes = frame.len();
        let kept = Vec::from(frame).capacity();
        assert!(kept <= 2 * bytes.max(FREE), "{kept} for {bytes}");
    }
}

#[tokio::test]
async fn small_bodies_of_one_token_count_together() {
    let ledgers = Arc::new(Ledgers::new(1 << 20, 0));
    // They come as far as that and no further.
    let half = || {
        let came = body(50, 1_000);
        let waits = stream::pending::<Result<Bytes, axum::Error>>();
        let came = futures_util::StreamExt::chain(came.into_data_stream(), waits);
        Gathered::new(Body::from_stream(came), received(&ledgers, "greedy"))
    };
    let mut greedy: Vec<_> = (0..100).map(|_| Box::pin(half())).collect();
    let mut refused = 0;
    let mut context = Context::from_waker(std::task::Waker::noop());
    for _ in 0..2 {
        for body in &mut greedy {
            if let Poll::Ready(Some(Err(_))) = body.as_mut().poll_frame(&mut context) {
                refused += 1;
            }
        }
    }
    greedy.retain(|body| !body.received.is_refused());
    assert!(
        refused >= 80 && greedy.len() <= 15,
        "{refused} of 100 were refused"
    );
    // Another is let in beside those.
    let honest = Gathered::new(body(50, 1_000), received(&ledgers, "honest"));
    let read = to_bytes(Body::new(honest), usize::MAX).await.unwrap();
    assert_eq!(read.len(), 50_000);
}

#[tokio::test]
async fn a_body_that_comes_at_once_is_not_copied_or_counted() {
    let ledgers = Arc::new(Ledgers::new(0, 0));
    let data = Bytes::from(vec![b'x'; BLOCK - 1]);
    let received = received(&ledgers, "one");
    let frames = frames(Gathered::new(Body::from(data.clone()), received)).await;
    assert_eq!(frames.len(), 1);
    assert_eq!(frames[0].as_ptr(), data.as_ptr());
}
