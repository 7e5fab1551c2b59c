//! Bearer tokens: which bearer may connect in which role.

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use clap::Args;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

/// How many characters a secret must have, if strangers can guess at it.
pub(crate) const SECRET_CHARS: usize = 16;

/// The separator between an app's id and the id of one of its instances.
pub(crate) const INSTANCE: char = '#';

/// The id of the wanted app, without the id of an instance.
pub(crate) fn app_of(wanted: &str) -> &str {
    wanted.split(INSTANCE).next().unwrap_or(wanted)
}

/// The role of a token's bearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Role {
    /// The bearer offers capabilities.
    App,
    /// The bearer calls capabilities, and sees and cancels its own runs.
    Agent,
    /// The bearer may do everything, and sees and cancels all runs.
    Admin,
}

impl Role {
    /// The role's name in `--token ROLE=SECRET`.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::App => "app",
            Role::Agent => "agent",
            Role::Admin => "admin",
        }
    }

    fn grants(self, wanted: Role) -> bool {
        self == wanted || self == Role::Admin
    }

    /// The message for a peer that may not act in this role. `shown` is whether the peer showed a token.
    pub(crate) fn needed(self, denied: Denied, shown: bool) -> String {
        let why = match (denied, shown) {
            (Denied::Forbidden, _) => "This token has another role",
            (Denied::Missing, true) => "The gateway does not know this token",
            (Denied::Missing, false) => "No token was given",
        };
        let role = self.as_str();
        format!("{why}: one of role {role} is needed, as in `caphost serve --token {role}=…`")
    }
}

/// The identity of a peer, as far as the gateway knows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub struct Identity {
    /// The role.
    pub role: Role,
    /// The name in logs and lists: `agent-1` for the second configured token, never the secret. `anyone` if
    /// no tokens are configured.
    pub name: Arc<str>,
    /// The only app that this identity may offer or reach. `None` means any app.
    pub app: Option<Arc<str>>,
}

impl Identity {
    /// The identity of any peer of a gateway without tokens.
    pub fn anyone() -> Self {
        Identity::new(Role::Admin, "anyone")
    }

    /// The identity of the gateway itself.
    pub fn gateway() -> Self {
        Identity::new(Role::Admin, "gateway")
    }

    fn new(role: Role, name: &str) -> Self {
        Identity {
            role,
            name: name.into(),
            app: None,
        }
    }

    /// Whether this identity sees and cancels all runs.
    pub fn is_admin(&self) -> bool {
        self.role == Role::Admin
    }

    /// Whether this identity may offer or call the app with that id.
    pub fn may_reach(&self, app: &str) -> bool {
        self.app.as_deref().is_none_or(|only| only == app_of(app))
    }

    /// Whose calls [`Identity::may_see`] allows.
    pub(crate) fn sees(&self) -> Sees {
        match (self.role, &self.app) {
            (Role::Admin, None) => Sees::All,
            (Role::Admin, Some(_)) => Sees::OfApp,
            _ => Sees::Own,
        }
    }

    /// Whether this identity may see and cancel the calls of `owner` in `app`. `app` is `None` if the app is
    /// not known.
    pub fn may_see(&self, owner: &Identity, app: Option<&str>) -> bool {
        match self.role {
            Role::Admin => self.app.is_none() || app.is_some_and(|app| self.may_reach(app)),
            _ => self.name == owner.name,
        }
    }
}

/// Whose calls an identity may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sees {
    /// Calls of its own name.
    Own,
    /// Calls in one app, by any identity.
    OfApp,
    /// All calls.
    All,
}

/// Why a peer may not do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// The peer has shown no known token.
    Missing,
    /// The role of the shown token does not allow it.
    Forbidden,
}

/// The identities whose secrets a peer has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// No tokens are configured, so any peer may act in any role.
    Anyone,
    /// The identities with the shown secrets: for each secret in turn, in the order of the configuration.
    Bearers(Vec<Identity>),
}

impl Known {
    /// The first identity that may act in the role `wanted`.
    pub(crate) fn acts_as(&self, wanted: Role) -> Result<Identity, Denied> {
        match self {
            Known::Anyone => Ok(Identity::anyone()),
            Known::Bearers(known) => match known.iter().find(|it| it.role.grants(wanted)) {
                Some(identity) => Ok(identity.clone()),
                None if known.is_empty() => Err(Denied::Missing),
                None => Err(Denied::Forbidden),
            },
        }
    }
}

/// One `ROLE[@APP]=SECRET`.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    role: Role,
    app: Option<Arc<str>>,
    secret: String,
}

impl Token {
    /// The identity of this token, if it is at that position.
    fn identity(&self, index: usize) -> Identity {
        let name = format!("{}-{index}", self.role.as_str());
        Identity {
            app: self.app.clone(),
            ..Identity::new(self.role, &name)
        }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let role = self.role.as_str();
        match &self.app {
            Some(app) => write!(f, "{role}@{app}=…"),
            None => write!(f, "{role}=…"),
        }
    }
}

impl FromStr for Token {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // The error does not repeat the text, because the text may be a secret without a role.
        let expected = "expected ROLE[@APP]=SECRET with the role app, agent or admin";
        let (who, secret) = text.split_once('=').ok_or(expected)?;
        let (given, app) = match who.split_once('@') {
            Some((_, "")) => return Err("the app id after `@` is empty".into()),
            Some((role, app)) => (role, Some(app.into())),
            None => (who, None),
        };
        let known = [Role::App, Role::Agent, Role::Admin];
        let role = known.into_iter().find(|it| it.as_str() == given);
        let role = role.ok_or(expected)?;
        if secret.is_empty() {
            return Err("the secret is empty".into());
        }
        Ok(Token {
            role,
            app,
            secret: secret.into(),
        })
    }
}

/// The tokens configured. None: anybody who reaches the gateway may be anything.
#[derive(Args, Clone, Debug, Default)]
pub struct Tokens {
    /// A bearer token with its role (app, agent or admin), and the id of an app if it is for that app only. Repeatable; in the environment separated by commas.
    #[arg(
        long = "token",
        env = "CAPHOST_TOKENS",
        hide_env_values = true,
        value_delimiter = ',',
        value_name = "ROLE[@APP]=SECRET"
    )]
    tokens: Vec<Token>,
}

impl Tokens {
    /// The given tokens.
    pub fn new(tokens: Vec<Token>) -> Self {
        Tokens { tokens }
    }

    /// Whether no token is configured.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Whether the app with that id is reserved: there is a token of role `app` for that app alone.
    pub fn reserve(&self, app: &str) -> bool {
        let is_its = |token: &Token| token.role == Role::App && token.app.as_deref() == Some(app);
        self.tokens.iter().any(is_its)
    }

    /// Checks that every secret is too long to guess: at least 16 characters. The error names the token
    /// without its secret.
    pub(crate) fn check_secrets(&self) -> Result<(), String> {
        let guessable = self
            .tokens
            .iter()
            .find(|it| it.secret.chars().count() < SECRET_CHARS);
        match guessable {
            None => Ok(()),
            Some(token) => Err(format!(
                "the secret of --token {token:?} is too short: beyond a loopback address it must \
                 have at least {SECRET_CHARS} characters"
            )),
        }
    }

    /// The identity with that name, for messages that contain no secret. An unknown name becomes an agent
    /// that owns nothing.
    pub fn named(&self, name: &str) -> Identity {
        let anyone = Identity::anyone();
        if self.is_empty() && name == &*anyone.name {
            return anyone;
        }
        let all = self.tokens.iter().enumerate();
        let mut all = all.map(|(index, token)| token.identity(index));
        all.find(|identity| &*identity.name == name)
            .unwrap_or_else(|| Identity::new(Role::Agent, name))
    }

    /// The secret of the token with that identity.
    pub(crate) fn secret_of(&self, identity: &Identity) -> Option<&str> {
        let mut all = self.tokens.iter().enumerate();
        let its = all.find(|(index, token)| token.identity(*index) == *identity);
        its.map(|(_, token)| token.secret.as_str())
    }

    /// The identity of the bearer of `presented`, if it may act in the role `wanted`. If several tokens have
    /// the same secret, the first token that allows the role counts.
    pub fn identify<'a>(
        &self,
        wanted: Role,
        presented: impl IntoIterator<Item = &'a str>,
    ) -> Result<Identity, Denied> {
        self.known(presented).acts_as(wanted)
    }

    /// The identities with these secrets. The comparison takes as long for a wrong secret as for a right one
    /// of the same length.
    pub(crate) fn known<'a>(&self, presented: impl IntoIterator<Item = &'a str>) -> Known {
        if self.is_empty() {
            return Known::Anyone;
        }
        let mut known = Vec::new();
        for secret in presented {
            for (index, token) in self.tokens.iter().enumerate() {
                if bool::from(token.secret.as_bytes().ct_eq(secret.as_bytes())) {
                    known.push(token.identity(index));
                }
            }
        }
        Known::Bearers(known)
    }
}
