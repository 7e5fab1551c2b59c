//! Apps that register.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::manifest::{AppInfo, CapabilityInfo, Registration, read, read_capabilities};
use super::updates::DIFFERENCES;
use super::{Action, Broker, CloseCode, PeerId};
use crate::tokens::{Identity, Role};
use crate::wire::{Envelope, Failure, error_json};
use caphost::call::{Code, Error};

/// Characters of an app's id.
const MAX_APP_ID_CHARS: usize = 128;

/// What an app says of itself. Its parts are judged in order, so each may be wrong.
#[derive(Debug)]
pub(super) struct Register {
    app: Result<AppInfo, Failure>,
    capabilities: Result<Vec<CapabilityInfo>, Failure>,
    token: Option<String>,
    resume: bool,
    replaces: Option<String>,
}

impl Register {
    /// Reads the payload of `app/register`.
    pub(super) fn read(payload: &str) -> Result<Self, Failure> {
        #[derive(Deserialize)]
        struct Parts<'a> {
            #[serde(borrow)]
            app: &'a RawValue,
            #[serde(borrow)]
            capabilities: Option<&'a RawValue>,
            token: Option<String>,
            #[serde(default)]
            resume: bool,
            replaces: Option<String>,
        }
        let parts: Parts = read(payload, "")?;
        let capabilities = parts.capabilities;
        Ok(Register {
            app: read(parts.app.get(), "app"),
            capabilities: capabilities.map_or(Ok(Vec::new()), |list| {
                read_capabilities(list, "capabilities")
            }),
            token: parts.token,
            resume: parts.resume,
            replaces: parts.replaces,
        })
    }
}

impl Broker {
    pub(super) fn register(
        &mut self,
        peer: PeerId,
        envelope: &Envelope<'_>,
        register: Result<Register, Failure>,
    ) {
        let Some(app) = self.apps.get(&peer) else {
            return;
        };
        if app.registration.is_some() {
            let error = Error::new(
                Code::ALREADY_INITIALIZED,
                "This connection has registered its app",
            );
            return self.refuse(peer, &envelope.subject(), &error);
        }
        let checked = register.and_then(|mut register| {
            let (replaces, resume) = (register.replaces.take(), register.resume);
            let registration = self.check_registration(register, app.identity.as_ref())?;
            Ok((replaces, resume, registration))
        });
        let (replaces, resume, registration) = match checked {
            Ok(checked) => checked,
            Err(error) => return self.refuse_app(peer, envelope.id, &error),
        };
        let payload = json!({ "appId": registration.app.id, "updates": DIFFERENCES }).to_string();
        let id: Arc<str> = (&*registration.app.id).into();
        if let Some(app) = self.apps.get_mut(&peer) {
            app.id = Some(id.clone());
            app.registration = Some(Arc::new(registration));
            let seat = app.seat;
            self.app_listed(peer, id.clone(), seat);
        }
        if let Some(token) = replaces {
            self.actions.push_back(Action::Replaced { token });
        }
        if resume && !self.limits.app_grace.is_zero() {
            let (id, app) = (envelope.id.map(str::to_string), id);
            return self.actions.push_back(Action::Resumable { peer, id, app });
        }
        self.send(peer, "app/registered", envelope.id, &payload);
    }

    /// Whether that peer is an app that has registered.
    pub fn has_registered(&self, peer: PeerId) -> bool {
        let app = self.apps.get(&peer);
        app.is_some_and(|app| app.registration.is_some())
    }

    fn check_registration(
        &self,
        register: Register,
        identity: Option<&Identity>,
    ) -> Result<Registration, Failure> {
        let shown = match identity {
            Some(identity) => Ok(identity.clone()),
            None => self.tokens.identify(Role::App, register.token.as_deref()),
        };
        let Ok(identity) = shown else {
            let message = "A valid token of role app is needed";
            return Err(Error::new(Code::PERMISSION_DENIED, message));
        };
        let app = register.app?;
        let length = app.id.chars().count();
        if !(1..=MAX_APP_ID_CHARS).contains(&length) || app.id.chars().any(char::is_control) {
            let message =
                format!("`app.id` must have 1 to {MAX_APP_ID_CHARS} printable characters");
            return Err(
                Error::invalid_params(message).with_details(Box::new(json!({ "path": "app.id" })))
            );
        }
        if !identity.may_reach(&app.id) {
            let message = format!("The token is not for the app {:?}", app.id);
            return Err(Error::new(Code::PERMISSION_DENIED, message));
        }
        Ok(Registration {
            app,
            capabilities: register.capabilities?,
        })
    }

    pub(super) fn register_timeout(&mut self, peer: PeerId) {
        if self.apps.contains_key(&peer) && !self.has_registered(peer) {
            let seconds = self.limits.register_timeout.as_secs_f64();
            let message = format!("No `app/register` within {seconds} s");
            self.refuse_app(peer, None, &Error::new(Code::TIMEOUT, message));
        }
    }

    /// Tells an app that it may not register, and closes.
    pub(super) fn refuse_app(&mut self, peer: PeerId, id: Option<&str>, error: &Failure) {
        self.counters.refused += 1;
        let payload = json!({ "error": error_json(error) }).to_string();
        self.send(peer, "app/refused", id, &payload);
        self.close(peer, CloseCode::POLICY, error.message.clone());
        self.apps.remove(&peer);
    }
}
