//! The Redis that has the keys. Of a Redis Cluster that is one node, as all keys of one prefix lie in
//! one slot: whichever node is asked names it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use redis::aio::MultiplexedConnection;
use redis::{Client, ConnectionAddr, RedisResult};

use super::{ANSWER, connect};

/// How often a node may name another before none is found.
const REDIRECTS: usize = 5;

/// Where the keys are, and where else to ask for them.
#[derive(Debug)]
pub(super) struct Node {
    configured: Client,
    found: Mutex<Found>,
}

#[derive(Debug)]
struct Found {
    client: Client,
    /// The nodes of the Redis Cluster, if it is one: the one that was configured may fail.
    nodes: Vec<String>,
}

impl Node {
    /// The one that is configured, until another is found.
    pub fn new(configured: Client) -> Self {
        let client = configured.clone();
        let nodes = Vec::new();
        let found = Mutex::new(Found { client, nodes });
        Node { configured, found }
    }

    /// The node that was found.
    pub fn client(&self) -> Client {
        self.found().client.clone()
    }

    /// Finds the node that has `key`: a connection to it.
    pub async fn find(&self, key: &str) -> RedisResult<MultiplexedConnection> {
        let mut found = self.follow(self.configured.clone(), key).await;
        let nodes = self.found().nodes.clone();
        for node in &nodes {
            if found.is_ok() {
                break;
            }
            found = self.follow(self.at(node)?, key).await.or(found);
        }
        let (client, mut connection) = found?;
        let mut nodes = redis::cmd("CLUSTER");
        let nodes = nodes.arg("NODES").query_async::<String>(&mut connection);
        // A Redis that is no Redis Cluster answers with an error.
        let nodes = nodes.await.as_deref().map(addresses).unwrap_or_default();
        *self.found() = Found { client, nodes };
        Ok(connection)
    }

    /// Asks a node, and whichever that one names.
    async fn follow(
        &self,
        mut client: Client,
        key: &str,
    ) -> RedisResult<(Client, MultiplexedConnection)> {
        let mut redirects = 0;
        loop {
            let mut connection = connect(&client, ANSWER).await?;
            let mut ask = redis::cmd("EXISTS");
            let asked = ask.arg(key).query_async::<bool>(&mut connection).await;
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

    /// A client for the node with that address, with whatever else is configured.
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
            // A node that does not know its own name leaves it out.
            if !host.is_empty() {
                *known = host.into();
            }
            *known_port = port.parse().unwrap_or(*known_port);
        }
        Client::open(configured.clone().set_addr(at))
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where the nodes are, as far as they are there: `CLUSTER NODES` has a line of each, with
/// `<address>:<port>@<bus port>,<host name>` in the second place and what is wrong with it in the third.
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
        crate::http_client::install_crypto();
        let client = Client::open("rediss://name:secret@one.example:1/2").unwrap();
        let node = Node::new(client);
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
