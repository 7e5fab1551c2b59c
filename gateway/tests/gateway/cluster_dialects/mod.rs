//! Dialects on two workers behind a load balancer that sends each request anywhere.

mod mcp;
mod mcp_stateless;
mod outages;
mod rap;
mod rap_runtime;
mod rap_twice;
mod sockets;
mod workers;
