//! How much each party may have at once, so that nobody takes what others need.
//!
//! | Module | Bounds |
//! |---|---|
//! | `ledger` | bytes: when there are too many, the party with most makes room |
//! | `shares` | places: a party that comes when no place is free is refused |
//! | `turns` | long work: a request waits for its turn, and parties take turns |
//! | `searches` | searches on other workers: a search that finds no place waits a second, and is then refused |
//! | `in_use` | what each party holds while it is in use |

pub(crate) mod in_use;
pub(crate) mod ledger;
pub(crate) mod searches;
pub(crate) mod shares;
pub(crate) mod turns;
