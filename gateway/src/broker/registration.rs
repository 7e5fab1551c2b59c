//! Registration of apps, and changes of their offers.

use std::iter;
use std::sync::Arc;

use serde_json::json;

use super::amount::Amount;
use super::apps::App;
use super::apps::instance::Instance;
use super::apps::offer::{MAX_NAME_CHARS, Offer};
use super::apps::offering::{DIFFERENCES, Register, Update};
use super::{Action, Broker, CloseCode, PeerId, Seat};
use crate::tokens::{INSTANCE, Identity, Role};
use crate::wire::{Envelope, Failure, Header, Outgoing, error_json, invalid_at};
use caphost::call::{Code, Error};

/// Tells an app that new sessions go to another connection.
const SUPERSEDED: &str = "app/superseded";

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
            let replaces = (register.replaces.take(), register.replaced);
            let resume = register.resume;
            let (told, title) = (register.instance.take(), register.title.take());
            let (owner, registration) =
                self.check_registration(register, app.identity.as_ref(), app.seat)?;
            let is = (&*registration.app.id, &owner, app.seat);
            let instance = self.apps.new_instance(is, told, title, self.now);
            Ok((replaces, resume, owner, registration, instance))
        });
        let seat = app.seat;
        let ((replaces, replaced), resume, owner, registration, instance) = match checked {
            Ok(checked) => checked,
            Err(error) => return self.refuse_app(peer, envelope.id, &error),
        };
        let amount = Amount::one(registration.bytes());
        // The replaced session still counts, and ends only afterwards. A session of another owner makes no
        // room.
        let replaced = replaced.and_then(|it| {
            let app = self.apps.get(&it)?;
            (*app.counted()? == owner.name).then_some((it, Amount::one(app.bytes)))
        });
        let mut more = amount;
        if let Some((_, leaves)) = replaced {
            more.take(leaves);
        }
        let stays = replaced.map(|(it, _)| it);
        if seat != Seat::Elsewhere && !self.make_place(peer, &owner, more, stays) {
            self.apps.all.remove(&peer);
            return;
        }
        let payload = json!({ "appId": registration.app.id, "updates": DIFFERENCES }).to_string();
        let id: Arc<str> = (&*registration.app.id).into();
        let superseded = self.superseded(&id, &instance);
        if let Some(app) = self.apps.all.get_mut(&peer) {
            app.id = Some(id.clone());
            app.identity = Some(owner.clone());
            app.registration = Some(Arc::new(registration));
            app.bytes = amount.bytes;
            app.instance = Some(instance);
            if let Some(owner) = app.counted() {
                self.apps.registered.add(owner, amount);
            }
            self.apps.listed(peer, id.clone(), seat);
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

    pub(super) fn update(
        &mut self,
        peer: PeerId,
        envelope: &Envelope<'_>,
        update: Result<Update, Failure>,
    ) {
        let max = self.limits.message_bytes;
        let Some(app) = self.apps.get(&peer) else {
            return;
        };
        let (Some(id), Some(offer)) = (app.id.clone(), &app.registration) else {
            return;
        };
        let made = update.and_then(|update| update.made_of(offer, max));
        let made = made.and_then(|(now, bytes)| {
            // A tool server belongs to the operator: it counts, and is never refused for its offer.
            let owner = app.counted().filter(|_| app.seat == Seat::Connected);
            let more = Amount {
                count: 0,
                bytes: bytes.saturating_sub(app.bytes),
            };
            match owner.and_then(|owner| self.too_much(owner, more, Amount::default())) {
                Some(error) if more.bytes > 0 => Err(error),
                _ => Ok((now, bytes)),
            }
        });
        let (now, bytes) = match made {
            Ok(made) => made,
            Err(error) => return self.refuse(peer, &envelope.subject(), &error),
        };
        if let Some(app) = self.apps.all.get_mut(&peer) {
            if let Some(owner) = app.counted() {
                self.apps.registered.change(owner, app.bytes, bytes);
            }
            app.registration = Some(now);
            app.bytes = bytes;
            app.manifest = Arc::default();
            let seat = app.seat;
            self.apps.offers(peer, id, seat);
        }
    }

    /// An instance of that app registers. The connection that has had its new sessions up to now is to be
    /// told, unless it is on another worker, which tells it.
    fn superseded(&self, id: &Arc<str>, by: &Instance) -> Option<Action> {
        let peer = self.apps.latest(id)?;
        let app = self.apps.get(&peer)?;
        let was = app.instance.as_ref()?;
        let is_told = app.seat == Seat::Connected && was.since <= by.since;
        is_told.then(|| {
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
                was: was.owner.clone(),
                by: by.owner.clone(),
            }
        })
    }

    /// Makes a place for one more app of `owner`, or tells that app that there is no place. Returns whether
    /// there is a place. The workers of other apps bound these themselves. An app that `stays` makes no room.
    fn make_place(
        &mut self,
        peer: PeerId,
        owner: &Identity,
        more: Amount,
        stays: Option<PeerId>,
    ) -> bool {
        if self.turned_away(peer) {
            return false;
        }
        // No app leaves if that would not make enough room.
        let (mut leaving, mut freed) = (Vec::new(), Amount::default());
        let mut waiting = None;
        while let Some(error) = self.no_place(&owner.name, more, freed) {
            let waiting = waiting.get_or_insert_with(|| self.waiting(owner).into_iter());
            let mut others = waiting.filter(|(_, it, _)| Some(*it) != stays);
            let Some((_, oldest, amount)) = others.next() else {
                self.turn_away(peer, &error);
                return false;
            };
            leaving.push(oldest);
            freed.add(amount);
        }
        for oldest in leaving {
            let reason = "Another app with this token takes its place";
            self.close(oldest, CloseCode::REPLACED, reason);
            self.app_gone(oldest);
        }
        true
    }

    /// The disconnected apps of `owner` that may come back, with their sizes, the longest disconnected first.
    /// An app that reconnects without its session does not use its old place.
    fn waiting(&self, owner: &Identity) -> Vec<(u64, PeerId, Amount)> {
        let own = |app: &App| app.counted().is_some_and(|name| *name == owner.name);
        let apps = self.apps.all.iter().filter(|(_, app)| own(app));
        let waiting =
            apps.filter_map(|(peer, app)| Some((app.suspended?, *peer, Amount::one(app.bytes))));
        let mut waiting: Vec<_> = waiting.collect();
        waiting.sort_unstable_by_key(|(since, ..)| *since);
        waiting
    }

    /// What is used without `freed`, and the bound, for all apps and for those of `owner` if it has a token.
    /// Disconnected apps that may come back count, because their places are kept.
    fn shares(
        &self,
        owner: &str,
        freed: Amount,
    ) -> impl Iterator<Item = (Amount, Amount, &'static str)> {
        let all = Amount {
            count: self.limits.apps,
            bytes: self.limits.registered_bytes,
        };
        let of_one = Amount {
            count: self.limits.apps_per_token,
            bytes: self.limits.registered_bytes_per_token,
        };
        let left = move |mut now: Amount| {
            now.take(freed);
            now
        };
        let own = (
            left(self.apps.registered.of(owner)),
            of_one,
            " with this token",
        );
        let own = (!self.tokens.is_empty()).then_some(own);
        iter::once((left(self.apps.registered.all()), all, "")).chain(own)
    }

    /// Why there is no place for one more app of `owner`, even if the apps with `freed` leave.
    fn no_place(&self, owner: &str, more: Amount, freed: Amount) -> Option<Failure> {
        let too_many = self.too_many(owner, more, freed);
        too_many.or_else(|| self.too_much(owner, more, freed))
    }

    fn too_many(&self, owner: &str, more: Amount, freed: Amount) -> Option<Failure> {
        let mut shares = self.shares(owner, freed);
        let (_, most, whose) = shares.find(|(now, most, _)| now.count + more.count > most.count)?;
        let message = format!(
            "{} apps{whose} are connected, and no more are accepted",
            most.count
        );
        Some(Error::new(Code::RATE_LIMITED, message))
    }

    fn too_much(&self, owner: &str, more: Amount, freed: Amount) -> Option<Failure> {
        let mut shares = self.shares(owner, freed);
        let (_, most, whose) = shares.find(|(now, most, _)| now.bytes + more.bytes > most.bytes)?;
        let message = format!(
            "What all apps{whose} offer may take {} bytes, and no more is accepted",
            most.bytes
        );
        let details = json!({ "limit": "registeredBytes", "max": most.bytes });
        Some(Error::new(Code::RATE_LIMITED, message).with_details(Box::new(details)))
    }

    fn check_registration(
        &self,
        register: Register,
        identity: Option<&Identity>,
        seat: Seat,
    ) -> Result<(Identity, Offer), Failure> {
        let shown = match identity {
            Some(identity) => Ok(identity.clone()),
            None => self.tokens.identify(Role::App, register.token.as_deref()),
        };
        let identity = shown.map_err(|denied| {
            let message = Role::App.needed(denied, register.token.is_some());
            Error::new(Code::PERMISSION_DENIED, message)
        })?;
        let app = register.app?;
        let length = app.id.chars().count();
        let is_odd = |it: char| it.is_control() || it == INSTANCE;
        if !(1..=MAX_NAME_CHARS).contains(&length) || app.id.chars().any(is_odd) {
            let message = format!(
                "`app.id` must have 1 to {MAX_NAME_CHARS} printable characters, and no `{INSTANCE}`"
            );
            return Err(invalid_at("app.id", message));
        }
        if !identity.may_reach(&app.id) {
            let message = format!("The token is not for the app {:?}", app.id);
            return Err(Error::new(Code::PERMISSION_DENIED, message));
        }
        // The worker of an app elsewhere has checked this.
        let is_own = identity.app.is_some() || identity.is_admin();
        if seat == Seat::Connected && !is_own && self.tokens.reserve(&app.id) {
            let message = format!("The app {:?} is reserved for a token of its own", app.id);
            return Err(Error::new(Code::PERMISSION_DENIED, message));
        }
        let capabilities = register.capabilities?;
        Ok((identity, Offer::new(app, capabilities)))
    }

    pub(super) fn register_timeout(&mut self, peer: PeerId) {
        if self.apps.all.contains_key(&peer) && self.apps.registered_by(peer).is_none() {
            let seconds = self.limits.register_timeout.as_secs_f64();
            let message = format!("No `app/register` within {seconds} s");
            self.refuse_app(peer, None, &Error::new(Code::TIMEOUT, message));
        }
    }

    /// Tells an app that it may not register, and closes its connection.
    pub(super) fn refuse_app(&mut self, peer: PeerId, id: Option<&str>, error: &Failure) {
        self.counters.refused += 1;
        let payload = json!({ "error": error_json(error) }).to_string();
        self.send(peer, "app/refused", id, &payload);
        self.close(peer, CloseCode::POLICY, error.message.clone());
        self.apps.all.remove(&peer);
    }
}
