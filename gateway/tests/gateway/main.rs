//! The gateway over real sockets: a WebSocket client as the app, another as the agent.

mod bad_input;
mod binary;
mod budgets;
mod cancellation;
mod cancellation_race;
mod cli;
mod cluster;
mod cluster_dialects;
mod departures;
mod hardening;
mod http;
mod jsonrpc;
mod large_bodies;
mod mcp;
mod one_reading;
mod operation;
mod rap_runtime;
mod rap_server;
mod relaying;
mod request;
mod resuming;
mod runs_api;
mod slow_peers;
mod stdio;
mod stops;
mod support;
