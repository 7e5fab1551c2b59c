//! What the gateway costs: calls through it beside the same messages through a relay that does not
//! look at them and beside an echo, all on the same HTTP and WebSocket stack, each server a process
//! of its own, measured in turns.
//!
//! `cargo bench --package caphost-gateway` prints a table; with `-- --json` the figures.

#[path = "gateway/app.rs"]
mod app;
#[path = "gateway/bare.rs"]
mod bare;
#[path = "gateway/client.rs"]
mod client;
#[path = "gateway/process.rs"]
mod process;
#[path = "gateway/report.rs"]
mod report;

/// The one the gateway has, so that nothing but the gateway's own work tells the rows apart.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

use client::{Agent, Kind};
use process::Server;
use report::{Figures, Row};

/// Times everything is measured.
const ROUNDS: usize = 7;
/// Calls of one measurement of throughput, and how many of them are in flight at once.
const CALLS: usize = 20_000;
const WINDOW: usize = 64;
/// Calls of one measurement of latency, one after the other.
const PINGS: usize = 2_000;
/// Runs in flight when memory is looked at.
const RUNS: usize = 2_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    if arguments.iter().any(|it| it == bare::FLAG) {
        return runtime.block_on(bare::serve());
    }
    let figures = runtime.block_on(measure());
    if arguments.iter().any(|it| it == "--json") {
        println!("{}", figures.json());
    } else {
        println!("{}", figures.table());
    }
}

async fn measure() -> Figures {
    let bare = Server::bare();
    let gateway = Server::gateway();
    let _bare_app = app::connect(&bare.url("/app"), false).await;
    let app = app::connect(&gateway.url("/abp/app"), true).await;
    let mut agents = vec![
        (
            "an echo by the server itself",
            Agent::connect(&bare.url("/echo"), Kind::Echo).await,
        ),
        (
            "a relay that does not look",
            Agent::connect(&bare.url("/agent"), Kind::Bare).await,
        ),
        (
            "the gateway",
            Agent::connect(&gateway.url("/abp"), Kind::Abp).await,
        ),
    ];
    let mut rows: Vec<Row> = agents.iter().map(|(name, _)| Row::new(name)).collect();
    for round in 0..ROUNDS {
        let mut order: Vec<usize> = (0..agents.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for index in order {
            let agent = &mut agents[index].1;
            let rate = agent.throughput(CALLS, WINDOW).await;
            let alone = agent.latencies(PINGS).await;
            rows[index].add(rate, alone);
        }
    }
    drop(agents);
    let memory = process::memory_of_runs(&gateway, &app, RUNS).await;
    Figures { rows, memory }
}
