//! The cost of the gateway. The benchmark compares calls through the gateway with the same messages through a
//! relay, which does not read them, and through an echo. All servers use the same HTTP and WebSocket stack.
//! Each server is a separate process, and they are measured in turns.
//!
//! `cargo bench --package caphost-gateway` prints a table, and with `-- --json` the figures. `-- --against
//! BINARY` also measures another `caphost`, in turns with this one. `-- --rmcp BINARY` also measures the MCP
//! server of `scripts/bench/rmcp-echo`. `-- --only TEXT` measures only the rows with that text in their names,
//! for example `over MCP`.

#[path = "gateway/app.rs"]
mod app;
#[path = "gateway/bare.rs"]
mod bare;
#[path = "gateway/client.rs"]
mod client;
#[path = "gateway/mcp.rs"]
mod mcp;
#[path = "gateway/process.rs"]
mod process;
#[path = "gateway/report.rs"]
mod report;

/// The gateway's own allocator, so that only the gateway's own work tells the rows apart.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

use client::{Agent, Kind};
use process::Server;
use report::{Figures, Row};

/// How many times everything is measured.
const ROUNDS: usize = 7;
/// How many calls one measurement of throughput makes, and how many of them are in flight at once.
const CALLS: usize = 20_000;
const WINDOW: usize = 64;
/// The same numbers for MCP.
const MCP_CALLS: usize = 4_000;
const MCP_WINDOW: usize = 16;
/// How many calls one measurement of latency makes, one after another.
const PINGS: usize = 2_000;
const MCP_PINGS: usize = 500;
/// How many runs are in flight when memory is measured. There are many, because the system gives out memory
/// in huge pages.
const RUNS: usize = 10_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    if arguments.iter().any(|it| it == bare::FLAG) {
        return runtime.block_on(bare::serve());
    }
    let option = |name: &str| {
        let mut values = arguments.iter().skip_while(|it| *it != name).skip(1);
        values.next().map(String::as_str)
    };
    let only = option("--only").unwrap_or_default();
    let figures = runtime.block_on(measure(option("--against"), option("--rmcp"), only));
    if arguments.iter().any(|it| it == "--json") {
        println!("{}", figures.json());
    } else {
        println!("{}", figures.table());
    }
}

/// A client that calls a server in one way.
enum Caller {
    Socket(Box<Agent>),
    Mcp(mcp::Client),
}

/// One way to call one server.
struct Measured<'a> {
    server: &'a Server,
    caller: Caller,
    row: Row,
}

impl Measured<'_> {
    async fn measure(&mut self) {
        let before = self.server.cpu();
        let (rate, calls) = match &mut self.caller {
            Caller::Socket(agent) => (agent.throughput(CALLS, WINDOW).await, CALLS),
            Caller::Mcp(client) => (client.throughput(MCP_CALLS).await, MCP_CALLS),
        };
        let cpu = (self.server.cpu() - before) / calls as f64;
        let alone = match &mut self.caller {
            Caller::Socket(agent) => agent.latencies(PINGS).await,
            Caller::Mcp(client) => client.latencies(MCP_PINGS).await,
        };
        self.row.add(rate, cpu, alone);
    }
}

/// A gateway with an app, and its name.
struct Gateway {
    name: &'static str,
    server: Server,
    app: app::App,
}

impl Gateway {
    async fn start(name: &'static str, binary: Option<&str>) -> Self {
        let server = Server::gateway(binary);
        let app = app::connect(&server.url("/abp/app"), true).await;
        Gateway { name, server, app }
    }

    /// The rows of the gateway: over ABP, and over MCP.
    async fn measured(&self) -> [Measured<'_>; 2] {
        let server = &self.server;
        let agent = Agent::connect(&server.url("/abp"), Kind::Abp).await;
        let client = mcp::Client::connect(server.address(), MCP_WINDOW).await;
        let row = |by: &str| Row::new(&format!("{} over {by}", self.name), by);
        [
            Measured {
                server,
                caller: Caller::Socket(Box::new(agent)),
                row: row("ABP"),
            },
            Measured {
                server,
                caller: Caller::Mcp(client),
                row: row("MCP"),
            },
        ]
    }
}

/// Measures the gateway, in turns with the binary `against` and the MCP server `rmcp` if there are any.
/// Measures only the rows whose names contain `only`.
async fn measure(against: Option<&str>, rmcp: Option<&str>, only: &str) -> Figures {
    let bare = Server::bare();
    let _bare_app = app::connect(&bare.url("/app"), false).await;
    let mut gateways = Vec::new();
    if against.is_some() {
        gateways.push(Gateway::start("the other gateway", against).await);
    }
    gateways.push(Gateway::start("the gateway", None).await);
    let mut measured = Vec::new();
    for (name, path, kind) in [
        ("an echo by the server itself", "/echo", Kind::Echo),
        ("a relay that does not look", "/agent", Kind::Bare),
    ] {
        measured.push(Measured {
            server: &bare,
            caller: Caller::Socket(Box::new(Agent::connect(&bare.url(path), kind).await)),
            row: Row::new(name, "ABP"),
        });
    }
    let rmcp = rmcp.map(Server::of);
    if let Some(server) = &rmcp {
        let client = mcp::Client::connect(server.address(), MCP_WINDOW).await;
        measured.push(Measured {
            server,
            caller: Caller::Mcp(client),
            row: Row::new("an echo over MCP by a server of rmcp", "MCP"),
        });
    }
    for gateway in &gateways {
        measured.extend(gateway.measured().await);
    }
    measured.retain(|it| it.row.name.contains(only));
    for round in 0..ROUNDS {
        let mut order: Vec<usize> = (0..measured.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for index in order {
            measured[index].measure().await;
        }
    }
    let rows = measured.into_iter().map(|it| it.row).collect();
    let mut memory = Vec::new();
    for Gateway { name, server, app } in &gateways {
        memory.push((*name, process::memory_of_runs(server, app, RUNS).await));
    }
    Figures { rows, memory }
}
