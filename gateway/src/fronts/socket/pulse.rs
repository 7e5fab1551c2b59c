//! Signs of life of a peer that is busy taking what it is sent.
//!
//! Such a peer answers no ping before it has read what was sent ahead of it, and what it says itself
//! may not be read meanwhile. But a write that had to wait for room only gets through once the
//! peer's system has taken some of what was written before.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::extract::ws::WebSocket;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

/// When the other end of a connection was last seen to take something.
#[derive(Clone, Debug)]
pub struct Pulse(Arc<Mutex<Instant>>);

impl Default for Pulse {
    fn default() -> Self {
        Pulse(Arc::new(Mutex::new(Instant::now())))
    }
}

impl Pulse {
    /// When that was; until it is, when the connection was opened.
    pub(crate) fn last(&self) -> Instant {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn beat(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

/// A WebSocket, and the pulse of the connection it is on.
pub struct Socket {
    pub(crate) socket: WebSocket,
    pub(crate) pulse: Pulse,
}

/// A connection whose signs of life are noted.
#[derive(Debug)]
pub(crate) struct Watched<S> {
    stream: S,
    pulse: Pulse,
    /// Whether the last write had to wait.
    write_waits: bool,
    /// Whether the last flush had to wait.
    flush_waits: bool,
}

impl<S> Watched<S> {
    pub(crate) fn new(stream: S, pulse: Pulse) -> Self {
        Watched {
            stream,
            pulse,
            write_waits: false,
            flush_waits: false,
        }
    }
}

/// Notes a sign of life when something that had to wait gets through.
fn note<T>(polled: &Poll<io::Result<T>>, waits: &mut bool, pulse: &Pulse) {
    let waited = std::mem::replace(waits, polled.is_pending());
    if waited && matches!(polled, Poll::Ready(Ok(_))) {
        pulse.beat();
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let it = &mut *self;
        let polled = Pin::new(&mut it.stream).poll_write(context, bytes);
        note(&polled, &mut it.write_waits, &it.pulse);
        polled
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let it = &mut *self;
        let polled = Pin::new(&mut it.stream).poll_write_vectored(context, slices);
        note(&polled, &mut it.write_waits, &it.pulse);
        polled
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// It waits with TLS only, which accepts more than it can pass on.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let it = &mut *self;
        let polled = Pin::new(&mut it.stream).poll_flush(context);
        note(&polled, &mut it.flush_waits, &it.pulse);
        polled
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test]
    async fn only_a_write_that_had_to_wait_is_a_sign_of_life() {
        let (near, mut far) = duplex(100);
        let pulse = Pulse::default();
        let opened = pulse.last();
        let mut near = Watched::new(near, pulse.clone());
        near.write_all(&[0; 100]).await.unwrap();
        near.flush().await.unwrap();
        assert_eq!(pulse.last(), opened, "what has room may go to nobody");
        assert!(near.write_all(&[0; 40]).now_or_never().is_none());
        assert_eq!(pulse.last(), opened, "it waits still");
        far.read_exact(&mut [0; 90]).await.unwrap();
        near.write_all(&[0; 40]).await.unwrap();
        let taken = pulse.last();
        assert!(taken > opened);
        near.write_all(&[0; 50]).await.unwrap();
        assert_eq!(pulse.last(), taken, "there was room again");
    }
}
