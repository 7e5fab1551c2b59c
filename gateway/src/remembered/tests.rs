use std::cell::Cell;
use std::hash::Hasher;

use super::*;

thread_local! {
    static COMPARED: Cell<usize> = const { Cell::new(0) };
}

/// A key that counts how often keys are compared.
#[derive(Clone, Debug)]
struct Counted(u32);

impl PartialEq for Counted {
    fn eq(&self, other: &Self) -> bool {
        COMPARED.set(COMPARED.get() + 1);
        self.0 == other.0
    }
}

impl Eq for Counted {}

impl Hash for Counted {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

#[test]
fn removing_each_of_many_does_not_look_at_the_others() {
    let mut remembered: Remembered<Counted, (), 10_000> = Remembered::default();
    for number in 0..10_000 {
        remembered.insert(Counted(number), ());
    }
    COMPARED.set(0);
    for number in (0..10_000).rev() {
        assert_eq!(remembered.remove(&Counted(number)), Some(()));
    }
    assert!(COMPARED.get() < 20_000, "{} keys compared", COMPARED.get());
    assert_eq!(remembered.len(), 0);
}

#[test]
fn the_newest_are_remembered_and_each_that_is_forgotten_is_named_once() {
    let mut remembered: Remembered<String, usize, 3> = Remembered::default();
    for number in 0..3 {
        assert_eq!(remembered.insert(number.to_string(), number), None);
    }
    assert_eq!(
        remembered.insert("1".into(), 10),
        Some(1),
        "it is the newest now"
    );
    assert_eq!(remembered.insert("3".into(), 3), Some(0));
    assert_eq!(remembered.get("0"), None);
    assert_eq!(remembered.remove("2"), Some(2));
    assert_eq!(remembered.insert("4".into(), 4), None);
    assert_eq!(remembered.len(), 3);
    let all: Vec<_> = remembered.into_all().map(|(_, value)| value).collect();
    assert_eq!(all, [10, 3, 4]);
}
