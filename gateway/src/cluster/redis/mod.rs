//! Redis: its keys, and the connections to it.
//!
//! | key | what it holds |
//! |---|---|
//! | `<prefix>:workers` | a set of the ids of workers |
//! | `<prefix>:worker:<id>` | a string that expires: the worker's lease |
//! | `<prefix>:to:<id>` | a stream: frames for that worker |
//! | `<prefix>:runs:<id>` | a hash: that worker's runs as JSON, by their ids |
//! | `<prefix>:adopts:<id>` | a string that expires: the worker that takes over the runs of one that is gone |
//! | `<prefix>:mcp:<id>` | a string that expires: an MCP session as JSON, empty once it has ended |
//! | `<prefix>:rap:<…>` | a string that expires: who has taken a RAP invocation, as JSON |

mod adopting;
mod channel;
mod leases;
mod node;
mod reading;
mod records;
mod session;
mod writing;

use std::time::Duration;

use ::redis::aio::{MultiplexedConnection, PubSub};
use ::redis::{AsyncConnectionConfig, Client, RedisError, RedisResult};
use tokio::time::timeout;

use super::workers::WorkerId;
use node::Node;

pub(super) use session::run;

/// For a connection to be made, or a command to be answered.
const ANSWER: Duration = Duration::from_millis(1_500);
/// For which a read waits in Redis for something to come.
const BLOCK: Duration = Duration::from_secs(1);

/// Where Redis is, and what the keys begin with.
#[derive(Debug)]
pub(super) struct Redis {
    node: Node,
    prefix: String,
}

impl Redis {
    /// An error for what is no URL of Redis; nothing is connected yet.
    pub fn new(url: &str, prefix: &str) -> Result<Redis, String> {
        crate::http_client::install_crypto();
        let client = Client::open(url).map_err(|error| error.to_string())?;
        // Everything of one cluster lies in one slot of a Redis Cluster.
        let prefix = format!("{{{prefix}}}");
        let node = Node::new(client);
        Ok(Redis { node, prefix })
    }

    /// Where Redis is, without its password.
    pub fn address(&self) -> String {
        let client = self.node.client();
        client.get_connection_info().addr().to_string()
    }

    pub fn workers(&self) -> String {
        format!("{}:workers", self.prefix)
    }

    pub fn lease(&self, worker: WorkerId) -> String {
        format!("{}:worker:{worker}", self.prefix)
    }

    pub fn stream(&self, worker: WorkerId) -> String {
        format!("{}:to:{worker}", self.prefix)
    }

    pub fn runs(&self, worker: WorkerId) -> String {
        format!("{}:runs:{worker}", self.prefix)
    }

    pub fn adoption(&self, worker: WorkerId) -> String {
        format!("{}:adopts:{worker}", self.prefix)
    }

    pub fn fact(&self, name: &str) -> String {
        format!("{}:{name}", self.prefix)
    }

    /// Finds out which Redis has the keys: a connection to it, for commands that are answered at once.
    pub async fn find(&self) -> RedisResult<MultiplexedConnection> {
        self.node.find(&self.workers()).await
    }

    /// Another connection for commands that are answered at once.
    pub async fn connect(&self) -> RedisResult<MultiplexedConnection> {
        connect(&self.node.client(), ANSWER).await
    }

    /// A connection for reads that wait.
    async fn connect_to_wait(&self) -> RedisResult<MultiplexedConnection> {
        connect(&self.node.client(), BLOCK + ANSWER).await
    }

    /// A connection to listen on.
    pub async fn listen(&self) -> RedisResult<PubSub> {
        let client = self.node.client();
        let connected = timeout(ANSWER, client.get_async_pubsub()).await;
        connected.unwrap_or_else(|_| Err(timed_out()))
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

fn timed_out() -> RedisError {
    std::io::Error::from(std::io::ErrorKind::TimedOut).into()
}
