//! The servers that are measured. Each is a process that ends with the benchmark.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::app::App;
use super::bare;
use super::client::{Agent, Kind};

pub struct Server {
    child: Child,
    address: String,
}

/// The resident memory of the gateway, in bytes.
pub struct Memory {
    pub runs: usize,
    pub before: u64,
    pub in_flight: u64,
    pub after: u64,
}

impl Server {
    /// `caphost serve`, from `binary` or from the binary as it is shipped.
    pub fn gateway(binary: Option<&str>) -> Self {
        let mut command = Command::new(binary.unwrap_or(env!("CARGO_BIN_EXE_caphost")));
        command.args(["serve", "--port", "0"]);
        Self::start(command)
    }

    /// This program as a server that knows nothing about calls.
    pub fn bare() -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.arg(bare::FLAG);
        Self::start(command)
    }

    /// A server that needs no arguments and writes its address first.
    pub fn of(binary: &str) -> Self {
        Self::start(Command::new(binary))
    }

    fn start(mut command: Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .expect("a server that starts");
        let mut line = String::new();
        let output = child.stdout.take().expect("its output");
        BufReader::new(output)
            .read_line(&mut line)
            .expect("its ready line");
        let address = line.trim().rsplit("http://").next().unwrap_or_default();
        let address = address.trim_end_matches('/').to_string();
        Server { child, address }
    }

    pub fn url(&self, path: &str) -> String {
        format!("ws://{}{path}", self.address)
    }

    /// The address that the server listens on.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The processor time that the server has used so far, in microseconds, if the system tells it. Unlike a
    /// wall clock, this time does not depend on other work of the machine.
    pub fn cpu(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()));
        let stat = stat.unwrap_or_default();
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        // The times in user mode and in the system, in hundredths of a second.
        let ticks = after_name.split_whitespace().skip(11).take(2);
        ticks.filter_map(|it| it.parse::<f64>().ok()).sum::<f64>() * 10_000.0
    }

    /// The resident memory of the server in bytes, if the system tells it.
    fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kilobytes.unwrap_or(0) * 1_024
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How much memory `runs` runs in flight take, and how much is left after they have ended.
pub async fn memory_of_runs(gateway: &Server, app: &App, runs: usize) -> Memory {
    let mut agent = Agent::connect(&gateway.url("/abp"), Kind::Abp).await;
    // The same number of calls runs once before, so that the memory of ended runs does not count as memory of
    // runs in flight.
    agent.throughput(runs, 64).await;
    let before = gateway.resident();
    app.hold(true);
    for _ in 0..runs {
        agent.send().await;
    }
    while app.held() < runs {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let in_flight = gateway.resident();
    app.hold(false);
    for _ in 0..runs {
        agent.receive().await;
    }
    Memory {
        runs,
        before,
        in_flight,
        after: gateway.resident(),
    }
}
