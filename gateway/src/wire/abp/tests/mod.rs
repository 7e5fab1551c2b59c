//! The host's and the agent's halves against each other, over a pair of lanes in memory: the
//! conformance vectors, and thousands of calls raced against their cancels.

mod bench;
mod initialize;
mod lane;
mod race;
mod vectors;
