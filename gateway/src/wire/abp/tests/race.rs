//! Calls that race with cancels, timeouts and ends at random moments.

use std::collections::HashMap;

use caphost::call::Stop;
use serde_json::json;

use super::bench::Bench;

/// A small random number generator, so that a failing seed can be run again.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

#[test]
fn twenty_thousand_calls_raced_against_cancels_agree() {
    for seed in 0..20 {
        race(seed, 1_000);
    }
}

fn race(seed: u64, calls: usize) {
    let mut random = Random(seed);
    let mut bench = Bench::new(true);
    let mut of_call = HashMap::new();
    let mut of_cancel = Vec::new();
    let mut open = Vec::new();
    for index in 0..calls {
        let id = format!("call-{index}");
        let capability =
            ["test.hold", "test.single", "test.echo", "test.stubborn"][random.below(4) as usize];
        let mut options = json!({ "callId": id });
        if random.below(4) == 0 {
            options["timeout"] = json!(random.below(50));
        }
        of_call.insert(id.clone(), bench.call(capability, None, &options));
        open.push(id);
        // The connection and the two halves move by single steps, so that messages and events overtake each
        // other wherever they may.
        for _ in 0..random.below(6) {
            bench.step();
            let victim = open[random.below(open.len() as u64) as usize].clone();
            match random.below(8) {
                0 | 1 => of_cancel.push((victim.clone(), bench.cancel(&victim, None))),
                2 => bench.release(&victim),
                3 => drop(bench.deliver_to_host()),
                4 => drop(bench.deliver_to_agent()),
                5 => drop(bench.perform()),
                6 => drop(bench.perform_agent()),
                _ => drop(bench.pass_time()),
            }
        }
    }
    for id in &open {
        bench.step();
        bench.release(id);
    }
    bench.settle_down();
    while bench.pass_time() {}
    for (id, key) in &of_call {
        let times = bench.settled.iter().filter(|(it, _)| it == key).count();
        assert_eq!(times, 1, "seed {seed}: {id} settles once");
    }
    for (id, cancel) in &of_cancel {
        let confirmation = bench.response(*cancel).expect("a cancel settles");
        let confirmed = confirmation["cancelled"] == json!(true);
        let response = bench.response(of_call[id]).expect("a call settles");
        let cancelled = response["cancelled"] == json!(true);
        // If the agent gave the call up, a later confirmation of the app counts more.
        if response["error"]["code"] == "TIMEOUT" && confirmed {
            let place = |key| bench.settled.iter().position(|(it, _)| *it == key);
            assert!(place(*cancel) > place(of_call[id]), "seed {seed}: {id}");
            continue;
        }
        assert_eq!(confirmed, cancelled, "seed {seed}: {id} says {response}");
        if confirmed {
            let stops = [confirmation, response].map(|it| &it["metadata"]["stop"]);
            assert!(stops[0].is_string(), "seed {seed}: {id} says {response}");
            assert_eq!(stops[0], stops[1], "seed {seed}: {id}");
        }
    }
    let mut seen = HashMap::new();
    for work in bench.work.values() {
        let id = &work.id;
        let (stop, then) = work.said.expect("every handler's call is answered");
        *seen.entry(stop).or_insert(0) += 1;
        let (started, ended) = match stop {
            Some(Stop::NeverStarted) => (false, 0),
            Some(Stop::Abandoned) => (true, 1),
            _ => (work.started, 0),
        };
        assert_eq!(
            (work.started, work.ended),
            (started, ended),
            "seed {seed}: {id} was {stop:?}"
        );
        // Only abandoned work may go on.
        let goes_on = work.steps > then;
        assert!(
            !goes_on || stop == Some(Stop::Abandoned),
            "seed {seed}: {id} was {stop:?} and went on"
        );
    }
    for stop in [Stop::NeverStarted, Stop::Returned, Stop::Abandoned] {
        assert!(seen.contains_key(&Some(stop)), "seed {seed}: none {stop:?}");
    }
    assert_eq!(bench.host.in_flight(), 0, "seed {seed}");
    assert!(bench.running.is_empty(), "seed {seed}");
    assert_eq!(
        (bench.agent.pending(), bench.agent.pending_cancels()),
        (0, 0),
        "seed {seed}"
    );
    assert_eq!(bench.host.next_deadline(), None, "seed {seed}");
}
