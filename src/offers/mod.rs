//! What a capability is: its descriptor, the registry of them, and the future that runs a call.

mod near;
mod registry;
mod task;

pub use near::near;
pub use registry::{Descriptor, Ending, Registered, Registry};
pub use task::Task;
