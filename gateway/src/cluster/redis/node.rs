//! The Redis node that has the keys, the names of the keys, and connections to the node.
//!
//! | key | value |
//! |---|---|
//! | `<prefix>:directory` | a sorted set of the ids of workers, with the times of their last entries |
//! | `<prefix>:worker:<id>` | a string that expires: the worker's lease |
//! | `<prefix>:to:<id>` | a stream: frames for that worker |
//! | `<prefix>:session-key` | a string: the random key of MCP sessions, if none is configured |
//! | `<prefix>:mcp:<number>` | an empty string that expires: an MCP session that its client has ended |
//! | `<prefix>:rap:<…>` | a string that expires: the worker that has taken a RAP invocation, as JSON |
//!
//! In a Redis Cluster all keys are on one node, because all keys with the same prefix are in one slot. Any
//! other node names that node.

use std::time::Duration;

use parking_lot::Mutex;
use redis::aio::{MultiplexedConnection, PubSub};
use redis::{
    AsyncCommands, AsyncConnectionConfig, Client, ConnectionAddr, RedisError, RedisResult,
};
use tokio::time::timeout;

use crate::cluster::WorkerId;

/// How long connecting or the answer to a command may take.
pub(super) const ANSWER: Duration = Duration::from_millis(1_500);
/// How long a read waits in Redis for entries.
pub(super) const BLOCK: Duration = Duration::from_secs(4);
/// How long the reply to a read may take. A reply may contain 32 frames of 256 KiB, or some larger ones, so a
/// connection with 10 Mbit/s is fast enough. The renewal of the lease notices a Redis that hangs sooner. Only
/// a connection that is lost without a sign takes this long.
pub(super) const READ: Duration = Duration::from_secs(8);
/// How many times one node may redirect to another before the search fails.
const REDIRECTS: usize = 5;

/// The node with the keys, the other nodes to ask, and the prefix of the keys.
#[derive(Debug)]
pub struct Node {
    configured: Client,
    found: Mutex<Found>,
    prefix: String,
}

#[derive(Debug)]
struct Found {
    client: Client,
    /// The nodes of the Redis Cluster, if there is one. The configured node may fail.
    nodes: Vec<String>,
}

impl Node {
    /// Returns an error if the URL of Redis is invalid. Does not connect.
    pub fn new(url: &str, prefix: &str) -> Result<Self, String> {
        crate::http_client::install_crypto();
        let configured = Client::open(url).map_err(|error| error.to_string())?;
        let found = Found {
            client: configured.clone(),
            nodes: Vec::new(),
        };
        Ok(Node {
            configured,
            found: Mutex::new(found),
            // In a Redis Cluster the braces put all keys into one slot.
            prefix: format!("{{{prefix}}}"),
        })
    }

    /// The address of Redis, without its password.
    pub fn address(&self) -> String {
        let client = self.client();
        client.get_connection_info().addr().to_string()
    }

    pub fn directory(&self) -> String {
        self.key("directory")
    }

    pub fn lease(&self, worker: WorkerId) -> String {
        self.key(&format!("worker:{worker}"))
    }

    pub fn stream(&self, worker: WorkerId) -> String {
        self.key(&format!("to:{worker}"))
    }

    /// The key of a fact or of anything else.
    pub fn key(&self, name: &str) -> String {
        format!("{}:{name}", self.prefix)
    }

    /// Finds the node that has the keys. Returns a connection to the node, for commands that are answered at
    /// once.
    pub async fn find(&self) -> RedisResult<MultiplexedConnection> {
        let mut found = self.follow(self.configured.clone()).await;
        let nodes = self.found.lock().nodes.clone();
        for node in &nodes {
            if found.is_ok() {
                break;
            }
            found = self.follow(self.at(node)?).await.or(found);
        }
        let (client, mut connection) = found?;
        let mut nodes = redis::cmd("CLUSTER");
        let nodes = nodes.arg("NODES").query_async::<String>(&mut connection);
        // A Redis that is not a Redis Cluster answers with an error.
        let nodes = nodes.await.as_deref().map(addresses).unwrap_or_default();
        *self.found.lock() = Found { client, nodes };
        Ok(connection)
    }

    /// Another connection for commands whose answers may take `longer` than usual.
    pub async fn connect_for(&self, longer: Duration) -> RedisResult<MultiplexedConnection> {
        connect(&self.client(), ANSWER + longer).await
    }

    /// A connection for listening.
    pub async fn listen(&self) -> RedisResult<PubSub> {
        let client = self.client();
        in_time(client.get_async_pubsub()).await
    }

    /// Asks a node, and follows its redirects.
    async fn follow(&self, mut client: Client) -> RedisResult<(Client, MultiplexedConnection)> {
        let mut redirects = 0;
        loop {
            let mut connection = connect(&client, ANSWER).await?;
            let asked = connection.exists::<_, bool>(self.directory()).await;
            let Err(error) = asked else {
                return Ok((client, connection));
            };
            redirects += 1;
            client = match error.redirect_node() {
                Some((named, _)) if redirects <= REDIRECTS => self.at(named)?,
                _ => return Err(error),
            };
        }
    }

    /// A client for the node with that address. Everything else is as configured.
    fn at(&self, address: &str) -> RedisResult<Client> {
        let configured = self.configured.get_connection_info();
        let (host, port) = address.rsplit_once(':').unwrap_or((address, ""));
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let mut at = configured.addr().clone();
        if let ConnectionAddr::Tcp(known, known_port)
        | ConnectionAddr::TcpTls {
            host: known,
            port: known_port,
            ..
        } = &mut at
        {
            // A node that does not know its own name leaves the name out.
            if !host.is_empty() {
                *known = host.into();
            }
            *known_port = port.parse().unwrap_or(*known_port);
        }
        Client::open(configured.clone().set_addr(at))
    }

    fn client(&self) -> Client {
        self.found.lock().client.clone()
    }
}

async fn connect(client: &Client, answer: Duration) -> RedisResult<MultiplexedConnection> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(ANSWER))
        .set_response_timeout(Some(answer));
    client
        .get_multiplexed_async_connection_with_config(&config)
        .await
}

/// Waits for an answer on a connection that has no timeout of its own.
pub async fn in_time<T>(answer: impl Future<Output = RedisResult<T>>) -> RedisResult<T> {
    let timed_out = || RedisError::from(std::io::Error::from(std::io::ErrorKind::TimedOut));
    let answered = timeout(ANSWER, answer).await;
    answered.unwrap_or_else(|_| Err(timed_out()))
}

/// The addresses of the nodes that are not known to have failed. `CLUSTER NODES` has a line for each node,
/// with `<address>:<port>@<bus port>,<host name>` in the second field and flags in the third.
fn addresses(nodes: &str) -> Vec<String> {
    let read = |line: &str| {
        let mut fields = line.split(' ').skip(1);
        let (address, flags) = (fields.next()?, fields.next()?);
        if flags
            .split(',')
            .any(|flag| matches!(flag, "fail" | "noaddr" | "handshake"))
        {
            return None;
        }
        let (address, rest) = address.split_once('@')?;
        let (host, port) = address.rsplit_once(':')?;
        let name = rest.split(',').nth(1).filter(|name| !name.is_empty());
        Some(format!("{}:{port}", name.unwrap_or(host)))
    };
    nodes.lines().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nodes_of_a_redis_cluster_are_read() {
        let nodes = "07c3 127.0.0.1:30004@31004,,shard-id=6 slave e7d1 0 142 4 connected\n\
            67ed 127.0.0.1:30002@31002,redis-2.example master - 0 142 2 connected 5461-10922\n\
            292f 127.0.0.1:30003@31003 master,fail - 0 142 3 connected 10923-16383\n\
            6ec2 :0@0 master,noaddr - 0 142 3 disconnected\n\
            e7d1 ::1:30001@31001 myself,master - 0 0 1 connected 0-5460\n";
        let expected = ["127.0.0.1:30004", "redis-2.example:30002", "::1:30001"];
        assert_eq!(addresses(nodes), expected);
        assert!(addresses("").is_empty());
    }

    #[test]
    fn another_node_is_asked_as_the_configured_one() {
        let node = Node::new("rediss://name:secret@one.example:1/2", "caphost").unwrap();
        for (named, at) in [
            ("10.0.0.2:7", "10.0.0.2:7"),
            (":7", "one.example:7"),
            ("::1:7", "::1:7"),
        ] {
            let client = node.at(named).unwrap();
            let info = client.get_connection_info();
            assert_eq!(info.addr().to_string(), at);
            assert!(matches!(info.addr(), ConnectionAddr::TcpTls { .. }));
            assert_eq!(info.redis_settings().username(), Some("name"));
        }
    }
}
