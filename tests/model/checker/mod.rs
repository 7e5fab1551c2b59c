//! A host of the core and its agents, with everything that can happen between them.

pub mod caller_side;
pub mod digest;
pub mod each_rule;
pub mod event;
pub mod explore;
pub mod facts;
pub mod happen;
pub mod host_acts;
pub mod host_hears;
pub mod rules;
pub mod scope;
pub mod scopes;
pub mod told;
pub mod world;
