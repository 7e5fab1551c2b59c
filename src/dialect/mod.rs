//! How a peer writes it: values to events, and back.
//!
//! A dialect is written over [`Value`], for the JSON of the gateway. In a page JavaScript reads and
//! writes its own values, in `src/web/js/`: property by property from Rust it is twice the size.

pub mod abp;
pub mod jsonrpc;
mod value;

pub use value::{Value, shape};
