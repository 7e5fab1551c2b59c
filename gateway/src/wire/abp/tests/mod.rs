//! Tests of the host's and the agent's halves against each other, over a pair of lanes in memory: the
//! conformance vectors, and thousands of calls that race with their cancels.

mod bench;
mod from_agent;
mod initialize;
mod lane;
mod race;
mod vectors;
