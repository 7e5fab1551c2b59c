//! Reading from Redis and writing to it.
//!
//! | module | contents |
//! |---|---|
//! | [`node`] | the address of Redis, the names of keys, and connections |
//! | [`connection`] | one connection after another, and the work on each |
//! | [`leases`] | this worker's lease, and the leases of the other workers |
//! | [`agreed`] | the key of sessions that all workers share |
//! | [`frames`] | the streams of frames between workers |
//! | [`facts`] | facts that all workers must know for a while |
//! | [`held`] | the facts that this worker may have to tell Redis again |

mod agreed;
pub mod connection;
pub mod facts;
mod frames;
pub mod held;
mod leases;
pub mod node;
