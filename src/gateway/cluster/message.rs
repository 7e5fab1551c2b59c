//! What workers say to each other.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use serde::{Deserialize, Serialize};

use super::notice::Notice;
use super::question::{Answer, Question};
use crate::gateway::relay::Offer;
use crate::gateway::tokens::Identity;

/// Names an app by its connection to the worker that holds it.
pub type AppKey = u64;

/// Names the connection of an app that has come back to another worker, by that worker.
pub type TunnelId = u64;

/// One message.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Message {
    /// The first of all: what the worker is called by people.
    Hello {
        /// Its name, for logs.
        name: String,
        /// What the tokens of its apps' sessions begin with.
        sessions: String,
    },
    /// I hold an app, or it offers something else now.
    App {
        /// Which one.
        app: AppKey,
        /// What it offers.
        offer: Offer,
    },
    /// That app has gone.
    AppGone {
        /// Which one.
        app: AppKey,
    },
    /// From an agent of mine to an app of yours. The text is an envelope.
    ToApp {
        /// Which app.
        app: AppKey,
        /// The agent's name on the app's wire.
        agent: String,
    },
    /// That agent has gone.
    AgentGone {
        /// Whose app it was on.
        app: AppKey,
        /// The agent.
        agent: String,
    },
    /// From an app of mine to an agent of yours. The text is an envelope.
    ToAgent {
        /// Which app.
        app: AppKey,
        /// The agent.
        agent: String,
    },
    /// My app does not serve that agent any more.
    AgentLost {
        /// Which app.
        app: AppKey,
        /// The agent.
        agent: String,
    },
    /// An app whose session is yours has come back to me.
    TakeUp {
        /// Its connection.
        tunnel: TunnelId,
        /// The session's token.
        token: String,
        /// How many of its messages the app has received.
        received: u64,
        /// What the app wants to be answered under, as JSON.
        id: Option<String>,
        /// Who the app is.
        by: Identity,
    },
    /// It cannot go on: the text tells the app.
    NotTakenUp {
        /// The connection.
        tunnel: TunnelId,
    },
    /// The app says. The text is an envelope.
    FromConnection {
        /// The connection.
        tunnel: TunnelId,
    },
    /// Say to the app. The text is an envelope.
    ToConnection {
        /// The connection.
        tunnel: TunnelId,
    },
    /// The app's connection is over.
    ConnectionOver {
        /// The connection.
        tunnel: TunnelId,
        /// It broke, and the app may come back once more.
        lost: bool,
    },
    /// Close the app's connection.
    CloseConnection {
        /// The connection.
        tunnel: TunnelId,
        /// A WebSocket close code.
        code: u16,
        /// Why, for people.
        reason: String,
    },
    /// Answer me.
    Ask {
        /// What to answer under.
        id: u64,
        /// What is asked.
        question: Question,
    },
    /// You have asked.
    Answer {
        /// What was asked under.
        id: u64,
        /// The answer.
        answer: Answer,
    },
    /// Everybody should know.
    Tell(Notice),
    /// I am about to leave: cancel what you have on apps of mine.
    Stopping,
    /// I leave: take what is mine for gone.
    Bye,
}

/// A message and the text that goes with it, empty for most.
#[derive(Clone, Debug)]
pub struct Parcel {
    /// The message.
    pub message: Message,
    /// Text that is not parsed on the way.
    pub text: Bytes,
}

impl From<Message> for Parcel {
    fn from(message: Message) -> Self {
        let text = Bytes::new();
        Parcel { message, text }
    }
}

impl Parcel {
    /// The parcel as bytes: the lengths of message and text as 32-bit numbers, the message as JSON,
    /// the text. Nothing for what has more than 4 GiB.
    pub fn pack(&self) -> Option<Bytes> {
        let head = serde_json::to_vec(&self.message).ok()?;
        let mut bytes = BytesMut::with_capacity(8 + head.len() + self.text.len());
        bytes.put_u32(u32::try_from(head.len()).ok()?);
        bytes.put_u32(u32::try_from(self.text.len()).ok()?);
        bytes.put_slice(&head);
        bytes.put_slice(&self.text);
        Some(bytes.freeze())
    }

    /// The parcels packed one after the other, up to the first that cannot be read.
    pub fn unpack(mut bytes: Bytes) -> impl Iterator<Item = Result<Parcel, String>> {
        let mut broken = false;
        std::iter::from_fn(move || {
            if broken || bytes.is_empty() {
                return None;
            }
            let parcel = unpack_one(&mut bytes);
            broken = parcel.is_err();
            Some(parcel)
        })
    }
}

fn unpack_one(bytes: &mut Bytes) -> Result<Parcel, String> {
    if bytes.len() < 8 {
        return Err("it ends in a length".into());
    }
    let (head, text) = (bytes.get_u32() as usize, bytes.get_u32() as usize);
    if bytes.len() < head + text {
        return Err("it ends in a message".into());
    }
    let head = bytes.split_to(head);
    let text = bytes.split_to(text);
    let message = serde_json::from_slice(&head).map_err(|error| error.to_string())?;
    Ok(Parcel { message, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parcel(app: AppKey, text: &str) -> Parcel {
        Parcel {
            message: Message::ToApp {
                app,
                agent: "a1".into(),
            },
            text: Bytes::copy_from_slice(text.as_bytes()),
        }
    }

    #[test]
    fn parcels_packed_together_come_apart() {
        let mut bytes = BytesMut::new();
        for (app, text) in [(1, "one"), (2, ""), (3, "dréi")] {
            bytes.put_slice(&parcel(app, text).pack().unwrap());
        }
        let read: Vec<_> = Parcel::unpack(bytes.freeze()).map(Result::unwrap).collect();
        let texts: Vec<_> = read.iter().map(|it| &it.text[..]).collect();
        assert_eq!(texts, [&b"one"[..], b"", "dréi".as_bytes()]);
        assert!(matches!(read[2].message, Message::ToApp { app: 3, .. }));
    }

    #[test]
    fn what_cannot_be_read_ends_it() {
        let packed = parcel(1, "text").pack().unwrap();
        for end in 1..packed.len() {
            let read: Vec<_> = Parcel::unpack(packed.slice(..end)).collect();
            assert!(matches!(&read[..], [Err(_)]), "{end}");
        }
        let mut foreign = BytesMut::new();
        foreign.put_u32(4);
        foreign.put_u32(0);
        foreign.put_slice(b"\"No\"");
        assert!(Parcel::unpack(foreign.freeze()).next().unwrap().is_err());
    }

    #[test]
    fn what_an_app_offers_comes_as_it_was() {
        let offer = serde_json::json!({
            "app": { "id": "demo", "name": "Demo", "version": "1" },
            "capabilities": [{ "name": "x", "inputSchema": { "type": "object", "n": 1.0 } }],
        });
        let offer: Offer = serde_json::from_value(offer).unwrap();
        let packed = Parcel::from(Message::App { app: 1, offer }).pack().unwrap();
        let read = Parcel::unpack(packed).next().unwrap().unwrap();
        let Message::App { offer, .. } = read.message else {
            panic!("{read:?}");
        };
        let schema = offer.capabilities[0].input_schema.as_ref().unwrap();
        assert_eq!(schema.get(), r#"{"n":1.0,"type":"object"}"#);
    }
}
