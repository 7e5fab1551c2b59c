//! Apps that register.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::apps::App;
use super::offers::{AppInfo, CapabilityInfo, Registration, read, read_capabilities};
use super::updates::DIFFERENCES;
use super::{Action, Broker, CloseCode, PeerId, Seat};
use crate::limits::{Limits, REGISTRATION_BYTES};
use crate::tokens::{Identity, Role};
use crate::wire::{Envelope, Failure, Header, Outgoing, error_json};
use caphost::call::{Code, Error};

/// Characters of an app's id.
const MAX_APP_ID_CHARS: usize = 128;

/// Tells an app that new sessions go to another connection.
const SUPERSEDED: &str = "app/superseded";

/// Whether it is an app of this worker.
fn is_here(app: &App) -> bool {
    app.registration.is_some() && app.seat != Seat::Elsewhere
}

fn is_of(app: &App, owner: &Identity) -> bool {
    let identity = app.identity.as_ref();
    identity.is_some_and(|it| it.name == owner.name)
}

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
        check_size(payload)?;
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

/// Whether an app says more of what it offers than is read.
pub(super) fn check_size(payload: &str) -> Result<(), Failure> {
    if payload.len() <= REGISTRATION_BYTES {
        return Ok(());
    }
    let message = format!("What an app offers may have at most {REGISTRATION_BYTES} bytes");
    let details = json!({ "limit": "registrationBytes", "max": REGISTRATION_BYTES });
    Err(Error::invalid_params(message).with_details(Box::new(details)))
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
            let (owner, registration) =
                self.check_registration(register, app.identity.as_ref(), app.seat)?;
            Ok((replaces, resume, owner, registration))
        });
        let seat = app.seat;
        let (replaces, resume, owner, registration) = match checked {
            Ok(checked) => checked,
            Err(error) => return self.refuse_app(peer, envelope.id, &error),
        };
        if seat != Seat::Elsewhere && self.is_full(peer, &owner, replaces.is_some()) {
            self.apps.remove(&peer);
            return;
        }
        let payload = json!({ "appId": registration.app.id, "updates": DIFFERENCES }).to_string();
        let id: Arc<str> = (&*registration.app.id).into();
        let superseded = self.superseded(&id, &owner);
        if let Some(app) = self.apps.get_mut(&peer) {
            app.id = Some(id.clone());
            app.identity = Some(owner.clone());
            app.registration = Some(Arc::new(registration));
            self.app_listed(peer, id.clone(), seat);
        }
        if let Some(token) = replaces {
            let (app, by) = (id.clone(), owner.clone());
            self.actions.push_back(Action::Replaced { token, app, by });
        }
        self.actions.extend(superseded);
        if resume && !self.limits.app_grace.is_zero() {
            let (id, app) = (envelope.id.map(str::to_string), id);
            let resumable = Action::Resumable {
                peer,
                id,
                app,
                owner,
            };
            return self.actions.push_back(resumable);
        }
        self.send(peer, "app/registered", envelope.id, &payload);
    }

    /// `owner` registers an app of that id: the connection that has had its new sessions up to now
    /// is to be told, unless it is of the same owner. Without tokens all are anyone's, and each
    /// connection counts for itself.
    fn superseded(&self, id: &Arc<str>, owner: &Identity) -> Option<Action> {
        let peer = self.latest(id)?;
        let app = self.apps.get(&peer)?;
        let was = app.identity.as_ref().map(|it| it.name.clone());
        let was = was.unwrap_or_else(|| Identity::anyone().name);
        // Of those elsewhere only their own worker knows whose they are.
        let is_known = app.seat == Seat::Connected && (self.tokens.is_empty() || was != owner.name);
        is_known.then(|| {
            let header = Header {
                kind: SUPERSEDED,
                id: None,
                agent: None,
                timestamp: &self.timestamp,
            };
            let payload = json!({ "appId": &**id }).to_string();
            Action::Superseded {
                peer,
                message: Outgoing::new(header, &payload, None),
                app: id.clone(),
                was,
                by: owner.name.clone(),
            }
        })
    }

    /// Whether there is no room for one more app of `owner`, which is then told so. Those on other
    /// workers are bounded there.
    fn is_full(&mut self, peer: PeerId, owner: &Identity, replaces: bool) -> bool {
        // The one whose place it takes is still there.
        let replaced = usize::from(replaces);
        while !self.draining
            && let Some(oldest) = self.gives_way(owner, replaced)
        {
            let reason = "Another app with this token takes its place";
            self.close(oldest, CloseCode::REPLACED, reason);
            self.app_gone(oldest);
        }
        let (all, own) = self.registered(owner, replaced);
        let Limits {
            apps,
            apps_per_token,
            ..
        } = self.limits;
        let has_token = !self.tokens.is_empty();
        self.turned_away(peer, all, apps, "apps")
            || has_token && self.turned_away(peer, own, apps_per_token, "apps with this token")
    }

    /// If there is no room for one more app of `owner`, the one of its own that has waited longest to
    /// come back: what reconnects without taking up its session has no use for it.
    fn gives_way(&self, owner: &Identity, replaced: usize) -> Option<PeerId> {
        let (all, own) = self.registered(owner, replaced);
        let has_token = !self.tokens.is_empty();
        let is_full = all >= self.limits.apps || has_token && own >= self.limits.apps_per_token;
        let apps = self
            .apps
            .iter()
            .filter(|(_, app)| is_here(app) && is_of(app, owner));
        let waiting = apps.filter_map(|(peer, app)| Some((app.suspended?, *peer)));
        let (_, oldest) = waiting.min().filter(|_| is_full)?;
        Some(oldest)
    }

    /// How many apps are registered here, and how many of them are of `owner`: those that may come
    /// back count, as they must find room, but for so many that end in any case.
    fn registered(&self, owner: &Identity, replaced: usize) -> (usize, usize) {
        let here = self.apps.values().filter(|app| is_here(app));
        let own = here.clone().filter(|app| is_of(app, owner)).count();
        let all = here.count();
        (all.saturating_sub(replaced), own.saturating_sub(replaced))
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
        seat: Seat,
    ) -> Result<(Identity, Registration), Failure> {
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
        // Whoever is on another worker was looked at there.
        let is_own = identity.app.is_some() || identity.is_admin();
        if seat == Seat::Connected && !is_own && self.tokens.reserve(&app.id) {
            let message = format!("The app {:?} is reserved for a token of its own", app.id);
            return Err(Error::new(Code::PERMISSION_DENIED, message));
        }
        let capabilities = register.capabilities?;
        Ok((identity, Registration { app, capabilities }))
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
