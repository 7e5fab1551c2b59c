use super::*;

fn token(name: &str) -> Holder {
    Holder::Token(name.into())
}

#[test]
fn nobody_has_more_than_a_share_and_all_together_no_more_than_there_is() {
    let shares = Shares::new(3, 2);
    let (a, b) = (token("a"), token("b"));
    let first = shares.take(&a).unwrap();
    let _second = shares.take(&a).unwrap();
    assert_eq!(shares.take(&a).unwrap_err(), Full::Share(2));
    let _third = shares.take(&b).unwrap();
    assert_eq!(shares.take(&b).unwrap_err(), Full::All(3));
    drop(first);
    assert!(shares.take(&a).is_ok());
}

#[test]
fn what_is_given_back_can_be_taken_again() {
    let (room, a) = (Shares::new(10, 10), token("a"));
    let six = room.take_many(&a, 6).unwrap();
    assert_eq!(room.take_many(&a, 5).unwrap_err(), Full::All(10));
    let four = room.take_many(&a, 4).unwrap();
    drop(six);
    assert!(room.take_many(&a, 6).is_ok() && room.take_many(&a, 7).is_err());
    drop(four);
    assert!(room.take_many(&a, 10).is_ok() && room.take_many(&a, usize::MAX).is_err());
}

#[test]
fn a_party_with_its_share_leaves_the_rest_to_others() {
    let room = Shares::new(10, 4);
    let (a, b) = (token("a"), token("b"));
    let four = room.take_many(&a, 4).unwrap();
    assert_eq!(room.take(&a).unwrap_err(), Full::Share(4));
    let others = [room.take_many(&b, 4), room.take_many(&token("c"), 2)];
    assert!(others.iter().all(Result::is_ok));
    assert_eq!(room.take(&token("d")).unwrap_err(), Full::All(10));
    drop(four);
    assert!(room.take_many(&a, 4).is_ok());
}

#[test]
fn holders_that_have_nothing_are_forgotten() {
    let shares = Shares::new(3, 2);
    for number in 0..1_000 {
        drop(shares.take(&token(&number.to_string())));
    }
    assert_eq!(shares.taken.lock().taken(), (0, 0));
}

#[test]
fn an_ipv6_network_counts_as_one() {
    let network = |text: &str| network(text.parse().unwrap()).to_string();
    assert_eq!(network("2001:db8::1:2:3:4"), "2001:db8::");
    assert_eq!(network("2001:db8:0:1::9"), "2001:db8:0:1::");
    assert_eq!(network("10.1.2.3"), "10.1.2.3");
    assert_eq!(network("::ffff:10.1.2.3"), "10.1.2.3");
}
