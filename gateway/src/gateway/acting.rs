//! Tells the broker what has happened, and does what the broker asks for.

use std::ops::ControlFlow;
use std::time::Duration;

use smallvec::SmallVec;
use tokio::time::sleep;
use uuid::Uuid;

use crate::broker::calls::News;
use crate::broker::{Action, CloseCode, Event, Now, PeerId, ToApp, Waiting};
use crate::cluster::message::Replaced;
use crate::gateway::hub::{Hub, State};
use crate::gateway::lifecycle::Phase;
use crate::gateway::noticed::Noticed;
use crate::gateway::outbox::{Pushed, unread};
use crate::gateway::resume::registered;
use crate::wire::Outgoing;

/// The longest wait, in milliseconds. Something else ends the wait before that.
const FAR: f64 = 86_400_000.0;

/// The work to do once no lock is held.
#[derive(Default)]
struct After {
    news: SmallVec<[News; 2]>,
    log: SmallVec<[Noticed; 1]>,
    left: Vec<(PeerId, Outgoing)>,
    replaced: Option<Replaced>,
}

impl Hub {
    /// Tells the broker what has happened, and does what the broker asks for.
    pub fn handle(&self, event: Event<'_>) {
        self.handle_with(event, |_| {});
    }

    /// Like [`Hub::handle`], but runs `before` first, under the same lock. Returns true if the broker refused
    /// the event.
    pub(crate) fn handle_with(
        &self,
        mut event: Event<'_>,
        before: impl FnOnce(&mut State),
    ) -> bool {
        if let Event::Message { peer, message } = &mut event {
            message.name_run(self.process);
            if message.is_update()
                && let Some(offer) = self.offer_on(*peer)
            {
                message.prepare(&offer, self.limits.message_bytes);
            }
        }
        let now = self.now();
        let mut after = After::default();
        let mut state = self.state();
        before(&mut state);
        if let Event::Message { message, .. } = &mut event {
            // Otherwise a made-up token would let in one app more than the limit.
            message.find_replaced(|token, app| state.outboxes.peer_of_session(token, app));
        }
        match event {
            Event::Gone { peer } => {
                drop(state.outboxes.remove(&peer));
                state.ports.remove(&peer);
            }
            Event::Drain => self.lifecycle.enter(Phase::Draining),
            Event::Shutdown => self.lifecycle.enter(Phase::Stopping),
            _ => {}
        }
        self.note_waiting(&mut state, &event);
        let refused_before = state.broker.counters().refused;
        state.broker.handle(event, now);
        let is_refused = state.broker.counters().refused > refused_before;
        loop {
            while let Some(action) = state.broker.next_action() {
                self.perform(&mut state, action, now, &mut after);
            }
            // Making room may cause further actions: the loop performs them as well.
            if !self.make_room(&mut state, now, &mut after) {
                break;
            }
        }
        let offered = state.broker.take_offered();
        after.news = state.broker.runs_mut().take_news();
        self.timer.look(&state.broker);
        drop(state);
        for event in after.log {
            event.log(self.limits.queued_bytes);
        }
        self.report(after.news);
        self.tell_offered(offered);
        if let Some(clustered) = self.clustered() {
            for (agent, message) in after.left {
                clustered.say_to_left(agent, message.into_text());
            }
            if let Some(replaced) = after.replaced {
                clustered.tell_home(replaced);
            }
        }
        is_refused
    }

    /// Tells the broker of its deadlines, forever.
    pub(crate) async fn keep_time(&self) -> ControlFlow<()> {
        loop {
            let wait = self.until_deadline();
            tokio::select! {
                () = sleep(wait) => {}
                () = self.timer.earlier() => {}
            }
        }
    }

    /// Handles the deadlines that are due. Returns the time until the next deadline.
    fn until_deadline(&self) -> Duration {
        let due = |hub: &Hub| {
            let state = hub.state();
            let next = state.broker.next_deadline();
            // While the broker is locked, no earlier deadline can appear.
            hub.timer.awaits(next);
            next.map(|next| next - hub.now().monotonic_ms)
        };
        let mut next = due(self);
        if next.is_some_and(|wait| wait <= 0.0) {
            self.handle(Event::Deadline);
            next = due(self);
        }
        let wait = next.map_or(FAR, |wait| wait.clamp(0.0, FAR));
        // Timers are not more precise than one millisecond.
        Duration::from_secs_f64(wait.ceil() / 1_000.0)
    }

    /// Tells the broker how many bytes wait.
    fn note_waiting(&self, state: &mut State, event: &Event<'_>) {
        let for_all = self.queued.used();
        // The app is looked up only when the broker needs it.
        let app = match event {
            Event::Message { peer, .. } | Event::Call { session: peer, .. }
                if state.broker.is_much(for_all) =>
            {
                state.broker.app_of(*peer)
            }
            _ => None,
        };
        let queue = app.and_then(|app| state.outboxes.get(&app));
        let for_app = queue.map_or(0, |queue| queue.waiting().0);
        let waiting = Waiting { for_all, for_app };
        state.broker.note_waiting(waiting);
    }

    /// Does one thing that the broker asks for.
    fn perform(&self, state: &mut State, action: Action, now: Now, after: &mut After) {
        let State {
            broker,
            outboxes,
            ports,
            ..
        } = state;
        match action {
            Action::ToApp { app, message } => {
                // An app whose port is closed is about to leave.
                let _ = ports.get(&app).map(|port| port.send(message));
            }
            Action::Send { peer, message } => {
                let Some(outbox) = outboxes.get(&peer) else {
                    return;
                };
                match outbox.push(message) {
                    Pushed::Queued => {}
                    Pushed::Unkept => after.log.push(Noticed::Unkept(peer)),
                    Pushed::Grown(backlog) => {
                        broker.handle(Event::Backlog { peer, backlog }, now);
                    }
                    Pushed::Emptied => {
                        after.log.push(Noticed::Emptied(peer));
                        broker.handle(Event::Emptied { peer }, now);
                    }
                    Pushed::Overflow => {
                        after.log.push(Noticed::Overflow(peer));
                        outbox.close(CloseCode::POLICY, unread(self.limits.queued_bytes));
                        outboxes.remove(&peer);
                        broker.handle(Event::Gone { peer }, now);
                    }
                }
            }
            Action::Close { peer, code, reason } => {
                if code == CloseCode::POLICY {
                    let of = outboxes.get(&peer).map(|queue| queue.peer());
                    let (address, app) = of.unwrap_or_default();
                    let reason = reason.clone();
                    after.log.push(Noticed::Refused {
                        address,
                        app,
                        reason,
                    });
                } else if tracing::enabled!(tracing::Level::DEBUG) {
                    after.log.push(Noticed::Closing(peer, code, reason.clone()));
                }
                if let Some(port) = ports.remove(&peer) {
                    let _ = port.send(ToApp::Closed(code, reason));
                } else if let Some(outbox) = outboxes.remove(&peer) {
                    outbox.close(code, reason);
                }
            }
            Action::Resumable {
                peer,
                id,
                app,
                owner,
            } => {
                let secret = Uuid::new_v4().simple();
                let token = format!("{}.{}.{secret}", self.resume_prefix(), peer.0);
                let grace = self.limits.app_grace;
                let answer = registered(now.unix_ms, id.as_deref(), &app, &token, grace);
                outboxes.keep(peer, (app, owner), token, answer);
            }
            Action::Replaced { token, app, by } => match outboxes.replaced(&token, &app, &by) {
                Some(peer) => broker.handle(Event::Gone { peer }, now),
                // Another worker may have the session.
                None => after.replaced = Some(Replaced { token, app, by }),
            },
            Action::Superseded {
                peer,
                message,
                app,
                was,
                by,
            } => {
                if outboxes.get(&peer).is_some() {
                    let anyone = self.tokens.is_empty();
                    let named = |peer| Some(broker.apps().instance(peer)?.named(&app));
                    let superseded = Noticed::Superseded {
                        before: named(peer).unwrap_or_else(|| app.to_string()),
                        now: broker.apps().latest(&app).and_then(named),
                        was,
                        by,
                        anyone,
                    };
                    after.log.push(superseded);
                    self.perform(state, Action::Send { peer, message }, now, after);
                }
            }
            Action::Left { agent, message } => after.left.push((agent, message)),
        }
    }

    /// Gives up peers while more bytes wait for all peers than the limit allows. Picks the owner whose peers
    /// have most bytes waiting, and of these peers the one with most. Returns whether there was room to make.
    fn make_room(&self, state: &mut State, now: Now, after: &mut After) -> bool {
        let max = self.limits.queued_bytes_of_all;
        let mut made = self.queued.used() > max && state.outboxes.drop_leaving();
        while self.queued.used() > max
            && let Some(peer) = state.outboxes.longest(|peer| state.broker.owner_of(peer))
            && let Some(queue) = state.outboxes.get(&peer)
        {
            made = true;
            after.log.push(Noticed::Evicted(peer));
            if !queue.evict() {
                state.broker.handle(Event::Emptied { peer }, now);
                continue;
            }
            let reason = format!("More than {max} bytes wait for all peers, and most for this one");
            queue.close(CloseCode::POLICY, reason);
            state.outboxes.remove(&peer);
            state.broker.handle(Event::Gone { peer }, now);
        }
        made
    }
}
