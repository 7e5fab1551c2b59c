use super::*;

fn open(ledger: &Arc<Ledger>, name: &str) -> Account {
    let key = QuotaKey::Token(name.into());
    ledger.open(key, Arc::default())
}

#[test]
fn who_holds_most_makes_room_with_the_largest_of_it() {
    let ledger = Ledger::new(100);
    let greedy = [10, 50, 40].map(|bytes| {
        let account = open(&ledger, "greedy");
        assert!(account.set(bytes));
        account
    });
    let honest = open(&ledger, "honest");
    assert!(honest.set(30));
    let evicted: Vec<_> = greedy.iter().map(Account::is_evicted).collect();
    assert_eq!(evicted, [false, true, false]);
    assert!(!greedy[1].set(1), "what made room does not come back");
    assert!(honest.set(50), "half is as much as the other has");
    assert!(!open(&ledger, "greedy").set(60));
    assert!(!honest.is_evicted());
}

#[test]
fn more_than_there_is_has_no_room_and_everything_is_given_back() {
    let ledger = Ledger::new(100);
    let other = open(&ledger, "other");
    assert!(other.set(20) && !open(&ledger, "one").set(101));
    assert!(!other.is_evicted());
    drop(other);
    let accounts = ledger.accounts.lock();
    assert!(accounts.total == 0 && accounts.all.is_empty());
    assert_eq!(accounts.by_key.len(), 0);
}

#[test]
fn strangers_take_from_strangers_alone() {
    let ledgers = Ledgers::new(100, 10);
    let key = QuotaKey::AppsOfNetwork([10, 0, 0, 1].into());
    let member = ledgers.open(key, Arc::default());
    assert!(member.set(100));
    let strangers = [1, 2].map(|last| {
        let key = QuotaKey::Stranger([10, 0, 0, last].into());
        ledgers.open(key, Arc::default())
    });
    assert!(strangers[0].set(9) && strangers[1].set(5));
    assert!(strangers[0].is_evicted() && !member.is_evicted());
}
