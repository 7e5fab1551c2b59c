use super::*;

const S: Duration = Duration::from_secs(1);

fn silence() -> Silence {
    Silence::new(16 * S, 40 * S)
}

#[test]
fn a_silent_peer_is_asked_and_is_gone_after_the_timeout() {
    let (mut silence, life) = (silence(), Instant::now());
    let mut at = life + silence.unasked;
    assert_eq!(at, life + 28 * S);
    assert_eq!(silence.look(life, at, at), Look::Ask(at + 3 * S));
    for _ in 0..3 {
        at += 3 * S;
        assert_eq!(silence.look(life, at, at), Look::Again(at + 3 * S));
    }
    at += 3 * S;
    assert_eq!(
        (silence.look(life, at, at), at),
        (Look::Gone, life + 40 * S)
    );
}

#[test]
fn a_silent_peer_is_gone_although_the_pings_are_hardly_more_frequent_than_the_timeout() {
    let ms = Duration::from_millis;
    for (dead, margin) in [(40_000, 3), (1_000, 5), (1_000, 1), (200, 1), (50, 1)] {
        let (dead, life) = (ms(dead), Instant::now());
        let mut silence = Silence::new(dead - ms(margin), dead);
        let (mut due, mut first) = (life + silence.unasked, None);
        // A timer of a busy machine is a few milliseconds late.
        let late = ms(3);
        let gone = loop {
            let now = due + late;
            assert!(now - life <= 2 * dead, "{dead:?} {margin} ms: never gone");
            match silence.look(life, due, now) {
                Look::Gone => break now,
                Look::Again(at) => due = at,
                Look::Ask(at) => (due, first) = (at, first.or(Some(now))),
            }
        };
        let answering = gone - first.expect("a question");
        assert!(answering >= dead / 8, "{dead:?} {margin} ms: {answering:?}");
    }
}

#[test]
fn one_that_answers_is_not() {
    let (mut silence, life) = (silence(), Instant::now());
    let at = life + 28 * S;
    silence.look(life, at, at);
    let answered = at + S;
    let next = Look::Again(answered + 28 * S);
    assert_eq!(silence.look(answered, at + 3 * S, at + 3 * S), next);
}

#[test]
fn after_a_standstill_it_is_asked_anew_whenever_that_began() {
    for steps in 0..4 {
        let (mut silence, life) = (silence(), Instant::now());
        let mut due = life + silence.unasked;
        for _ in 0..steps {
            silence.look(life, due, due);
            due += 3 * S;
        }
        let mut now = due + 50 * S;
        assert_eq!(silence.look(life, due, now), Look::Ask(now + 3 * S));
        for _ in 0..3 {
            now += 3 * S;
            assert_eq!(silence.look(life, now, now), Look::Again(now + 3 * S));
        }
        now += 3 * S;
        assert_eq!(silence.look(life, now, now), Look::Gone);
    }
}
