//! Bearer tokens: who may connect as what.

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use clap::Args;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

/// Characters of a secret that strangers may guess at, at least.
pub(crate) const SECRET_CHARS: usize = 16;

/// What stands between an app's id and that of one of its instances, where one is wanted.
pub(crate) const INSTANCE: char = '#';

/// The id of the app that is wanted, without that of an instance.
pub(crate) fn app_of(wanted: &str) -> &str {
    wanted.split(INSTANCE).next().unwrap_or(wanted)
}

/// What a token's bearer may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Role {
    /// Offers capabilities.
    App,
    /// Calls them, and sees and cancels its own runs.
    Agent,
    /// May do everything, and sees and cancels all runs.
    Admin,
}

impl Role {
    /// Its name in `--token ROLE=SECRET`.
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

    /// What a peer is told that may not act in this role; `shown` is whether there was a token at all.
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

/// Who speaks, as far as the gateway knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub struct Identity {
    /// What it may do.
    pub role: Role,
    /// Its name in logs and lists: `agent-1` for the second token configured, never its secret;
    /// `anyone` where no token is.
    pub name: Arc<str>,
    /// The only app it may offer or reach.
    pub app: Option<Arc<str>>,
}

impl Identity {
    /// Any peer of a gateway without tokens.
    pub fn anyone() -> Self {
        Identity::new(Role::Admin, "anyone")
    }

    /// The gateway itself.
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

    /// Whether it sees and cancels the runs of all.
    pub fn is_admin(&self) -> bool {
        self.role == Role::Admin
    }

    /// Whether it may offer, or call, the app with that id.
    pub fn may_reach(&self, app: &str) -> bool {
        self.app.as_deref().is_none_or(|only| only == app_of(app))
    }

    /// What [`Identity::may_see`] is true of.
    pub(crate) fn sees(&self) -> Sees {
        match (self.role, &self.app) {
            (Role::Admin, None) => Sees::All,
            (Role::Admin, Some(_)) => Sees::OfApp,
            _ => Sees::Own,
        }
    }

    /// Whether it may see and cancel what belongs to `owner`, in the app `app` if that is known.
    pub fn may_see(&self, owner: &Identity, app: Option<&str>) -> bool {
        match self.role {
            Role::Admin => self.app.is_none() || app.is_some_and(|app| self.may_reach(app)),
            _ => self.name == owner.name,
        }
    }
}

/// Whose calls somebody may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sees {
    /// Those of its own name.
    Own,
    /// Those of one app, made by anybody.
    OfApp,
    /// All.
    All,
}

/// Why somebody may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// No token was shown that is known.
    Missing,
    /// The token shown is of a role that may not.
    Forbidden,
}

/// Whose secrets somebody has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// There are no tokens: anybody may be anything.
    Anyone,
    /// The tokens with these secrets: for each secret in turn, in the order they are configured.
    Bearers(Vec<Identity>),
}

impl Known {
    /// Who it is that may act as `wanted`: the first that may.
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
    /// Whose it is, if it is at that place.
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
        // What is given is not repeated: it may be a secret without its role.
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
    /// Those tokens.
    pub fn new(tokens: Vec<Token>) -> Self {
        Tokens { tokens }
    }

    /// Whether no token is configured.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Whether apps with that id are for those with a token of their own: one of role app is for that
    /// app alone.
    pub fn reserve(&self, app: &str) -> bool {
        let is_its = |token: &Token| token.role == Role::App && token.app.as_deref() == Some(app);
        self.tokens.iter().any(is_its)
    }

    /// Whether every secret is too long to be guessed: at least 16 characters. The error names the
    /// token, not its secret.
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

    /// The identity with that name, as in a message that shows no secret. An unknown name gives an
    /// agent that owns nothing.
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

    /// Who the bearer of `presented` is, if it may act as `wanted`. If several tokens have the same
    /// secret, the first that grants it counts.
    pub fn identify<'a>(
        &self,
        wanted: Role,
        presented: impl IntoIterator<Item = &'a str>,
    ) -> Result<Identity, Denied> {
        self.known(presented).acts_as(wanted)
    }

    /// Whose secrets these are. Takes as long for a wrong secret as for a right one of the same length.
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
