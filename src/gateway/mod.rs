//! The native half: `caphost serve`, which serves the page and relays between apps and agents.
//!
//! | module | what it knows |
//! |---|---|
//! | [`wire`] | the ABP envelope as text: reading it without touching its payload, writing it |
//! | [`relay`] | who talks to whom: a state machine without sockets, timers or clocks |
//! | [`rap`] | apps as tools of the Reactive Agent Protocol |
//! | [`server`] | HTTP, WebSockets, queues and signals around it |
//! | [`http_client`] | requests to other servers |
//! | [`tokens`] | bearer tokens and their roles |
//! | [`limits`] | every bound, its name and its default |
//! | [`command`] | the command line |
//!
//! A payload is never parsed into a tree: it is checked by a byte scanner and passed on as it came.

pub mod agent;
pub mod command;
pub mod http_client;
pub mod limits;
pub mod rap;
pub mod relay;
pub mod router;
pub mod runs;
pub mod server;
pub mod tokens;
pub mod wire;
