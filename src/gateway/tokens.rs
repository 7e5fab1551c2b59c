//! Bearer tokens: who may connect as what.

use std::fmt;
use std::str::FromStr;

use subtle::ConstantTimeEq;

/// What a token's bearer may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Offers capabilities.
    App,
    /// Calls them.
    Agent,
}

/// One `ROLE=SECRET`.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    role: Role,
    secret: String,
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}=…", self.role)
    }
}

impl FromStr for Token {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (role, secret) = text.split_once('=').ok_or("expected ROLE=SECRET")?;
        let role = match role {
            "app" => Role::App,
            "agent" => Role::Agent,
            other => return Err(format!("unknown role `{other}`: expected app or agent")),
        };
        if secret.is_empty() {
            return Err("the secret is empty".into());
        }
        Ok(Token {
            role,
            secret: secret.into(),
        })
    }
}

/// The tokens configured. None: whoever reaches the gateway may be anything.
#[derive(Clone, Debug, Default)]
pub struct Tokens(Vec<Token>);

impl Tokens {
    /// Those tokens.
    pub fn new(tokens: Vec<Token>) -> Self {
        Tokens(tokens)
    }

    /// Whether no token is configured.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the bearer of `presented` may act as `role`. Takes as long for a wrong secret as for
    /// a right one of the same length.
    pub fn allow<'a>(&self, role: Role, presented: impl IntoIterator<Item = &'a str>) -> bool {
        if self.is_empty() {
            return true;
        }
        let mut allowed = false;
        for secret in presented {
            for token in self.0.iter().filter(|token| token.role == role) {
                allowed |= bool::from(token.secret.as_bytes().ct_eq(secret.as_bytes()));
            }
        }
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_counts_for_its_own_role_only() {
        let tokens = Tokens::new(vec![
            "app=one".parse().unwrap(),
            "agent=two".parse().unwrap(),
        ]);
        assert!(tokens.allow(Role::App, ["one"]));
        assert!(tokens.allow(Role::Agent, ["one", "two"]));
        assert!(!tokens.allow(Role::Agent, ["one"]));
        assert!(!tokens.allow(Role::App, []));
        assert!(!tokens.allow(Role::App, ["on", "onee", ""]));
    }

    #[test]
    fn without_tokens_everybody_is_allowed() {
        assert!(Tokens::default().allow(Role::App, []));
    }

    #[test]
    fn a_token_is_a_role_and_a_secret() {
        assert!("agent=a=b".parse::<Token>().is_ok());
        for bad in ["agent", "agent=", "king=x", "=x", ""] {
            assert!(bad.parse::<Token>().is_err(), "{bad}");
        }
        assert!(!format!("{:?}", "app=hidden".parse::<Token>()).contains("hidden"));
    }
}
