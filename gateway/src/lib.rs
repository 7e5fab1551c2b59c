//! Brings the capabilities of web apps to agents: `caphost serve`, and the command line around it.
//!
//! Each module uses only those below it in this table.
//!
//! | module | what it knows |
//! |---|---|
//! | [`cli`] | the command line |
//! | [`server`] | a whole gateway: every part put together, started and stopped |
//! | [`http`] | the listener, TLS, limits, headers, health, metrics and files |
//! | [`fronts`] | how each kind of client speaks: ABP, MCP, RAP, JSON-RPC, ContextForge's cancellation API, the runs |
//! | [`gateway`] | what the fronts share: calls, cancels and runs, here and on other workers, queues and metrics |
//! | [`cluster`] | the other workers: who they are, and what is said to them, by way of Redis |
//! | [`broker`] | who talks to whom, and what became of it: a state machine without sockets, timers or clocks |
//! | [`wire`] | ABP as JSON text, read without touching the payloads |
//! | [`limits`], [`tokens`], [`options`] | bounds and their defaults; who may do what; how options are read |
//!
//! The broker never parses a payload into a tree: it checks that every later reader can read it, and
//! passes it on as it came.

pub mod broker;
pub mod cli;
pub mod cluster;
pub mod fronts;
pub mod gateway;
pub mod http;
pub mod http_client;
pub mod limits;
pub mod options;
pub mod server;
pub mod tokens;
pub mod wire;
