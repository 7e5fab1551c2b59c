//! A simulated worker that sends messages which no worker of this version would send.

use std::collections::VecDeque;

use ::redis::aio::MultiplexedConnection;
use ::redis::streams::StreamReadReply;
use serde_json::{Value, json};

use super::*;

/// A worker whose frames are packed by hand, with one other worker.
pub struct Simulated {
    id: String,
    other: String,
    connection: MultiplexedConnection,
    sent: u64,
    taken: u64,
    read: String,
    heard: VecDeque<(Value, String)>,
    is_dead: bool,
}

impl Simulated {
    /// Joins the cluster of `gateway`, which is the only other worker.
    pub async fn join(redis: &Redis, gateway: &Gateway) -> Self {
        Simulated::beside(redis, gateway, &[gateway]).await
    }

    /// Joins the cluster of `workers`, and talks to `gateway`.
    pub async fn beside(redis: &Redis, gateway: &Gateway, workers: &[&Gateway]) -> Self {
        let mut connection = redis.connection().await;
        let id = format!("{}-0", uuid::Uuid::new_v4().simple());
        let mut join = ::redis::pipe();
        let key = |kind: &str| format!("{{caphost}}:{kind}:{id}");
        join.cmd("XADD").arg(key("to")).arg("*").arg("o").arg("");
        join.cmd("SET").arg(key("worker")).arg("simulated");
        join.cmd("ZADD").arg("{caphost}:directory").arg(0).arg(&id);
        join.exec_async(&mut connection).await.unwrap();
        let mut simulated = Simulated {
            id,
            other: gateway.hub.cluster().unwrap().me().to_string(),
            connection,
            sent: 0,
            taken: 0,
            read: "0".into(),
            heard: VecDeque::new(),
            is_dead: false,
        };
        // A worker finds another by its first frame, before it reads the directory again.
        simulated.send_bytes(b"").await;
        met_as(workers, workers.len()).await;
        simulated
    }

    /// The id of a run that this worker may have.
    pub fn run(&self) -> String {
        let process = &self.id[..12];
        format!("{}-{}-8ca9-b000-000000000001", &process[..8], &process[8..])
    }

    /// Sends messages in one frame.
    pub async fn send(&mut self, parcels: &[(Value, &str)]) {
        let mut body = Vec::new();
        for (message, text) in parcels {
            let message = message.to_string();
            body.extend((message.len() as u32).to_be_bytes());
            body.extend((text.len() as u32).to_be_bytes());
            body.extend(message.bytes().chain(text.bytes()));
        }
        self.send_bytes(&body).await;
    }

    /// Sends a frame with these bytes.
    pub async fn send_bytes(&mut self, body: &[u8]) {
        self.sent += 1;
        let mut add = ::redis::cmd("XADD");
        add.arg(format!("{{caphost}}:to:{}", self.other)).arg("*");
        add.arg("f").arg(&self.id).arg("n").arg(self.sent);
        add.arg("m").arg(body);
        add.exec_async(&mut self.connection).await.unwrap();
    }

    /// Loses the next frame.
    pub fn lose(&mut self) {
        self.sent += 1;
    }

    /// Waits until the other worker says that this worker counts as dead.
    pub async fn taken_for_dead(&mut self) {
        soon("the news of its death", async {
            while !self.is_dead {
                self.read_frames().await;
            }
        })
        .await;
    }

    /// The next message and its text.
    pub async fn next(&mut self) -> (Value, String) {
        soon("a message for the simulated worker", async {
            loop {
                if let Some(heard) = self.heard.pop_front() {
                    return heard;
                }
                self.read_frames().await;
            }
        })
        .await
    }

    /// The next message of that kind: its fields and its text. Skips other messages.
    pub async fn next_of(&mut self, kind: &str) -> (Value, String) {
        loop {
            let (message, text) = self.next().await;
            if let Some(fields) = message.get(kind) {
                return (fields.clone(), text);
            }
        }
    }

    async fn read_frames(&mut self) {
        let mut read = ::redis::cmd("XREAD");
        read.arg("COUNT").arg(100).arg("STREAMS");
        read.arg(format!("{{caphost}}:to:{}", self.id))
            .arg(&self.read);
        let reply: Option<StreamReadReply> = read.query_async(&mut self.connection).await.unwrap();
        let entries = reply.into_iter().flat_map(|reply| reply.keys);
        let entries: Vec<_> = entries.flat_map(|key| key.ids).collect();
        if entries.is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        for entry in entries {
            self.read.clone_from(&entry.id);
            self.is_dead |= entry.map.contains_key("d");
            if entry.get::<String>("f").as_ref() != Some(&self.other) {
                continue;
            }
            let number: u64 = entry.get("n").unwrap();
            if number == self.taken + 1 {
                self.taken = number;
                self.take(&entry.get::<Vec<u8>>("m").unwrap());
            }
        }
    }

    fn take(&mut self, mut body: &[u8]) {
        let length = |bytes: &[u8]| u32::from_be_bytes(bytes[..4].try_into().unwrap()) as usize;
        while !body.is_empty() {
            let (head, text) = (length(body), length(&body[4..]));
            let message = serde_json::from_slice(&body[8..8 + head]).unwrap();
            let text_of = String::from_utf8(body[8 + head..8 + head + text].into()).unwrap();
            self.heard.push_back((message, text_of));
            body = &body[8 + head + text..];
        }
    }
}

/// Waits until each worker knows `count` others.
async fn met_as(workers: &[&Gateway], count: usize) {
    for worker in workers {
        others(worker, count).await;
    }
}

/// The first message of a worker.
pub fn hello(name: &str) -> Value {
    json!({ "Hello": { "name": name, "version": 2 } })
}

/// A worker's message about an app that it holds.
pub fn app(key: u64, id: &str) -> Value {
    let info = json!({ "id": id, "name": "Demo", "version": "1" });
    let offer = json!({ "app": info, "capabilities": [{ "name": "a.b" }] });
    let instance = json!({ "id": key.to_string(), "owner": "anyone", "since": 1 });
    json!({ "App": { "app": key, "offer": offer, "instance": instance } })
}
