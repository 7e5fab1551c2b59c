//! Bodies of requests. All fronts read them here, with bounds on size, time and memory. When memory is used
//! up, the party with most bytes makes room.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{Extensions, StatusCode};
use futures_util::StreamExt;
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::refusal::Refusal;
use crate::bounds::{Account, Ledgers, NoRoom, QuotaKey};
use crate::wire::BYTE_ORDER_MARK;
use caphost::call::{Code, Error};

/// The longest pause within a body.
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(20);
/// Bytes of each body that are not counted, fewer than a connection takes.
const FREE: usize = 4 << 10;
/// Bytes of a connection that waits for a body, with its buffer.
const CONNECTION: usize = 64 << 10;

/// The bounds of all bodies: one of a request's extensions. Bodies count for the [`QuotaKey`] in the extensions;
/// without a party they are not counted.
#[derive(Debug)]
pub(crate) struct BodyBounds {
    /// The ledgers of bodies and of the unfinished messages of sockets.
    pub ledgers: Arc<Ledgers>,
    /// Bytes of the largest body.
    pub max: usize,
    /// How long a body may take.
    pub time: Duration,
}

/// A body. Dropping it gives its bytes back.
#[derive(Debug)]
pub(crate) struct ReadBody {
    bytes: Bytes,
    _account: Option<Account>,
}

impl Deref for ReadBody {
    type Target = [u8];

    /// The bytes without a byte order mark.
    fn deref(&self) -> &[u8] {
        let marked = self.bytes.strip_prefix(BYTE_ORDER_MARK);
        marked.unwrap_or(&self.bytes)
    }
}

/// Why a body was not read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// The body has more bytes than this.
    TooLarge(usize),
    /// The body took longer than this, or paused for too long.
    Late(Duration),
    /// The body has to make room for others.
    NoRoom,
    /// The connection broke.
    BrokenOff,
}

impl From<Unread> for Refusal {
    fn from(unread: Unread) -> Self {
        let refusal = match unread {
            Unread::TooLarge(max) => Refusal::body(max),
            Unread::Late(time) => late(time),
            Unread::NoRoom => Refusal::busy(NoRoom.to_string()),
            // Nobody reads the answer.
            Unread::BrokenOff => Refusal::invalid("The body broke off"),
        };
        refusal.unread()
    }
}

/// 408
fn late(time: Duration) -> Refusal {
    let seconds = time.as_secs_f64();
    let message = format!("The body of the request did not come within {seconds} s");
    let details = json!({ "limit": "httpBodyTimeout", "max": seconds * 1_000.0 });
    let error = Error::new(Code::TRANSPORT_ERROR, message).with_details(Box::new(details));
    Refusal::new(StatusCode::REQUEST_TIMEOUT, error)
}

/// Reads the body of a request with those extensions, of at most `max` bytes.
///
/// Every piece of a body is part of its connection's buffer, even a small piece, so the pieces are copied
/// together. A body that comes at once is taken as it is, and not counted.
pub(crate) async fn read(of: &Extensions, body: Body, max: usize) -> Result<ReadBody, Unread> {
    let (bounds, quota_key) = (of.get::<Arc<BodyBounds>>(), of.get::<QuotaKey>());
    let max = bounds.map_or(max, |bounds| bounds.max.min(max));
    let time = bounds.map_or(LONGEST_PAUSE, |bounds| bounds.time);
    let end = Instant::now() + time;
    let announced = body.size_hint().upper();
    let announced = announced.map_or(max, |bytes| max.min(bytes as usize));
    let mut body = body.into_data_stream();
    let mut bytes = Vec::new();
    let (mut account, evicted) = (None, Arc::new(Notify::new()));
    loop {
        let over = end.min(Instant::now() + LONGEST_PAUSE);
        let piece = tokio::select! {
            biased;
            piece = body.next() => piece,
            () = evicted.notified() => return Err(Unread::NoRoom),
            () = sleep_until(over) => return Err(Unread::Late(time)),
        };
        let Some(piece) = piece else {
            let bytes = bytes.into();
            return Ok(ReadBody {
                bytes,
                _account: account,
            });
        };
        let piece = piece.map_err(|_| Unread::BrokenOff)?;
        let length = bytes.len() + piece.len();
        if length > max {
            return Err(Unread::TooLarge(max));
        }
        let is_last = body.is_end_stream();
        if is_last && bytes.is_empty() {
            return Ok(ReadBody {
                bytes: piece,
                _account: None,
            });
        }
        let grows = length > bytes.capacity();
        if grows {
            let room = (2 * bytes.capacity()).min(announced).max(length);
            bytes.reserve_exact(room - bytes.len());
        }
        bytes.extend_from_slice(&piece);
        if let (Some(bounds), Some(quota_key)) = (bounds, quota_key)
            && (grows || account.is_none())
            && length > FREE
            && !is_last
        {
            let open = || bounds.ledgers.open(quota_key.clone(), evicted.clone());
            let account = account.get_or_insert_with(open);
            if !account.set(bytes.capacity() + CONNECTION) {
                return Err(Unread::NoRoom);
            }
        }
    }
}

#[cfg(test)]
mod tests;
