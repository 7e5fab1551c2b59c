//! Asks a host for signs of life, on a transport that does not report a lost peer.

use super::action::{Action, Request, RequestKey};
use super::liveness::{Probe, Upload};
use super::state::AgentState;
use crate::call::{CallId, Millis};

/// The callId that a probe asks to cancel. A host that knows cancels answers that there is no such
/// call.
const PROBE: &str = "caphost.probe";

/// A host that has never answered a probe may be silent this many times longer.
const BENEFIT_OF_DOUBT: f64 = 4.0;

/// How long a host that may be gone has to give a sign of life.
const SIGN_OF_LIFE: Millis = 2_000.0;

/// The slowest line that is served, in bytes a millisecond: 16 kB/s.
const SLOWEST_LINE: f64 = 16.0;

impl<P: Clone> AgentState<P> {
    /// Whether anything depends on when messages are sent and heard: a call with a timeout has not
    /// been sent, the life of the host is watched, or the connection was lost.
    pub fn needs_time(&self) -> bool {
        let watched = self.options.liveness.is_some() || self.life.probe.is_some();
        watched || self.unsent_timeout || self.away || self.held_until > 0.0
    }

    /// The host has announced that its next message has so many bytes, on a transport that shows only
    /// the end of a message. Until that, the host is given the time that the slowest line takes.
    pub fn expect(&mut self, bytes: f64, now: Millis) {
        self.life.heard(now + bytes.max(0.0) / SLOWEST_LINE);
    }

    /// The request of that key, of so many bytes, has been given to the transport. What is sent later
    /// is answered later by the time that the slowest line takes, at most.
    pub fn uploads(&mut self, key: RequestKey, bytes: f64, now: Millis) {
        let from = self.life.upload.map_or(now, |before| before.until.max(now));
        self.life.upload = Some(Upload {
            key,
            newest: self.newest_key(),
            until: from + bytes / SLOWEST_LINE,
        });
    }

    /// The transport has reason to think that the host is gone. If `sure`, silence of the host proves that.
    pub fn suspect(&mut self, sure: bool, now: Millis) {
        self.probe(SIGN_OF_LIFE, sure, now);
    }

    /// Asks the host for a sign of life within `within` milliseconds. If `sure`, the host is known
    /// to answer cancels, and counts as lost if it stays silent.
    fn probe(&mut self, within: Millis, sure: bool, now: Millis) {
        let Ok(call) = CallId::parse(PROBE) else {
            return;
        };
        if self.unreachable().is_none() && self.ledger.key(&call).is_none() {
            let key = self.next_key();
            self.life.probe = Some(Probe {
                key,
                sent: now,
                due: now + within,
                sure,
                late: false,
            });
            let request = Request::Cancel { call, reason: None };
            self.actions.push_back(Action::Send(key, request));
        }
    }

    pub(super) fn look_for_life(&mut self, now: Millis) {
        let life = &mut self.life;
        if let Some(probe) = life.probe.take_if(|probe| probe.due <= now)
            && life.heard <= probe.sent
        {
            let within = probe.due - probe.sent;
            let uploading = life.upload.is_some_and(|it| probe.sent < it.until);
            let doubt = self
                .options
                .liveness
                .map_or(f64::INFINITY, |it| it * BENEFIT_OF_DOUBT);
            if uploading {
                // The answer may wait behind what is still leaving. The next look asks again.
            } else if !probe.late && now - probe.due > within / 2.0 {
                // The app may have stood still as well, or its answer is still unread. Ask once
                // more, and only once: the timers of a hidden page are always late.
                self.probe(within, probe.sure, now);
                if let Some(again) = &mut self.life.probe {
                    again.late = true;
                }
            } else if probe.sure || life.answers || now - life.heard >= doubt {
                self.disconnected();
                return;
            }
        }
        let life = &mut self.life;
        let (Some(at), Some(liveness)) = (life.look_at, self.options.liveness) else {
            return;
        };
        if at > now {
            return;
        }
        let half = liveness / 2.0;
        life.look_at = Some(now + half);
        let silent = now - life.heard >= half;
        if life.probe.is_none() && (silent || !life.answers) {
            self.probe(half, false, now);
        }
    }
}
