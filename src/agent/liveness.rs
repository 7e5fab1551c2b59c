//! What an agent knows of whether its host is alive, on a transport that does not report a lost peer.

use super::action::RequestKey;
use crate::call::Millis;

/// The first probe goes out early. Only a host that has answered a probe proves something by a
/// later silence, because a host need not answer cancels.
const FIRST_LOOK: Millis = 250.0;

#[derive(Default)]
pub(super) struct Liveness {
    /// When the host was last heard. While an announced message is on its way: when that is there at
    /// the latest.
    pub heard: Millis,
    /// Large requests that are perhaps still on their way.
    pub upload: Option<Upload>,
    /// When to check next. `None` while no call is pending.
    pub look_at: Option<Millis>,
    pub probe: Option<Probe>,
    /// The host has answered a probe.
    pub answers: bool,
}

#[derive(Clone, Copy)]
pub(super) struct Probe {
    pub key: RequestKey,
    pub sent: Millis,
    pub due: Millis,
    /// The host is known to answer probes, so that silence means its loss.
    pub sure: bool,
    /// The timer of this probe, or of the probe before, came late: everything had stood still.
    pub late: bool,
}

/// What a large request holds up: an answer to anything sent later cannot come before it has left.
#[derive(Clone, Copy)]
pub(super) struct Upload {
    /// The last of the large requests.
    pub key: RequestKey,
    /// The newest request that was made when that was sent.
    pub newest: RequestKey,
    /// When the slowest line has carried all of it.
    pub until: Millis,
}

impl Liveness {
    /// The liveness of a host. `answers` says whether the host is known to answer probes.
    pub fn of(answers: bool) -> Self {
        Liveness {
            answers,
            ..Liveness::default()
        }
    }

    /// A call has been sent.
    pub fn begin(&mut self, wanted: Option<Millis>, now: Millis) {
        if let Some(liveness) = wanted.filter(|_| self.look_at.is_none()) {
            self.heard = self.heard.max(now);
            let half = liveness / 2.0;
            self.look_at = Some(
                now + if self.answers {
                    half
                } else {
                    half.min(FIRST_LOOK)
                },
            );
        }
    }

    /// No call is pending.
    pub fn rest(&mut self) {
        self.look_at = None;
    }

    pub fn end(&mut self) {
        self.rest();
        self.probe = None;
    }

    pub fn heard(&mut self, now: Millis) {
        self.heard = now;
    }

    /// The host has answered the request of that key, and so has received what was sent before.
    pub fn received(&mut self, key: RequestKey) {
        self.upload
            .take_if(|upload| key == upload.key || key > upload.newest);
    }

    /// The host has answered a cancel, so it would answer a probe.
    pub fn known_to_answer(&mut self) {
        self.answers = true;
    }

    /// Whether the request of that key is a probe.
    pub fn answered(&mut self, key: RequestKey) -> bool {
        let answered = self.probe.take_if(|probe| probe.key == key).is_some();
        self.answers |= answered;
        answered
    }

    /// When to check next. Infinite means never.
    pub fn next(&self) -> Millis {
        let due = self.probe.map_or(f64::INFINITY, |probe| probe.due);
        due.min(self.look_at.unwrap_or(f64::INFINITY))
    }
}
