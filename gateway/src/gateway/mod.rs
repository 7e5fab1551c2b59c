//! What the fronts share: calls, cancels, runs, queues and metrics.

pub mod background;
mod everywhere;
mod hub;
mod ledger;
pub(crate) mod lifecycle;
pub mod metrics;
mod outbox;
pub(crate) mod resume;
pub mod router;
mod run_log;
mod runs;
mod sought;

pub use everywhere::Listed;
pub use hub::{Connected, Hub};
pub(crate) use outbox::Phase as OutboxPhase;
pub use outbox::{Outbox, Pushed, Step as OutboxStep};
pub use resume::{Attached, Lost, Resume, Sessions};
pub use sought::{Placed, Sought};

/// The reason that the calls are given which a stopping gateway cancels.
pub const STOPPING: &str = "The gateway is shutting down";
