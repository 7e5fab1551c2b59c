//! What page and gateway both have to know of the protocols.

pub mod answers;
pub mod mcp;
