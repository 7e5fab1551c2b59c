use std::sync::LazyLock;

use caphost::dialect::mcp::WITH_SESSIONS;

use super::*;

static KEY: LazyLock<SessionKey> = LazyLock::new(SessionKey::random);

fn said() -> Said {
    let client = ClientInfo {
        name: "é".repeat(1 << 20),
        version: "1".into(),
    };
    Said::new(client, &WITH_SESSIONS, false)
}

#[test]
fn only_the_right_key_and_caller_open_an_id() {
    let id = seal(&KEY, Uuid::new_v4(), b"caller", &said());
    assert_eq!(open::<Said>(&KEY, &id, b"caller"), Some(said()));
    assert_eq!(open::<Said>(&SessionKey::random(), &id, b"caller"), None);
    assert_eq!(open::<Said>(&KEY, &id, b"another"), None);
    assert!(id.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f')));
}

#[test]
fn an_id_that_was_tampered_with_is_not_opened() {
    let id = seal(&KEY, Uuid::new_v4(), b"caller", &said());
    for at in 0..id.len() {
        let mut changed = id.clone().into_bytes();
        changed[at] = if changed[at] == b'a' { b'b' } else { b'a' };
        let changed = String::from_utf8(changed).unwrap();
        assert_eq!(open::<Said>(&KEY, &changed, b"caller"), None, "{at}");
        assert_eq!(open::<Said>(&KEY, &id[..at], b"caller"), None, "{at}");
    }
    for other in [format!("{id}a"), format!("{id}aa"), format!(" {id}")] {
        assert_eq!(open::<Said>(&KEY, &other, b"caller"), None, "{other}");
    }
}

#[test]
fn no_two_ids_are_the_same() {
    let seal = || seal(&KEY, Uuid::new_v4(), b"caller", &said());
    let (one, other) = (seal(), seal());
    assert_ne!(number_of(&one), number_of(&other));
    // What they say is the same, and nobody sees that.
    assert_ne!(one[32..64], other[32..64]);
}

#[test]
fn a_session_ends_after_a_day() {
    let (day, until) = (24 * 60 * 60, said().until);
    assert!(is_over(until - day) && !is_over(until - day + 60));
}

#[test]
fn a_long_name_is_clipped() {
    assert_eq!(said().client.name, "é".repeat(NAME_CHARS));
    let id = seal(&KEY, Uuid::new_v4(), b"caller", &said());
    assert!(id.len() < 2_000);
}
