//! Workers that are killed, leave or hang, and what the others say of their runs.

use std::process::Stdio;

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

/// Waits until the worker says that a run is lost. Until then, no answer may say that there is no such run.
async fn lost(worker: &Gateway, id: &str) -> String {
    let asking = async {
        loop {
            let run = run_of(worker, id).await;
            match run.status {
                503 => tokio::time::sleep(Duration::from_millis(5)).await,
                200 if run.json()["state"] == "running" => {}
                410 => {
                    let error = run.json()["error"].clone();
                    assert_eq!(error["code"], "DISCONNECTED");
                    return error["message"].as_str().unwrap().into();
                }
                _ => panic!("{} {}", run.status, run.body),
            }
        }
    };
    soon("the loss", asking).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_the_runs_of_a_worker_that_is_killed_all_say_that_the_outcome_is_unknown() {
    let redis = Redis::start();
    let (one, two) = pair(&redis).await;
    let mut killed = Process::start(&redis).await;
    others(&one, 2).await;
    others(&two, 2).await;
    let (mut app, mut agent) = killed.session().await;
    let done = called(&mut agent, &mut app, "done").await;
    succeed(&mut agent, &mut app, &done).await;
    called(&mut agent, &mut app, "running").await;
    let ids = ["done", "running"].map(async |name| {
        let run = known(&one, name).await;
        run["runId"].as_str().unwrap().to_string()
    });
    let [done, running] = ids;
    let (done, running) = (done.await, running.await);
    assert_eq!(known(&two, &running).await["state"], "running");
    killed.kill().await;

    let next = Gateway::with(part_of(&redis)).await;
    for worker in [&one, &two, &next] {
        for id in [&done, &running] {
            let said = lost(worker, id).await;
            assert!(said.starts_with("The worker of this run is gone"), "{said}");
            let path = format!("/cancellation/status/{id}");
            let status = worker.get(&path, "").await;
            assert_eq!(status.status, 410);
            assert!(
                status.json()["detail"]
                    .as_str()
                    .unwrap()
                    .contains("unknown")
            );
            let cancels = [
                cancel_by_api(worker, id, "late").await,
                worker.post(&format!("/api/runs/{id}/cancel"), "", "").await,
            ];
            assert_eq!(cancels.map(|it| it.status), [410, 410]);
        }
        // An id that the caller has chosen does not name the worker.
        let said = lost(worker, "running").await;
        assert!(
            said.contains("It may have been on a worker that is gone"),
            "{said}"
        );
        let late = cancel_by_api(worker, "running", "late").await.json();
        assert_eq!(late["status"], "queued", "nobody can confirm it");
        let list = worker.get("/api/runs", "").await.json();
        assert_eq!(list["runs"], json!([]));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_the_runs_of_a_worker_that_has_left_the_others_say_that_it_is_gone() {
    let redis = Redis::start();
    let (one, mut two) = pair(&redis).await;
    let mut app = two.app("demo").await;
    let mut agent = agent_on(&two, &mut app).await;
    let done = called(&mut agent, &mut app, "done").await;
    succeed(&mut agent, &mut app, &done).await;
    let run = known(&one, "done").await["runId"].clone();
    drop((app, agent));
    two.stop();
    two.stopped().await;
    lost(&one, run.as_str().unwrap()).await;
    lost(&one, "done").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_was_taken_for_dead_has_its_runs_again() {
    let redis = Redis::start();
    let one = Gateway::with(part_of(&redis)).await;
    let hung = Process::start(&redis).await;
    others(&one, 1).await;
    let (mut app, mut agent) = hung.session().await;
    let running = called(&mut agent, &mut app, "running").await;
    let run = known(&one, "running").await["runId"].clone();
    let run = run.as_str().unwrap();
    hung.signal("-STOP");
    lost(&one, run).await;
    hung.signal("-CONT");
    others(&one, 1).await;
    for id in ["running", run] {
        assert_eq!(known(&one, id).await["state"], "running");
    }
    let list = one.get("/api/runs", "").await.json();
    assert_eq!(list["runs"].as_array().unwrap().len(), 1);
    let (cancelled, _) = tokio::join!(
        cancel_by_api(&one, run, "enough"),
        confirm(&mut app, &running)
    );
    assert_eq!(cancelled.json()["status"], "cancelled");
    assert_eq!(agent.next().await["payload"]["cancelled"], true);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_its_own_worker_has_forgotten_is_not_found_by_any() {
    let redis = Redis::start();
    let one = Gateway::with(part_of(&redis)).await;
    let mut forgetful = part_of(&redis);
    forgetful.limits.retention.count = 1;
    let two = Gateway::with(forgetful).await;
    met(&[&one, &two]).await;
    let mut app = two.app("demo").await;
    let mut agent = agent_on(&two, &mut app).await;
    let first = called(&mut agent, &mut app, "first").await;
    succeed(&mut agent, &mut app, &first).await;
    let run = known(&one, "first").await["runId"].clone();
    let next = called(&mut agent, &mut app, "next").await;
    succeed(&mut agent, &mut app, &next).await;
    for worker in [&one, &two] {
        assert_eq!(run_of(worker, run.as_str().unwrap()).await.status, 404);
        assert_eq!(run_of(worker, "first").await.status, 404);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_id_is_asked_only_of_the_worker_that_it_names() {
    let redis = Redis::start();
    let (one, two) = pair(&redis).await;
    let mut app = two.app("demo").await;
    let mut agent = agent_on(&two, &mut app).await;
    let running = called(&mut agent, &mut app, "c").await;
    let run = known(&one, "c").await["runId"].clone();
    let run = run.as_str().unwrap();
    let mut third = super::simulated::Simulated::beside(&redis, &one, &[&one, &two]).await;
    third.send(&[(super::simulated::hello("third"), "")]).await;
    assert_eq!(known(&one, run).await["state"], "running");
    let path = format!("/api/runs/{run}/cancel");
    let (cancelled, _) = tokio::join!(one.post(&path, "", ""), confirm(&mut app, &running));
    assert_eq!(cancelled.json()["cancelled"], true);
    assert_eq!(run_of(&two, run).await.status, 200);
    one.hub.cluster().unwrap().tell_all(marker());
    loop {
        let (message, _) = third.next().await;
        assert!(message.get("Ask").is_none(), "{message}");
        if message.get("Tell").is_some() {
            break;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_that_was_started_again_says_that_its_former_runs_are_lost() {
    let run = {
        let gateway = Gateway::start().await;
        let mut app = gateway.app("demo").await;
        let mut agent = agent_on(&gateway, &mut app).await;
        called(&mut agent, &mut app, "c").await;
        known(&gateway, "c").await["runId"].clone()
    };
    let again = Gateway::start().await;
    lost(&again, run.as_str().unwrap()).await;
    assert_eq!(run_of(&again, "c").await.status, 404);
}
