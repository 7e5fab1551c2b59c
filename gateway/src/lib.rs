//! The native half: `caphost serve`, which serves the page and relays between apps and agents.
//!
//! | module | what it knows |
//! |---|---|
//! | [`wire`] | the ABP envelope as text: reading it without touching its payload, writing it |
//! | [`relay`] | who talks to whom: a state machine without sockets, timers or clocks |
//! | [`rap`] | apps as tools of the Reactive Agent Protocol |
//! | [`jsonrpc`] | JSON-RPC 2.0 on `/jsonrpc`, and over standard input and output |
//! | [`mcp`] | the Model Context Protocol, over HTTP on `/mcp` and over standard input and output |
//! | [`cancellation`] | ContextForge's cancellation API |
//! | [`runs_api`] | the runs as JSON, and their cancels |
//! | [`runs_page`] | the same for people, at `/runs` |
//! | [`cluster`] | several workers on Redis that behave as one |
//! | [`server`] | HTTP, WebSockets, queues and signals around it |
//! | [`http_client`] | requests to other servers |
//! | [`stops`] | how far a stop was seen, in JSON and in words |
//! | [`tokens`] | bearer tokens and their roles |
//! | [`background`] | tasks that are to go on for as long as the gateway does |
//! | [`limits`] | every bound, its name and its default |
//! | [`metrics`] | what is counted, for Prometheus |
//! | [`command`] | the command line |
//!
//! The relay never parses a payload into a tree: it checks that every later reader can read it, and
//! passes it on as it came.

pub mod agent;
pub mod background;
pub mod cancellation;
pub mod cluster;
pub mod command;
pub mod dialect;
pub mod http_client;
mod id_map;
pub mod jsonrpc;
pub mod limits;
pub mod mcp;
pub mod metrics;
pub mod rap;
pub mod relay;
pub mod router;
pub mod runs;
pub mod runs_api;
pub mod runs_page;
pub mod server;
pub mod stops;
pub mod tokens;
pub mod wire;
