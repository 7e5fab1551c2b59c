//! Reading from Redis and writing to it.
//!
//! | module | what it knows |
//! |---|---|
//! | [`node`] | where Redis is, what keys are called, and connections |
//! | [`connection`] | one connection after the other, and what is done on each |
//! | [`leases`] | this worker's lease, and those of the others |
//! | [`frames`] | the streams of frames between workers |
//! | [`records`] | runs that are written down for the others, and taken over by them |
//! | [`facts`] | what all of them are to know, while it is of use |
//! | [`held`] | the facts of this worker, to be told again |

pub mod connection;
pub mod facts;
mod frames;
pub mod held;
mod leases;
pub mod node;
pub mod records;
