use std::process::Stdio;

use ::redis::AsyncCommands;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::*;

/// A worker in a separate process.
struct Process {
    child: Child,
    url: String,
}

impl Process {
    async fn start(redis: &Redis) -> Self {
        Process::with(redis, &[]).await
    }

    async fn with(redis: &Redis, options: &[&str]) -> Self {
        let lease = format!("{}ms", LEASE.as_millis());
        let mut command: Command = crate::binary::caphost(&["serve", "--port", "0"]);
        command.args(["--redis", &redis.url(), "--worker-lease", &lease]);
        command.args(options);
        command.stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let line = soon("the ready line", out.lines().next_line()).await;
        let line = line.unwrap().unwrap();
        let (_, url) = line.split_once("http://").unwrap();
        let url = url.trim_end_matches('/').to_string();
        Process { child, url }
    }

    /// An app, and an agent with a session on it.
    async fn session(&self) -> (Peer, Peer) {
        let mut app = self.peer("/abp/app").await;
        app.send(register("demo")).await;
        app.next().await;
        let mut agent = self.peer("/abp").await;
        agent.initialize(&mut app).await;
        (app, agent)
    }

    async fn peer(&self, path: &str) -> Peer {
        use tokio_tungstenite::tungstenite::client::IntoClientRequest;
        let url = format!("ws://{}{path}", self.url);
        Peer::open(url.into_client_request().unwrap())
            .await
            .unwrap()
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().unwrap().to_string();
        let sent = std::process::Command::new("kill")
            .args([name, &pid])
            .status();
        assert!(sent.unwrap().success());
    }

    /// Kills the worker, so that it cannot prepare for its end.
    async fn kill(&mut self) {
        self.child.start_kill().unwrap();
        soon("the end", self.child.wait()).await.unwrap();
    }
}

/// Waits until a run in that state has been recorded.
async fn written(redis: &Redis, state: &str) {
    let mut connection = redis.connection().await;
    let looking = async {
        loop {
            for key in redis.keys("runs").await {
                let mut all = ::redis::cmd("HVALS");
                let all: Vec<String> = all.arg(key).query_async(&mut connection).await.unwrap();
                if all.iter().any(|run| run.contains(state)) {
                    return;
                }
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    soon("the record", looking).await;
}

/// Waits until the run is known. Until then, no answer may say that there is no such run.
async fn taken_over(worker: &Gateway, id: &str) -> Value {
    let asking = async {
        loop {
            let run = run_of(worker, id).await;
            match run.status {
                503 => {}
                200 if run.json()["state"] == "running" => {}
                200 => return run.json(),
                _ => panic!("{} {}", run.status, run.body),
            }
        }
    };
    soon("the run", asking).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_runs_of_a_worker_that_is_killed_are_not_lost() {
    let redis = Redis::start();
    let (one, two) = pair(&redis).await;
    let mut lost = Process::start(&redis).await;
    others(&one, 2).await;
    others(&two, 2).await;
    let (mut app, mut agent) = lost.session().await;
    let done = called(&mut agent, &mut app, "done").await;
    succeed(&mut agent, &mut app, &done).await;
    called(&mut agent, &mut app, "running").await;
    let before = known(&one, "done").await;
    assert_eq!(before["agent"], "tester");
    let run_id = known(&one, "running").await["runId"].clone();
    written(&redis, "\"Completed\"").await;
    written(&redis, "\"Running\"").await;
    lost.kill().await;

    for worker in [&one, &two] {
        let run = taken_over(worker, "running").await;
        assert_eq!(
            (&run["state"], &run["error"]),
            (&json!("unknown"), &json!("DISCONNECTED"))
        );
        assert_eq!(run["runId"], run_id);
        assert_eq!(taken_over(worker, run_id.as_str().unwrap()).await, run);
        assert_eq!(known(worker, "done").await, before, "it keeps its end");
        let list = worker.get("/api/runs", "").await.json();
        assert_eq!(list["runs"].as_array().unwrap().len(), 2, "each once");
    }
    // One worker has the runs, in its ledger and under its name in Redis.
    let admin = caphost_gateway::Identity::anyone();
    let kept = [&one, &two].map(|worker| worker.hub.recent_runs(&admin, usize::MAX).0.len());
    assert!(kept == [2, 0] || kept == [0, 2], "{kept:?}");
    assert_eq!(redis.keys("runs").await.len(), 1);
    let late = cancel_by_api(&two, "running", "late").await.json();
    assert_eq!(late["status"], "queued", "nobody can confirm it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_of_a_worker_that_died_alone_are_taken_over_by_the_next() {
    let redis = Redis::start();
    let mut lost = Process::start(&redis).await;
    let (mut app, mut agent) = lost.session().await;
    called(&mut agent, &mut app, "running").await;
    written(&redis, "\"Running\"").await;
    lost.kill().await;
    let next = Gateway::with(part_of(&redis)).await;
    let run = taken_over(&next, "running").await;
    assert_eq!(run["state"], "unknown");
    // A worker that comes later knows the run as well, although nobody tells it.
    let after = Gateway::with(part_of(&redis)).await;
    met(&[&next, &after]).await;
    assert_eq!(known(&after, "running").await, run);
    assert_eq!(run_of(&after, "never").await.status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_leaves_hands_its_runs_over() {
    let redis = Redis::start();
    let (one, mut two) = pair(&redis).await;
    let mut app = two.app("demo").await;
    let mut agent = agent_on(&two, &mut app).await;
    let done = called(&mut agent, &mut app, "done").await;
    succeed(&mut agent, &mut app, &done).await;
    let before = known(&one, "done").await;
    drop((app, agent));
    two.stop();
    two.stopped().await;
    assert_eq!(taken_over(&one, "done").await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_was_taken_for_dead_has_its_runs_again() {
    let redis = Redis::start();
    let one = Gateway::with(part_of(&redis)).await;
    let hung = Process::start(&redis).await;
    others(&one, 1).await;
    let (mut app, mut agent) = hung.session().await;
    let running = called(&mut agent, &mut app, "running").await;
    written(&redis, "\"Running\"").await;
    hung.signal("-STOP");
    assert_eq!(taken_over(&one, "running").await["state"], "unknown");
    hung.signal("-CONT");
    others(&one, 1).await;
    let its_own = async {
        while known(&one, "running").await["state"] != "running" {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    soon("its own account", its_own).await;
    let list = one.get("/api/runs", "").await.json();
    assert_eq!(list["runs"].as_array().unwrap().len(), 1);
    assert_eq!(list["runs"][0]["state"], "running");
    let (cancelled, _) = tokio::join!(
        cancel_by_api(&one, "running", "enough"),
        confirm(&mut app, &running)
    );
    assert_eq!(cancelled.json()["status"], "cancelled");
    assert_eq!(agent.next().await["payload"]["cancelled"], true);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_its_own_worker_has_forgotten_does_not_come_up_again_as_unknown() {
    let redis = Redis::start();
    let (one, two) = pair(&redis).await;
    let hung = Process::with(&redis, &["--max-retained", "1"]).await;
    others(&one, 2).await;
    others(&two, 2).await;
    let (mut app, mut agent) = hung.session().await;
    let running = called(&mut agent, &mut app, "running").await;
    written(&redis, "\"Running\"").await;
    hung.signal("-STOP");
    assert_eq!(taken_over(&one, "running").await["state"], "unknown");
    hung.signal("-CONT");
    others(&one, 2).await;
    others(&two, 2).await;
    succeed(&mut agent, &mut app, &running).await;
    let completed = async {
        while known(&one, "running").await["state"] != "completed" {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    soon("its own account", completed).await;
    // That worker remembers only one ended run, so the next run replaces this one.
    let next = called(&mut agent, &mut app, "next").await;
    succeed(&mut agent, &mut app, &next).await;
    for worker in [&one, &two] {
        assert_eq!(known(worker, "next").await["state"], "completed");
        // The runs of its earlier id may still count as not taken over.
        let forgotten = async {
            loop {
                let run = run_of(worker, "running").await;
                match run.status {
                    503 => tokio::time::sleep(Duration::from_millis(20)).await,
                    404 => return,
                    _ => panic!("{} {}", run.status, run.body),
                }
            }
        };
        soon("that it is forgotten", forgotten).await;
        let list = worker.get("/api/runs", "").await.json();
        assert_eq!(list["runs"].as_array().unwrap().len(), 1, "{list}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_redis_has_lost_is_written_again() {
    let redis = Redis::start();
    let worker = Gateway::with(part_of(&redis)).await;
    others(&worker, 0).await;
    let mut app = worker.app("demo").await;
    let mut agent = agent_on(&worker, &mut app).await;
    called(&mut agent, &mut app, "running").await;
    written(&redis, "\"Running\"").await;
    redis.cli(&["FLUSHALL"]);
    written(&redis, "\"Running\"").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_written_expires_from_the_beginning() {
    let redis = Redis::start();
    // The lease is not renewed during this test.
    let worker = Gateway::with(patient(&redis, Limits::default())).await;
    others(&worker, 0).await;
    let mut app = worker.app("demo").await;
    let mut agent = agent_on(&worker, &mut app).await;
    called(&mut agent, &mut app, "running").await;
    written(&redis, "\"Running\"").await;
    let runs = redis.keys("runs").await;
    let left: i64 = redis.connection().await.ttl(&runs[0]).await.unwrap();
    assert!(left > 0, "{left}");
}
