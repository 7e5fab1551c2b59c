use super::*;

fn token(name: &str) -> QuotaKey {
    QuotaKey::Token(name.into())
}

#[test]
fn nobody_has_more_than_a_share_and_all_together_no_more_than_there_is() {
    let budget = Budget::new(3, 2);
    let (a, b) = (token("a"), token("b"));
    let first = budget.take(&a, 1).unwrap();
    let _second = budget.take(&a, 1).unwrap();
    assert_eq!(budget.take(&a, 1).unwrap_err(), Full::Share(2));
    let _third = budget.take(&b, 1).unwrap();
    assert_eq!(budget.take(&b, 1).unwrap_err(), Full::All(3));
    drop(first);
    assert!(budget.take(&a, 1).is_ok());
}

#[test]
fn what_is_given_back_can_be_taken_again() {
    let (room, a) = (Budget::new(10, 10), token("a"));
    let six = room.take(&a, 6).unwrap();
    assert_eq!(room.take(&a, 5).unwrap_err(), Full::All(10));
    let four = room.take(&a, 4).unwrap();
    drop(six);
    assert!(room.take(&a, 6).is_ok() && room.take(&a, 7).is_err());
    drop(four);
    assert!(room.take(&a, 10).is_ok() && room.take(&a, usize::MAX).is_err());
}

#[test]
fn a_party_with_its_share_leaves_the_rest_to_others() {
    let room = Budget::new(10, 4);
    let (a, b) = (token("a"), token("b"));
    let four = room.take(&a, 4).unwrap();
    assert_eq!(room.take(&a, 1).unwrap_err(), Full::Share(4));
    let others = [room.take(&b, 4), room.take(&token("c"), 2)];
    assert!(others.iter().all(Result::is_ok));
    assert_eq!(room.take(&token("d"), 1).unwrap_err(), Full::All(10));
    drop(four);
    assert!(room.take(&a, 4).is_ok());
}

#[test]
fn holders_that_have_nothing_are_forgotten() {
    let budget = Budget::new(3, 2);
    for number in 0..1_000 {
        drop(budget.take(&token(&number.to_string()), 1));
    }
    let taken = budget.taken.lock();
    assert_eq!((taken.all, taken.by.len()), (0, 0));
}

#[test]
fn nobody_takes_all_places_and_the_last_are_for_those_who_have_none() {
    let budget = Budget::of(Bound::with_last_kept(20, 10));
    let mut permits = Vec::new();
    let mut fill = |name: &str| loop {
        match budget.take(&token(name), 1) {
            Ok(permit) => permits.push(permit),
            Err(why) => return (why, permits.len()),
        }
    };
    assert_eq!(fill("a"), (Full::Share(10), 10));
    assert_eq!(fill("b"), (Full::Last(2), 18));
    assert_eq!(fill("c"), (Full::Last(2), 19));
    assert_eq!(fill("d"), (Full::All(20), 20));
    permits.pop();
    let again = |name: &str| budget.take(&token(name), 1).map(drop);
    assert_eq!((again("b"), again("e")), (Err(Full::Last(2)), Ok(())));
}

#[test]
fn where_there_are_few_places_none_is_kept() {
    for (share, second) in [(2, Ok(())), (1, Err(Full::Share(1)))] {
        let budget = Budget::of(Bound::with_last_kept(2, share));
        let _first = budget.take(&token("a"), 1).unwrap();
        assert_eq!(budget.take(&token("a"), 1).map(drop), second);
    }
}
