//! The results as a table and as JSON.

use serde_json::{Value, json};

use super::process::Memory;

/// The figures of one way to call one server.
pub struct Row {
    pub name: String,
    /// How the server is called. Only rows with the same value are compared.
    by: String,
    rates: Vec<f64>,
    cpu: Vec<f64>,
    latencies: Vec<f64>,
}

pub struct Figures {
    pub rows: Vec<Row>,
    /// The memory, by the gateway's name.
    pub memory: Vec<(&'static str, Memory)>,
}

impl Row {
    pub fn new(name: &str, by: &str) -> Self {
        Row {
            name: name.into(),
            by: by.into(),
            rates: Vec::new(),
            cpu: Vec::new(),
            latencies: Vec::new(),
        }
    }

    pub fn add(&mut self, rate: f64, cpu: f64, latencies: Vec<f64>) {
        self.rates.push(rate);
        self.cpu.push(cpu);
        self.latencies.extend(latencies);
    }

    /// Calls per second, the server's processor time for one call, and the median and the 99th percentile of
    /// a call's time in microseconds.
    fn figures(&self) -> [f64; 4] {
        [
            quantile(&self.rates, 0.5),
            quantile(&self.cpu, 0.5),
            quantile(&self.latencies, 0.5),
            quantile(&self.latencies, 0.99),
        ]
    }
}

impl Figures {
    /// All figures as JSON.
    pub fn json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            let [rate, cpu, p50, p99] = row.figures();
            json!({
                "name": row.name, "by": row.by, "callsPerSecond": rate, "cpu": cpu, "p50": p50,
                "p99": p99,
            })
        });
        let memory = self.memory.iter().map(|(name, memory)| {
            json!({
                "name": name, "runs": memory.runs, "before": memory.before,
                "inFlight": memory.in_flight, "after": memory.after,
            })
        });
        json!({ "rows": rows.collect::<Vec<_>>(), "memory": memory.collect::<Vec<_>>() })
    }

    /// All figures for people, with the ratio of each row to the last row that is called in the same way.
    pub fn table(&self) -> String {
        let mut lines = vec![format!(
            "{:<32}{:>12}{:>9}{:>9}{:>9}",
            "", "calls/s", "CPU µs", "p50 µs", "p99 µs"
        )];
        for row in &self.rows {
            let figures = row.figures();
            let [rate, cpu, p50, p99] = figures;
            let last = self.rows.iter().rfind(|it| it.by == row.by);
            let last = last.map(Row::figures).unwrap_or_default();
            let [rates, cpus, medians, tails] = [0, 1, 2, 3].map(|at| last[at] / figures[at]);
            lines.push(format!(
                "{:<32}{rate:>12.0}{cpu:>9.1}{p50:>9.0}{p99:>9.0}   the gateway: × {rates:.2}, × {cpus:.2}, × {medians:.2}, × {tails:.2}",
                row.name
            ));
        }
        for (name, memory) in &self.memory {
            let Memory {
                runs,
                before,
                in_flight,
                after,
            } = memory;
            let each = in_flight.saturating_sub(*before) as f64 / *runs as f64;
            lines.push(format!(
                "memory of {name}: {} kB, with {runs} runs in flight {} kB ({each:.0} B each), then {} kB",
                before / 1_024,
                in_flight / 1_024,
                after / 1_024
            ));
        }
        lines.join("\n")
    }
}

fn quantile(values: &[f64], at: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let index = ((sorted.len().max(1) - 1) as f64 * at).round() as usize;
    sorted.get(index).copied().unwrap_or(f64::NAN)
}
