//! What the broker is told.

use std::sync::Arc;

use super::call::{CancelOutcome, NewOwnCall, NewSession, Step};
use super::peer::{CloseCode, PeerId, Profile, Seat, Wanted};
use super::{Backlog, Message};
use crate::broker::runs::RunId;
use crate::limits::REGISTRATION_BYTES;
use crate::tokens::Identity;
use crate::wire::{Envelope, Failure, Outgoing, RefusedMessage, Subject};

/// Something has happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// An agent has connected.
    AgentJoined {
        /// Its connection.
        peer: PeerId,
        /// The app that the agent has asked for.
        app: Wanted,
        /// The identity of the agent.
        profile: Profile,
    },
    /// An app has connected, and has not registered yet.
    AppJoined {
        /// Its connection.
        peer: PeerId,
        /// The identity of the app, if it has shown a token or needs none.
        identity: Option<Identity>,
        /// Where the app is connected.
        seat: Seat,
    },
    /// A well-formed message has come.
    Message {
        /// The sender.
        peer: PeerId,
        /// The message.
        message: Message<'a>,
    },
    /// A call is made in a session of the gateway itself.
    Call {
        /// The session, which is opened if it is not open.
        session: PeerId,
        /// The client of the session.
        client: &'a NewSession,
        /// The call.
        call: Box<NewOwnCall>,
    },
    /// The caller in a session of the gateway itself cancels its call. The end of the call tells the outcome.
    Cancel {
        /// The run of the call.
        run: RunId,
        /// The reason, for logs and the handler.
        reason: Option<String>,
    },
    /// Nobody uses a session of the gateway itself any more. The session ends with the last of its calls.
    Left {
        /// The session.
        session: PeerId,
    },
    /// The time that `Broker::next_deadline` gave has come.
    Deadline,
    /// Something has come that is no message.
    Refused {
        /// The sender.
        peer: PeerId,
        /// What is wrong with it.
        refusal: Box<RefusedMessage>,
    },
    /// The level of the queue to a peer has changed. The handling must push no [`Action`], because not every
    /// sender of this event performs actions.
    Backlog {
        /// The receiver of the queue.
        peer: PeerId,
        /// The new level.
        backlog: Backlog,
    },
    /// The connection of an app was lost and the app may come back, or it has come back. The handling must
    /// push no [`Action`], as for [`Event::Backlog`].
    Suspended {
        /// The app.
        peer: PeerId,
        /// Whether it was lost.
        suspended: bool,
    },
    /// The time to register is over for an app.
    RegisterTimeout {
        /// The app's connection.
        peer: PeerId,
    },
    /// A connection has ended, or counts as lost.
    Gone {
        /// The connection.
        peer: PeerId,
    },
    /// Too much waited for an app on another worker, and all of it was dropped.
    Emptied {
        /// The app.
        peer: PeerId,
    },
    /// An app on another worker has lost one of its agents.
    AgentLost {
        /// The app's connection.
        app: PeerId,
        /// The agent's name on the app's wire.
        agent: String,
    },
    /// Somebody who is not its agent wants a run cancelled: `Action::Revoked` tells what comes of
    /// it.
    Revoke {
        /// Which run.
        run: RunId,
        /// Why, for logs and the handler.
        reason: Option<String>,
    },
    /// The worker of an app is about to stop: it takes no new calls.
    AppDraining {
        /// Which app.
        peer: PeerId,
    },
    /// The gateway is about to stop: it takes no new calls.
    Drain,
    /// The gateway stops.
    Shutdown,
}

impl<'a> Event<'a> {
    /// What has come from a peer, read.
    pub fn received(peer: PeerId, read: Result<Envelope<'a>, Box<RefusedMessage>>) -> Self {
        Event::read(peer, read, REGISTRATION_BYTES)
    }

    /// What another worker says in the place of an app of its own. That has come to offer it bit by bit, so
    /// there may be more of it than one message of an app may bring.
    pub fn told(peer: PeerId, read: Result<Envelope<'a>, Box<RefusedMessage>>) -> Self {
        Event::read(peer, read, usize::MAX)
    }

    /// What has come from a peer is refused with that error.
    pub fn refused(peer: PeerId, subject: Subject, error: Failure) -> Self {
        let refusal = Box::new(RefusedMessage { subject, error });
        Event::Refused { peer, refusal }
    }

    fn read(
        peer: PeerId,
        read: Result<Envelope<'a>, Box<RefusedMessage>>,
        offer_bytes: usize,
    ) -> Self {
        match read {
            Ok(envelope) => Event::Message {
                peer,
                message: Message::read(envelope, offer_bytes),
            },
            Err(refusal) => Event::Refused { peer, refusal },
        }
    }
}

/// What is to be done.
#[derive(Debug)]
pub enum Action {
    /// Send a message.
    Send {
        /// To whom.
        peer: PeerId,
        /// The message.
        message: Outgoing,
    },
    /// Close a connection after what was sent on it. The broker has forgotten the peer.
    Close {
        /// Which one.
        peer: PeerId,
        /// Why, for programs.
        code: CloseCode,
        /// Why, for people; at most 123 bytes go out.
        reason: String,
    },
    /// An app has registered and asks for a session that outlives its connection: tell it so with
    /// `app/registered`, and keep what is sent to it from now on.
    Resumable {
        /// Which app.
        peer: PeerId,
        /// The `id` of its request, as JSON.
        id: Option<String>,
        /// What it is called by.
        app: Arc<str>,
        /// Who has registered it.
        owner: Identity,
    },
    /// An app has registered afresh, and says that its session was the one with this token: end that
    /// one, if it was that app's and whose it is may do so.
    Replaced {
        /// The token.
        token: String,
        /// What the app is called by.
        app: Arc<str>,
        /// Who has registered it.
        by: Identity,
    },
    /// New sessions of an app go to another connection from now on: tell the one they
    /// went to before, if that is still there.
    Superseded {
        /// That one.
        peer: PeerId,
        /// What it is told.
        message: Outgoing,
        /// What it is called by.
        app: Arc<str>,
        /// Whose it was, by name.
        was: Arc<str>,
        /// Whose it is.
        by: Arc<str>,
    },
    /// Tell the worker of an agent that has left what an app here says to it.
    Left {
        /// The agent as it was known here.
        agent: PeerId,
        /// What the app says.
        message: Outgoing,
    },
    /// What came of [`Event::Revoke`]; however often it was asked for meanwhile, this comes once.
    Revoked {
        /// The run.
        run: RunId,
        /// The app's answer, or why there is none.
        outcome: CancelOutcome,
    },
    /// A call of the gateway's own goes on.
    Call {
        /// The run it is.
        run: RunId,
        /// What it does.
        step: Step,
    },
    /// Nothing more will be heard of a call of the gateway's own.
    CallOver {
        /// The run it is.
        run: RunId,
    },
}
