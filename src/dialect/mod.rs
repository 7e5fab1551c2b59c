//! How a peer writes it: values to events, and back.
//!
//! A dialect is written once, over [`Value`], and serves the JavaScript values of a page and the
//! JSON of the gateway alike.

pub mod abp;
pub mod jsonrpc;
mod value;

pub use value::{Value, shape};
