//! The host's and the agent's halves against each other, natively, over the in-memory pair: the
//! conformance vectors, and thousands of calls raced against their cancels.

mod bench;
mod race;
mod vectors;
mod wire;
