//! How much each party may have at once, so that nobody takes what others need.
//!
//! | Module | Bounds |
//! |---|---|
//! | `ledger` | bytes: when there are too many, the party with most makes room |
//! | `shares` | places: whoever comes when there is none is refused |
//! | `turns` | work that takes long: whoever comes waits, and parties take turns |
//! | `searches` | searches on other workers: whoever comes waits a second, and is refused then |
//! | `in_use` | what each party holds while it is in use |

pub(crate) mod in_use;
pub(crate) mod ledger;
pub(crate) mod searches;
pub(crate) mod shares;
pub(crate) mod turns;
