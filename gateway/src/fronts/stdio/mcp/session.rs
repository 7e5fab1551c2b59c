//! The gateway's session, which the client does not see.

use std::sync::{Mutex, MutexGuard};

use futures_util::StreamExt;
use serde_json::Value;

use super::link::{Link, SESSION, messages};
use super::lock;
use super::message::answers;
use crate::fronts::jsonrpc::message::Id;

/// The session requests belong to.
#[derive(Clone, Debug, Default)]
pub struct Membership {
    /// Its id.
    pub session: Option<String>,
    /// The version agreed on.
    pub version: Option<String>,
}

/// The session, once the client has begun one.
#[derive(Default)]
pub struct Session {
    state: Mutex<State>,
    /// Held while a lost session is begun again.
    renewing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    membership: Membership,
    /// `initialize` as the client sent it, to say it again.
    hello: Option<(String, Id)>,
}

impl Session {
    /// What requests carry.
    pub fn membership(&self) -> Membership {
        self.state().membership.clone()
    }

    /// `initialize` is answered with success: what it was, and the session in the headers.
    pub fn begun(&self, hello: String, id: Id, response: &reqwest::Response) {
        let mut state = self.state();
        state.membership = Membership {
            session: named(response),
            version: None,
        };
        state.hello = Some((hello, id));
    }

    /// The answer to `initialize`: which version it is.
    pub fn answered(&self, answer: &str) {
        let answer: Value = serde_json::from_str(answer).unwrap_or_default();
        let version = answer["result"]["protocolVersion"].as_str();
        self.state().membership.version = version.map(str::to_string);
    }

    /// The gateway does not know `lost` any more, such as after a restart: begins another in the
    /// client's words, unless that was done in the meantime. Whether there is one now.
    pub async fn renew(&self, lost: &Membership, link: &Link) -> bool {
        let _alone = self.renewing.lock().await;
        if self.membership().session != lost.session {
            return true;
        }
        let Some((hello, id)) = self.state().hello.clone() else {
            return false;
        };
        let Ok(response) = link.post(hello, &Membership::default()).await else {
            return false;
        };
        let session = named(&response);
        if !response.status().is_success() || session.is_none() {
            return false;
        }
        let mut incoming = messages(response);
        while let Some(message) = incoming.next().await {
            if answers(&message, &id) {
                self.state().membership.session = session;
                self.answered(&message);
                let told = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
                let told = link.post(told.into(), &self.membership()).await;
                tracing::info!(told = told.is_ok(), "the gateway's session was begun again");
                return true;
            }
        }
        false
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

fn named(response: &reqwest::Response) -> Option<String> {
    let id = response.headers().get(SESSION)?;
    Some(id.to_str().ok()?.to_string())
}
