//! Reads from one peer, and manages the life of its connection.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::FusedFuture;
use tokio::io::{AsyncRead, split};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tungstenite::protocol::frame::Frame;

use crate::bounds::{NoRoom, Pace};
use crate::broker::CloseCode;
use crate::fronts::silence::{Look, Silence};
use crate::fronts::socket::bounds::SocketBounds;
use crate::fronts::socket::bursts::Burst;
use crate::fronts::socket::messages::{Messages, Received, Text};
use crate::fronts::socket::replies::Replies;
use crate::fronts::socket::stream::{End, Watch};
use crate::fronts::socket::writer::{LAST_WORD, write};
use crate::fronts::socket::{Endpoint, Socket};
use crate::gateway::{Counted, Outbox, OutboxPhase};
use crate::limits::Limits;

/// A message larger than this takes long to read. It waits for its turn, and other tasks move to another
/// thread. With a lower limit, an app with many such messages would delay its small messages, and each of
/// many threads would keep memory for what it has read.
const LARGE_BYTES: usize = 1 << 20;

/// A message counts once more for each of these bytes when connections take turns at being read. With large
/// messages, one connection would otherwise hold up the others for as long as many times its share takes.
const PER_TURN_BYTES: usize = 4 << 10;

/// How many frames of one connection may be no messages per second: pings, pongs, binary frames, and
/// unreadable text. A peer that sends more has to wait.
pub(crate) const ASIDE_PER_SECOND: u32 = 1_000;

/// How long a peer waits at least, if its party has used up its share. Other peers of the party wait too, and
/// all check again.
const REFUSED_WAIT: Duration = Duration::from_millis(100);

/// How many `app/update`s one connection may send per second, and how many at once. A peer that sends more
/// has to wait.
pub(crate) const UPDATES_PER_SECOND: u32 = 10;
pub(crate) const UPDATES_AT_ONCE: u32 = 100;

/// Serves one connection until it ends.
pub async fn serve<E: Endpoint>(
    socket: Socket,
    limits: &Limits,
    endpoint: Arc<E>,
    outbox: Arc<Outbox>,
) {
    let Socket {
        stream,
        bytes,
        watch,
        bounds,
    } = socket;
    let (input, output) = split(stream);
    let mut messages =
        Messages::new(input, bytes, watch.clone()).keep_binary(endpoint.binary_bytes());
    let replies = messages.replies();
    let every = limits.ping_interval;
    // Both halves run in one task, so that neither waits for the other or wakes another thread.
    let is_broken = AtomicBool::new(false);
    let writing = write(output, every, &*endpoint, &outbox, &replies, &is_broken);
    let mut writing = pin!(writing.fuse());
    let end = {
        let messages = &mut messages;
        let reading = read(
            messages, &replies, &watch, &bounds, limits, &endpoint, &outbox,
        );
        let mut reading = pin!(reading);
        let mut rest = pin!(sleep(Duration::MAX));
        loop {
            tokio::select! {
                biased;
                end = &mut reading => break end,
                () = &mut writing, if !writing.is_terminated() => {
                    if outbox.is_open() {
                        // The connection broke. Received messages are still read, but reading may wait for
                        // queued messages to be written.
                        rest.as_mut().reset(Instant::now() + LAST_WORD);
                    }
                }
                () = &mut rest => break End::Lost,
            }
        }
    };
    match end {
        End::Closed | End::Broken(..) => endpoint.gone(),
        End::Lost | End::Silent(_) | End::NoRoom => endpoint.lost(),
    }
    // The received part of the peer's message is kept until then.
    let at_once = matches!(end, End::NoRoom) || outbox.is_over();
    let why = match end {
        End::Closed | End::Lost => None,
        End::Broken(code, reason) => Some((code, reason)),
        End::NoRoom => Some((CloseCode::TRY_AGAIN, NoRoom.to_string())),
        End::Silent(time) => Some((
            CloseCode::POLICY,
            format!("No sign of life for {} s", time.as_secs_f64()),
        )),
    };
    let broken = why.is_some();
    is_broken.store(broken, Relaxed);
    if let Some((code, reason)) = why {
        tracing::info!(reason, "disconnected");
        outbox.close(code, reason);
    }
    if !outbox.is_over() {
        outbox.close(CloseCode::NORMAL, String::new());
    }
    // The peer gets its last messages, and time to answer the close frame. If a socket is dropped with unread
    // bytes, the connection is reset, and the peer may lose messages. The input of a peer that has broken a
    // rule is not parsed any more, so its answer is not recognised: the peer ends its stream instead.
    let time = match at_once {
        true => LAST_WORD,
        false => limits.close_timeout,
    };
    let _ = timeout(time, async {
        if !writing.is_terminated() {
            (&mut writing).await;
        }
        if !broken {
            while messages.next().await.is_ok() {}
            return;
        }
        tokio::select! {
            () = messages.discard() => {}
            () = outbox.reached(OutboxPhase::Over) => {}
        }
    })
    .await;
    outbox.end();
    if !writing.is_terminated() {
        writing.await;
    }
}

async fn read(
    messages: &mut Messages<impl AsyncRead + Unpin>,
    replies: &Replies,
    watch: &Watch,
    bounds: &SocketBounds,
    limits: &Limits,
    endpoint: &Arc<impl Endpoint>,
    outbox: &Outbox,
) -> End {
    let dead = limits.dead_peer_timeout;
    let mut deadline = endpoint.deadline();
    let late = sleep_until(Instant::now() + deadline.unwrap_or_default());
    tokio::pin!(late);
    let mut heard = Instant::now();
    let mut silence = Silence::new(limits.ping_interval, limits.dead_peer_timeout);
    let alarm = sleep_until(heard + silence.unasked);
    tokio::pin!(alarm);
    let mut closing = pin!(outbox.reached(OutboxPhase::Closing));
    let aside = Pace::new(ASIDE_PER_SECOND.into(), ASIDE_PER_SECOND.into());
    let updates = Pace::new(UPDATES_PER_SECOND.into(), UPDATES_AT_ONCE.into());
    let rate = endpoint.rate().map(|rate| Pace::new(rate, rate));
    // How many messages were handled since the clock was last read.
    let mut at_once = 0;
    // The burst, while there are received messages that are not read.
    let mut burst: Option<Burst> = None;
    let begin = || bounds.bursts.begin(&watch.quota_key());
    loop {
        if burst.as_ref().is_some_and(|it| at_once >= it.share()) {
            (heard, at_once) = (Instant::now(), 0);
            yield_now().await;
            // The connection may belong to another party by now.
            burst = Some(begin());
        }
        // A peer that sends faster than it reads has to wait.
        let may_read = endpoint.is_urgent() || !outbox.is_congested();
        // Messages that have already arrived are read without timers and wakers.
        let arrived = match may_read && outbox.is_open() {
            true => messages.next().now_or_never(),
            false => None,
        };
        let message = match arrived {
            Some(message) => {
                burst.get_or_insert_with(begin);
                message
            }
            None => {
                burst = None;
                if at_once > 0 {
                    (heard, at_once) = (Instant::now(), 0);
                }
                let next = async {
                    if !endpoint.is_urgent() {
                        outbox.short().await;
                    }
                    messages.next().await
                };
                tokio::select! {
                    biased;
                    () = &mut closing => return End::Closed,
                    () = watch.evicted() => return End::NoRoom,
                    message = next => message,
                    () = &mut late, if deadline.is_some() => {
                        deadline = None;
                        endpoint.late();
                        continue;
                    }
                    () = &mut alarm => {
                        let now = Instant::now();
                        // The peer's messages may wait unread. The gateway's pings may wait behind messages
                        // that the peer has not read.
                        let life = heard.max(watch.last_life());
                        let due = alarm.deadline();
                        match silence.look(life, due, now) {
                            Look::Again(at) => alarm.as_mut().reset(at),
                            Look::Ask(at) => {
                                replies.give(Frame::ping(Bytes::new()));
                                alarm.as_mut().reset(at);
                            }
                            Look::Gone => return End::Silent(dead),
                        }
                        continue;
                    }
                }
            }
        };
        at_once += 1;
        let counted = match message {
            Err(end) => return end,
            Ok(Received::Close) => return End::Closed,
            Ok(Received::Text(text)) if text.len() <= LARGE_BYTES => {
                at_once += text.len() / PER_TURN_BYTES;
                watch.finished();
                match hand_on(text, endpoint) {
                    Ok(counted) => counted,
                    Err(end) => return end,
                }
            }
            Ok(Received::Text(text)) => {
                let quota_key = watch.quota_key();
                let turn = tokio::select! {
                    biased;
                    () = &mut closing => return End::Closed,
                    () = watch.evicted() => return End::NoRoom,
                    turn = bounds.turns.take(&quota_key) => turn,
                };
                let counted = match blocking(|| hand_on(text, endpoint)) {
                    Ok(counted) => counted,
                    Err(end) => return end,
                };
                drop(turn);
                watch.finished();
                // Other connections have their turn before the next message of this one.
                at_once = usize::MAX;
                burst.get_or_insert_with(begin);
                counted
            }
            Ok(Received::Binary(frame, sent)) => {
                watch.finished();
                endpoint.binary(frame, sent)
            }
            Ok(Received::Control) => Counted::Aside,
        };
        let pace = match counted {
            Counted::Message => rate.as_ref(),
            Counted::Request | Counted::Refused => None,
            Counted::Update => Some(&updates),
            Counted::Aside => Some(&aside),
        };
        let is_refused = matches!(counted, Counted::Aside | Counted::Refused);
        let mut paced = pin!(async {
            while let Some(Err(wait)) = pace.map(Pace::check) {
                sleep(wait).await;
            }
            while is_refused && let Err(wait) = bounds.refused.check(&watch.quota_key()) {
                sleep(wait.max(REFUSED_WAIT)).await;
            }
        });
        if paced.as_mut().now_or_never().is_none() {
            // The peer's input is not read meanwhile. Its messages count when their turn has come.
            burst = None;
            tokio::select! {
                () = &mut closing => return End::Closed,
                () = paced => (heard, at_once) = (Instant::now(), 0),
            }
        }
    }
}

/// Gives a message to the endpoint.
fn hand_on(text: Text, endpoint: &Arc<impl Endpoint>) -> Result<Counted, End> {
    let sent = text.sent;
    Ok(endpoint.text(&text.read()?, sent))
}

/// Does long work, while other tasks move to another thread.
fn blocking<T>(work: impl FnOnce() -> T) -> T {
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::MultiThread => tokio::task::block_in_place(work),
        _ => work(),
    }
}

#[cfg(test)]
mod tests;
