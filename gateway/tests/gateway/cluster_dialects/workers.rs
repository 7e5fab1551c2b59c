//! Two gateways in this process, with their own Redis.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use caphost_gateway::{ClusterOptions, Config};
use redis::aio::MultiplexedConnection;

use crate::rap_runtime::until;
use crate::support::*;

/// The users of Redis, one for each worker.
const USERS: [&str; 3] = ["one", "two", "three"];

/// A Redis server on a socket in its own folder. Dropping the value removes both.
pub struct Redis {
    server: Child,
    folder: PathBuf,
}

impl Redis {
    pub async fn start() -> Self {
        let folder = std::env::temp_dir().join(format!("caphost-redis-{}", uuid::Uuid::new_v4()));
        std::fs::create_dir(&folder).unwrap();
        let server = serve(&folder).await;
        Redis { server, folder }
    }

    /// Starts the server again, without data.
    pub async fn run(&mut self) {
        self.server = serve(&self.folder).await;
    }

    /// The options of a worker that connects as `user`, which is one of [`USERS`].
    pub fn options(&self, user: &str) -> ClusterOptions {
        let url = format!("{}?user={user}&pass=any", self.url());
        ClusterOptions {
            redis: Some(url),
            ..ClusterOptions::default()
        }
    }

    /// Locks a user out until it is let in again.
    pub async fn shut_out(&self, user: &str) {
        let mut shut_out = redis::pipe();
        shut_out.cmd("ACL").arg(&["SETUSER", user, "off"]).ignore();
        shut_out.cmd("CLIENT").arg(&["KILL", "USER", user]).ignore();
        let mut connection = self.connection().await;
        shut_out.exec_async(&mut connection).await.unwrap();
    }

    pub async fn let_in(&self, user: &str) {
        let mut let_in = redis::cmd("ACL");
        let let_in = let_in.arg(&["SETUSER", user, "on"]);
        let mut connection = self.connection().await;
        let_in.exec_async(&mut connection).await.unwrap();
    }

    pub async fn connection(&self) -> MultiplexedConnection {
        let client = redis::Client::open(self.url()).unwrap();
        client.get_multiplexed_async_connection().await.unwrap()
    }

    fn url(&self) -> String {
        format!("redis+unix://{}", self.folder.join("socket").display())
    }

    /// Holds the server up with `-STOP`, or lets it go on with `-CONT`.
    pub fn signal(&self, name: &str) {
        let pid = self.server.id().to_string();
        let sent = Command::new("kill").args([name, &pid]).status();
        assert!(sent.unwrap().success());
    }

    pub fn stop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

async fn serve(folder: &Path) -> Child {
    let socket = folder.join("socket");
    let mut command = Command::new("redis-server");
    for user in USERS {
        command.args(["--user", user, "on", "nopass", "~*", "&*", "+@all"]);
    }
    let server = command
        .args(["--port", "0", "--save", "", "--unixsocket"])
        .arg(&socket)
        .arg("--dir")
        .arg(folder)
        .stdout(Stdio::null())
        .spawn()
        .expect("these tests need `redis-server` in the PATH");
    let listens = || std::os::unix::net::UnixStream::connect(&socket).is_ok();
    until("Redis", listens).await;
    server
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.stop();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Two workers that know each other.
pub struct Workers {
    pub one: Gateway,
    pub two: Gateway,
    pub redis: Redis,
}

impl Workers {
    pub async fn start() -> Self {
        Self::with(config, config).await
    }

    pub async fn with(one: impl FnOnce() -> Config, two: impl FnOnce() -> Config) -> Self {
        Self::made(one, two, |options| options).await
    }

    /// The same workers with other options of the cluster.
    pub async fn adjusted(adjust: impl Fn(ClusterOptions) -> ClusterOptions) -> Self {
        Self::made(config, config, adjust).await
    }

    async fn made(
        one: impl FnOnce() -> Config,
        two: impl FnOnce() -> Config,
        adjust: impl Fn(ClusterOptions) -> ClusterOptions,
    ) -> Self {
        let redis = Redis::start().await;
        let worker = |user: &str, config: Config| {
            Gateway::with(Config {
                cluster: adjust(redis.options(user)),
                // The worker tells the others that it leaves.
                drain: Duration::from_millis(100),
                ..config
            })
        };
        let (one, two) = (worker("one", one()).await, worker("two", two()).await);
        for gateway in [&one, &two] {
            let cluster = gateway.hub.cluster().unwrap();
            until("the other worker", || cluster.standing().others == 1).await;
        }
        Workers { one, two, redis }
    }

    /// Waits until both workers have that app.
    pub async fn both_have(&self, app: &str) {
        for gateway in [&self.one, &self.two] {
            until("the app", || gateway.hub.offer(Some(app)).is_ok()).await;
        }
    }
}
