//! The key that seals the ids of sessions.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use uuid::Uuid;

/// How many characters a key has at least.
const CHARS: usize = 32;

/// A key that seals the ids of sessions: a text that nobody can guess.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionKey(Arc<str>);

impl SessionKey {
    /// A key that no other gateway has.
    pub(crate) fn random() -> Self {
        let [one, other] = [Uuid::new_v4(), Uuid::new_v4()].map(Uuid::simple);
        SessionKey(format!("{one}{other}").into())
    }

    /// The text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SessionKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.chars().count() >= CHARS {
            true => Ok(SessionKey(text.into())),
            // The error does not repeat the text, because the text is a secret.
            false => Err(format!("a key has at least {CHARS} characters")),
        }
    }
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_32_characters_and_is_not_shown() {
        let key: SessionKey = "ä".repeat(CHARS).parse().unwrap();
        assert_eq!(format!("{key:?}"), "SessionKey(…)");
        assert!("ä".repeat(CHARS - 1).parse::<SessionKey>().is_err());
        let random = SessionKey::random();
        assert_eq!(random.as_str().parse(), Ok(random.clone()));
        assert_ne!(random, SessionKey::random());
    }
}
