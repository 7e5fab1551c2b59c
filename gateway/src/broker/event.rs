//! What the broker is told.

use std::sync::Arc;

use super::internal::NewSession;
use super::peer::{CloseCode, PeerId, Profile, Seat, Wanted};
use super::port::{FromApp, ToApp};
use super::{Backlog, Message};
use crate::broker::calls::{Asker, NewCall, RunId};
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
    /// An app inside the gateway says something to one of its agents.
    Said {
        /// The app.
        app: PeerId,
        /// The agent's name in messages to the app.
        agent: &'a str,
        /// The message.
        message: FromApp<'a>,
    },
    /// A call is made in a session of the gateway itself.
    Call {
        /// The session, which is opened if it is not open.
        session: PeerId,
        /// The client of the session.
        client: &'a NewSession,
        /// The call.
        call: Box<NewCall<'static>>,
    },
    /// Somebody cancels a call.
    Cancel {
        /// The run of the call.
        run: RunId,
        /// Who asks.
        asker: Asker,
        /// The reason, for logs and the handler.
        reason: Option<String>,
    },
    /// The caller of a front answers a question of its call.
    Answer {
        /// The run of the call.
        run: RunId,
        /// The number of the question.
        question: u64,
        /// The payload of the `elicitation/response`.
        payload: &'a str,
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
        /// The agent's name in messages to the app.
        agent: String,
    },
    /// The worker of an app is about to stop: the app takes no new calls.
    AppDraining {
        /// The app.
        peer: PeerId,
    },
    /// The gateway is about to stop, and takes no new calls.
    Drain,
    /// The gateway stops.
    Shutdown,
}

impl<'a> Event<'a> {
    /// A message has come from a peer, or something that cannot be read.
    pub fn received(peer: PeerId, read: Result<Envelope<'a>, Box<RefusedMessage>>) -> Self {
        Event::read(peer, read, REGISTRATION_BYTES)
    }

    /// Another worker has sent a message in place of one of its apps. An app offers its capabilities bit by
    /// bit, so the whole may be larger than one message of an app may be.
    pub fn told(peer: PeerId, read: Result<Envelope<'a>, Box<RefusedMessage>>) -> Self {
        Event::read(peer, read, usize::MAX)
    }

    /// A message of a peer is refused with that error.
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

/// Something to do.
#[derive(Debug)]
pub enum Action {
    /// Send a message.
    Send {
        /// The receiver.
        peer: PeerId,
        /// The message.
        message: Outgoing,
    },
    /// Give a message to an app inside the gateway.
    ToApp {
        /// The app.
        app: PeerId,
        /// The message.
        message: ToApp,
    },
    /// Close a connection after everything sent on it is written. The broker has forgotten the peer.
    Close {
        /// The connection.
        peer: PeerId,
        /// The reason, for programs.
        code: CloseCode,
        /// The reason, for people. At most 123 bytes of it are sent.
        reason: String,
    },
    /// An app has registered and asks for a session that outlives its connection. Confirm it with
    /// `app/registered`, and keep what is sent to the app from now on.
    Resumable {
        /// The app.
        peer: PeerId,
        /// The `id` of its request, as JSON.
        id: Option<String>,
        /// The id of the app.
        app: Arc<str>,
        /// The owner of the registration.
        owner: Identity,
    },
    /// An app has registered anew, and says that its session was that of this token. End that session, if it
    /// was of the same app and the owner may do so.
    Replaced {
        /// The token.
        token: String,
        /// The id of the app.
        app: Arc<str>,
        /// The owner of the registration.
        by: Identity,
    },
    /// New sessions of an app go to another connection from now on. Tell the connection that had them before,
    /// if it is still there.
    Superseded {
        /// The connection that had them before.
        peer: PeerId,
        /// The message to that connection.
        message: Outgoing,
        /// The id of the app.
        app: Arc<str>,
        /// The name of the owner before.
        was: Arc<str>,
        /// The name of the owner now.
        by: Arc<str>,
    },
    /// Pass an app's message on to the worker of an agent that has left.
    Left {
        /// The agent, by its number on this worker.
        agent: PeerId,
        /// The app's message.
        message: Outgoing,
    },
}
