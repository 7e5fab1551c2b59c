//! How much each party may have at once, so that nobody takes what others need.
//!
//! | Module | Content |
//! |---|---|
//! | `quota_key` | whose share is taken: a token's, or a network's |
//! | `budget` | places and bytes: who comes when nothing is left is refused |
//! | `ledger` | bytes: when there are too many, the party with most makes room |
//! | `turns` | long work: a request waits for its turn, and parties take turns |
//! | `rate_limit` | how often something may happen |
//! | `tally` | how much of something each holder has |
//! | `in_use` | things while they are in use |

mod budget;
mod in_use;
mod ledger;
mod quota_key;
mod rate_limit;
mod tally;
mod turns;

pub(crate) use budget::{Bound, Budget, Full, Permit, last_places};
pub(crate) use in_use::{InUse, permits};
pub(crate) use ledger::{Account, FREE_BYTES, Ledgers, NoRoom};
pub(crate) use quota_key::{QuotaKey, network};
pub(crate) use rate_limit::{Pace, RateLimiter};
pub(crate) use tally::Tally;
pub(crate) use turns::{Turn, Turns};
