use super::*;

const TIME: Duration = Duration::from_secs(60);

/// What Redis is told: a name, a fact, and whether the fact holds no longer.
fn told(held: &Held) -> Vec<(String, Vec<u8>, bool)> {
    let all = held.take_untold(99).into_iter();
    all.map(|(name, it)| (name, it.fact, it.is_over)).collect()
}

fn is(name: &str, fact: &[u8], is_over: bool) -> (String, Vec<u8>, bool) {
    (name.into(), fact.into(), is_over)
}

#[test]
fn what_redis_may_not_know_is_told_once() {
    let held = Held::default();
    held.keep("a", b"1", TIME);
    held.keep("b", b"1", TIME);
    assert_eq!(told(&held), []);
    held.tell_later("b");
    assert_eq!(told(&held), [is("b", b"1", false)]);
    held.tell_all_again();
    assert_eq!(held.take_untold(1).len(), 1);
    held.keep("b", b"2", TIME);
    assert_eq!(told(&held), [is("b", b"2", false)]);
    held.keep("d", b"1", Duration::ZERO);
    held.tell_later("c");
    held.tell_later("d");
    assert_eq!(told(&held), [], "none of them is held");
}

#[test]
fn what_is_released_while_redis_is_away_is_told_later() {
    let held = Held::default();
    held.keep("a", b"1", TIME);
    held.keep("b", b"1", TIME);
    held.release("a", b"1");
    held.release("b", b"another's");
    held.tell_all_again();
    assert_eq!(told(&held), [is("a", b"1", true), is("b", b"1", false)]);
    // The fact holds again before Redis has heard that it does not.
    held.keep("a", b"2", TIME);
    held.forget("a", b"1");
    held.tell_later("a");
    assert_eq!(told(&held), [is("a", b"2", false)]);
    held.release("a", b"2");
    held.forget("a", b"2");
    held.tell_later("a");
    assert_eq!(told(&held), []);
}
