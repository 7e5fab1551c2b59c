//! Searches on a worker that does not answer are bounded for each token.

use super::simulated::{Simulated, hello};
use super::*;

/// How many searches of one token run at once.
const SEARCHES: usize = 16;

/// How many questions for a run the silent worker gets while 40 requests of that kind wait, and how many
/// requests are refused.
async fn asked(
    gateway: &Gateway,
    silent: &mut Simulated,
    method: &str,
    path: &str,
) -> (usize, usize) {
    let all = (0..40).map(|_| gateway.ask(method, path, "", "{}"));
    let answers = futures_util::future::join_all(all);
    let mut asked = 0;
    let counting = async {
        loop {
            let (fields, _) = silent.next_of("Ask").await;
            asked += usize::from(fields["question"].get("Run").is_some());
        }
    };
    let answers = tokio::select! {
        answers = answers => answers,
        () = counting => unreachable!(),
    };
    assert!(
        answers.iter().all(|it| it.status == 503),
        "{:?}",
        answers[0].body
    );
    let busy = answers
        .iter()
        .filter(|it| it.body.contains("Too many of your searches"));
    (asked, busy.count())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_requests_for_a_run_of_a_silent_worker_do_not_all_ask() {
    let redis = Redis::start();
    let gateway = Gateway::with(patient(&redis, Limits::default())).await;
    let mut silent = Simulated::join(&redis, &gateway).await;
    silent.send(&[(hello("silent"), "")]).await;
    let run = silent.run();
    for (method, path) in [
        ("GET", format!("/api/runs/{run}")),
        ("GET", format!("/cancellation/status/{run}")),
        ("POST", format!("/api/runs/{run}/cancel")),
    ] {
        let (asked, busy) = asked(&gateway, &mut silent, method, &path).await;
        assert!(
            (1..=2 * SEARCHES).contains(&asked),
            "{method} {path}: {asked}"
        );
        assert!(busy >= 40 - 2 * SEARCHES, "{method} {path}: {busy}");
    }
}
