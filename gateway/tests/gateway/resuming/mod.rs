//! Apps that lose their connection and come back on another one.

mod bounds;
mod endings;
mod seam;
mod taking_up;

use std::time::Duration;

use caphost_gateway::Limits;
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::time::sleep;
use tokio_tungstenite::tungstenite::Message;

use crate::support::*;

/// An app with a session that can be resumed.
pub struct App {
    pub peer: Peer,
    pub token: String,
    /// How many messages of the session the app has received.
    pub received: u64,
}

impl App {
    pub async fn register(gateway: &Gateway) -> App {
        let mut peer = gateway.peer("/abp/app").await;
        peer.send(registering(json!({ "resume": true }))).await;
        App::registered(peer).await
    }

    /// The app on a connection that has sent its registration.
    pub async fn registered(mut peer: Peer) -> App {
        let registered = peer.next().await;
        assert_eq!(registered["type"], "app/registered");
        let token = registered["payload"]["resume"]["token"].as_str();
        App {
            token: token.expect("it can be resumed").into(),
            peer,
            received: 0,
        }
    }

    /// An app, and an agent with a session on it.
    pub async fn with_agent(gateway: &Gateway) -> (App, Peer) {
        let mut app = App::register(gateway).await;
        let mut agent = gateway.agent().await;
        agent.send(request("initialize", "init", json!({}))).await;
        let initialize = app.next().await;
        app.answer(
            &initialize,
            "initialize-result",
            json!({ "sessionId": "s" }),
        )
        .await;
        assert_eq!(agent.next().await["payload"]["sessionId"], "s");
        (app, agent)
    }

    /// The next message of the session.
    pub async fn next(&mut self) -> Value {
        let message = next_of_session(&mut self.peer).await;
        self.received += 1;
        message
    }

    pub async fn answer(&mut self, relayed: &Value, kind: &str, payload: Value) {
        self.peer.send(answer(relayed, kind, payload)).await;
    }

    /// The code that the connection is closed with.
    pub async fn closed(&mut self) -> u16 {
        loop {
            match soon("the close frame", self.peer.socket.next()).await {
                Some(Ok(Message::Close(frame))) => return frame.map_or(1005, |it| it.code.into()),
                Some(Ok(Message::Text(text))) => assert!(text.contains("app/ack"), "{text}"),
                Some(Ok(Message::Ping(_))) => {}
                other => panic!("no close frame but {other:?}"),
            }
        }
    }

    pub async fn complete(&mut self, calling: &Value) {
        let done = json!({ "success": true, "data": calling["payload"]["options"]["callId"] });
        self.answer(calling, "capabilities/call-result", done).await;
    }

    /// Drops the connection without a close frame. Returns the token and the number of received messages.
    pub async fn cut(self, gateway: &Gateway) -> (String, u64) {
        drop(self.peer);
        until("the loss", || {
            gateway.hub.readings().sessions.suspended == 1
        })
        .await;
        (self.token, self.received)
    }

    /// Resumes the session on a new connection. Also returns how many messages the gateway has received.
    pub async fn resume(gateway: &Gateway, (token, received): (String, u64)) -> (App, u64) {
        let mut peer = gateway.peer("/abp/app").await;
        peer.send(resuming(&token, received)).await;
        let resumed = peer.next().await;
        assert_eq!(
            (&resumed["type"], &resumed["id"]),
            (&json!("app/resumed"), &json!("x")),
            "{resumed}"
        );
        let heard = resumed["payload"]["received"].as_u64().unwrap();
        let app = App {
            peer,
            token,
            received,
        };
        (app, heard)
    }
}

/// The next message that is not an acknowledgement.
pub async fn next_of_session(peer: &mut Peer) -> Value {
    loop {
        let message = peer.next().await;
        if message["type"] != "app/ack" {
            return message;
        }
    }
}

pub fn resuming(token: &str, received: u64) -> Value {
    request(
        "app/resume",
        "x",
        json!({ "resume": token, "received": received }),
    )
}

/// `app/register` with additional members in its payload.
pub fn registering(more: Value) -> Value {
    let mut message = register("demo");
    let payload = message["payload"].as_object_mut().unwrap();
    payload.extend(more.as_object().unwrap().clone());
    message
}

pub fn grace(app_grace: Duration) -> Limits {
    Limits {
        app_grace,
        ..Limits::default()
    }
}

/// Waits for a change that nothing signals.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    soon(what, async {
        while !is_so() {
            sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
}
