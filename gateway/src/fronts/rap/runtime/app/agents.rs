//! The agents on one tool server, and their threads.

use std::collections::{HashMap, VecDeque};

use crate::fronts::rap::names::Identifier;
use caphost::session::ConnectionId;

/// One agent of the tool server.
pub struct Agent {
    /// Its name on the broker's wire.
    pub handle: String,
    /// The thread of its session, while it has one.
    pub thread: Option<Identifier>,
    /// Whether it takes notifications.
    pub notifications: bool,
}

/// The agents of the tool server.
#[derive(Default)]
pub struct Agents {
    connections: HashMap<String, ConnectionId>,
    agents: HashMap<ConnectionId, Agent>,
    /// The names of the agents that left last: they are still told when an abandoned run ends.
    left: VecDeque<(ConnectionId, String)>,
}

/// How many agents that have left are remembered.
const LEFT: usize = 1_024;

impl Agents {
    /// The connection of the agent with that name; `connect` makes one for an agent that is new.
    pub fn connection(
        &mut self,
        handle: &str,
        connect: impl FnOnce() -> ConnectionId,
    ) -> ConnectionId {
        if let Some(connection) = self.connections.get(handle) {
            return *connection;
        }
        let connection = connect();
        let agent = Agent {
            handle: handle.to_string(),
            thread: None,
            notifications: false,
        };
        self.connections.insert(handle.to_string(), connection);
        self.agents.insert(connection, agent);
        connection
    }

    /// The connection of the agent with that name, if it has said anything.
    pub fn known(&self, handle: &str) -> Option<ConnectionId> {
        self.connections.get(handle).copied()
    }

    /// The agent on a connection.
    pub fn get(&self, connection: ConnectionId) -> Option<&Agent> {
        self.agents.get(&connection)
    }

    /// The agent on a connection.
    pub fn get_mut(&mut self, connection: ConnectionId) -> Option<&mut Agent> {
        self.agents.get_mut(&connection)
    }

    /// All connections.
    pub fn all(&self) -> Vec<ConnectionId> {
        self.agents.keys().copied().collect()
    }

    /// Forgets an agent, but for its name.
    pub fn remove(&mut self, connection: ConnectionId) -> Option<Agent> {
        let agent = self.agents.remove(&connection)?;
        self.connections.remove(&agent.handle);
        if self.left.len() >= LEFT {
            self.left.pop_front();
        }
        self.left.push_back((connection, agent.handle.clone()));
        Some(agent)
    }

    /// The name of the agent that is, or was, on a connection.
    pub fn handle(&self, connection: ConnectionId) -> Option<&str> {
        let left = || self.left.iter().find(|(it, _)| *it == connection);
        match self.agents.get(&connection) {
            Some(agent) => Some(&agent.handle),
            None => left().map(|(_, handle)| &**handle),
        }
    }
}
