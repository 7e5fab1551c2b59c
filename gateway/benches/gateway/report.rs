//! What was measured, as a table and as JSON.

use serde_json::{Value, json};

use super::process::Memory;

/// One server's figures.
pub struct Row {
    name: String,
    rates: Vec<f64>,
    latencies: Vec<f64>,
}

pub struct Figures {
    pub rows: Vec<Row>,
    pub memory: Memory,
}

impl Row {
    pub fn new(name: &str) -> Self {
        Row {
            name: name.into(),
            rates: Vec::new(),
            latencies: Vec::new(),
        }
    }

    pub fn add(&mut self, rate: f64, latencies: Vec<f64>) {
        self.rates.push(rate);
        self.latencies.extend(latencies);
    }

    /// Calls per second, and the median and the 99th percentile of a call's time in microseconds.
    fn figures(&self) -> [f64; 3] {
        [
            quantile(&self.rates, 0.5),
            quantile(&self.latencies, 0.5),
            quantile(&self.latencies, 0.99),
        ]
    }
}

impl Figures {
    /// Everything, with ratios to each row before the last.
    pub fn json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            let [rate, p50, p99] = row.figures();
            json!({ "name": row.name, "callsPerSecond": rate, "p50": p50, "p99": p99 })
        });
        let Memory {
            runs,
            before,
            in_flight,
            after,
        } = self.memory;
        let memory =
            json!({ "runs": runs, "before": before, "inFlight": in_flight, "after": after });
        json!({ "rows": rows.collect::<Vec<_>>(), "memory": memory })
    }

    pub fn table(&self) -> String {
        let mut lines = vec![format!(
            "{:<32}{:>12}{:>9}{:>9}",
            "", "calls/s", "p50 µs", "p99 µs"
        )];
        let gateway = self.rows.last().map(Row::figures).unwrap_or_default();
        for row in &self.rows {
            let figures = row.figures();
            let [rate, p50, p99] = figures;
            let ratios = [0, 1, 2].map(|index| gateway[index] / figures[index]);
            lines.push(format!(
                "{:<32}{rate:>12.0}{p50:>9.0}{p99:>9.0}   the gateway: × {:.2}, × {:.2}, × {:.2}",
                row.name, ratios[0], ratios[1], ratios[2]
            ));
        }
        let Memory {
            runs,
            before,
            in_flight,
            after,
        } = self.memory;
        let each = in_flight.saturating_sub(before) as f64 / runs as f64;
        lines.push(format!(
            "memory: {} kB, with {runs} runs in flight {} kB ({each:.0} B each), then {} kB",
            before / 1_024,
            in_flight / 1_024,
            after / 1_024
        ));
        lines.join("\n")
    }
}

fn quantile(values: &[f64], at: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let index = ((sorted.len().max(1) - 1) as f64 * at).round() as usize;
    sorted.get(index).copied().unwrap_or(f64::NAN)
}
