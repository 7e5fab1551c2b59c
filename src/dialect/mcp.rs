//! What the versions of MCP have. Page and gateway answer by this one table; the page's copy,
//! `src/web/js/json-rpc/versions.js`, is written from it by a test.

/// A version of MCP, and what a client of it can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// The date it is called by.
    pub name: &'static str,
    /// A client begins with `initialize`. Without sessions every request names its version.
    pub sessions: bool,
    /// A client may send several messages as one array.
    pub batches: bool,
    /// Progress has a `message`, tools have `annotations`, and content may be `audio`.
    pub audio: bool,
    /// Tools have `title` and `outputSchema`, results have `structuredContent`.
    pub structure: bool,
}

/// Messages in one array.
pub const MAX_BATCH: usize = 32;

/// All that are spoken, the oldest first.
pub static VERSIONS: [Version; 5] = [
    Version {
        name: "2024-11-05",
        sessions: true,
        batches: false,
        audio: false,
        structure: false,
    },
    Version {
        name: "2025-03-26",
        sessions: true,
        batches: true,
        audio: true,
        structure: false,
    },
    Version {
        name: "2025-06-18",
        sessions: true,
        batches: false,
        audio: true,
        structure: true,
    },
    WITH_SESSIONS,
    STATELESS,
];

/// The newest that begins with `initialize`. A client that asks for a version which is not spoken is
/// offered this one.
pub const WITH_SESSIONS: Version = Version {
    name: "2025-11-25",
    sessions: true,
    batches: false,
    audio: true,
    structure: true,
};

/// The first without sessions.
pub const STATELESS: Version = Version {
    name: "2026-07-28",
    sessions: false,
    batches: false,
    audio: true,
    structure: true,
};

impl Version {
    /// The version of that name, if it is spoken.
    pub fn named(name: &str) -> Option<&'static Version> {
        VERSIONS.iter().find(|version| version.name == name)
    }

    /// The version to speak with a client that asks for `name` with `initialize`: that one, if it is
    /// spoken and has sessions.
    pub fn for_session(name: &str) -> &'static Version {
        static NEWEST: Version = WITH_SESSIONS;
        Version::named(name)
            .filter(|version| version.sessions)
            .unwrap_or(&NEWEST)
    }

    /// The names of all that are spoken, the oldest first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        VERSIONS.iter().map(|version| version.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_answered_with_its_own_version_where_that_is_spoken() {
        for name in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
            assert_eq!(Version::for_session(name).name, name);
        }
        for other in ["2026-07-28", "2023-01-01", "2099-01-01", ""] {
            assert_eq!(Version::for_session(other).name, "2025-11-25", "{other}");
        }
    }

    #[test]
    fn versions_are_in_the_order_of_their_dates() {
        assert!(Version::names().is_sorted());
        assert_eq!(Version::names().last(), Some(STATELESS.name));
    }
}
