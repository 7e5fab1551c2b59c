//! The parts that the fronts share: calls, cancels, runs, queues and metrics.

mod acting;
pub mod background;
pub mod calls;
mod clustered;
mod counted;
pub(crate) mod files;
mod hub;
pub(crate) mod lifecycle;
mod listeners;
pub mod metrics;
mod noticed;
mod offers;
mod outbox;
mod remote_workers;
pub(crate) mod resume;
mod runs;
mod time;

pub use crate::broker::{AbpError, CancelOutcome, Outcome};
pub use calls::Step;
pub use counted::Counted;
pub use hub::Hub;
#[cfg(test)]
pub(crate) use hub::NOTICES;
pub use lifecycle::Connected;
pub(crate) use outbox::OutboxPhase;
pub use outbox::{Outbox, OutboxStep, Pushed};
pub use remote_workers::RemoteWorkers;

pub use resume::{Attached, Lost, Resume, SessionCounts};
#[cfg(test)]
pub(crate) use runs::LIST_BYTES;
pub use runs::{Gone, Listed, Placed, Sought, Unsure};
