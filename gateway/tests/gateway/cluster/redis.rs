//! A Redis server for one test.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use redis::AsyncCommands;
use redis::aio::MultiplexedConnection;

/// A Redis server that ends with the test.
pub struct Redis {
    port: u16,
    folder: PathBuf,
    server: Option<Child>,
    options: Vec<String>,
}

impl Redis {
    pub fn start() -> Self {
        Redis::start_with(&[])
    }

    /// A node of a Redis Cluster, without slots.
    pub fn start_node() -> Self {
        let bus = free_port().to_string();
        Redis::start_with(&["--cluster-enabled", "yes", "--cluster-port", &bus])
    }

    /// A Redis that speaks only TLS, with that certificate for `localhost`.
    pub fn start_with_tls(certificate: &str, key: &str) -> Self {
        Redis::start_by(|redis| {
            let write = |name: &str, text: &str| {
                let path = redis.folder.join(name).to_string_lossy().into_owned();
                std::fs::write(&path, text).unwrap();
                path
            };
            let (certificate, key) = (write("cert.pem", certificate), write("key.pem", key));
            let port = redis.port.to_string();
            let tls = [
                "--port",
                "0",
                "--tls-port",
                &port,
                "--tls-auth-clients",
                "no",
            ];
            let files = ["--tls-cert-file", &certificate, "--tls-key-file", &key];
            let trusted = ["--tls-ca-cert-file", &certificate];
            let all = tls.iter().chain(&files).chain(&trusted);
            all.map(|it| it.to_string()).collect()
        })
    }

    /// The file with the certificate of a Redis with TLS.
    pub fn certificate(&self) -> PathBuf {
        self.folder.join("cert.pem")
    }

    fn start_with(options: &[&str]) -> Self {
        Redis::start_by(|_| options.iter().map(|it| it.to_string()).collect())
    }

    fn start_by(options: impl Fn(&Redis) -> Vec<String>) -> Self {
        // The port was free when it was chosen, but another process may take it first.
        for _ in 0..10 {
            let port = free_port();
            let name = format!("caphost-redis-{}-{port}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            std::fs::create_dir_all(&folder).unwrap();
            let mut redis = Redis {
                port,
                folder,
                server: None,
                options: Vec::new(),
            };
            redis.options = options(&redis);
            if redis.try_run() {
                return redis;
            }
        }
        panic!("no port for redis-server");
    }

    pub fn url(&self) -> String {
        format!("redis://{}", self.address())
    }

    pub fn address(&self) -> SocketAddr {
        ([127, 0, 0, 1], self.port).into()
    }

    /// Kills the server. Its data is lost.
    pub fn kill(&mut self) {
        if let Some(mut server) = self.server.take() {
            server.kill().unwrap();
            server.wait().unwrap();
        }
    }

    /// Starts the server again on the same port.
    pub fn run(&mut self) {
        assert!(self.try_run(), "the port of redis-server is taken");
    }

    /// Holds the server up, or lets it go on.
    pub fn signal(&self, name: &str) {
        let pid = self.server.as_ref().unwrap().id().to_string();
        let sent = Command::new("kill").args([name, &pid]).status();
        assert!(sent.unwrap().success());
    }

    pub async fn connection(&self) -> MultiplexedConnection {
        let client = redis::Client::open(self.url()).unwrap();
        client.get_multiplexed_async_connection().await.unwrap()
    }

    /// The keys of that kind: they begin with `kind` after the prefix.
    pub async fn keys(&self, kind: &str) -> Vec<String> {
        let pattern = format!("{{caphost}}:{kind}:*");
        self.connection().await.keys(pattern).await.unwrap()
    }

    /// Runs a command with `redis-cli`.
    pub fn cli(&self, arguments: &[&str]) -> String {
        let port = self.port.to_string();
        let mut command = Command::new("redis-cli");
        command.args(["-h", "127.0.0.1", "-p", &port]);
        let output = command.args(arguments).output();
        let output = output.expect("redis-cli must be installed for these tests");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().into()
    }

    fn try_run(&mut self) -> bool {
        let mut command = Command::new("redis-server");
        command.args(["--bind", "127.0.0.1", "--port", &self.port.to_string()]);
        command.args(["--save", "", "--appendonly", "no", "--dir"]);
        command.arg(&self.folder).args(&self.options);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let server = command.spawn();
        let mut server = server.expect("redis-server must be installed for these tests");
        let said = BufReader::new(server.stdout.take().unwrap());
        self.server = Some(server);
        let mut lines = said.lines().map_while(Result::ok);
        let ready = lines.any(|line| line.contains("Ready to accept connections"));
        if !ready {
            self.kill();
            return false;
        }
        // The later output is read, so that it does not hold the server up.
        std::thread::spawn(move || lines.for_each(drop));
        true
    }
}

fn free_port() -> u16 {
    let picked = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    picked.local_addr().unwrap().port()
}

impl Drop for Redis {
    fn drop(&mut self) {
        if let Some(mut server) = self.server.take() {
            let _ = server.kill();
            let _ = server.wait();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
