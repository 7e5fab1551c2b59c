//! What page and gateway both have to know of a protocol that agents speak.

pub mod mcp;
