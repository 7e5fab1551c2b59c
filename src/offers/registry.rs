//! The capabilities a host offers.

use std::cell::RefCell;
use std::rc::Rc;

use crate::call::{Millis, Queue};

/// How a handler ends once its call must stop, and how long the host waits for that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ending {
    /// A stop ends the handler at once, like a Rust future.
    AtOnce,
    /// The handler can only be told. If it has not ended after the grace, it is abandoned.
    Told {
        /// How long the host waits for the handler to end.
        grace: Millis,
    },
    /// The handler runs where it can be ended from outside, for example in a worker. If it was told
    /// and has not ended after the grace, it is ended by force. It is abandoned only if no proof of
    /// that comes in time.
    Forced {
        /// How long the host waits before it ends the handler by force.
        grace: Millis,
        /// How long the host then waits for the proof.
        proof: Millis,
    },
}

/// The parts of a capability that the core must know. The core only passes on the full ABP
/// descriptor, `document`.
#[derive(Clone, Debug)]
pub struct Descriptor<P> {
    /// Dot-notation name, unique in its host.
    pub name: Rc<str>,
    /// How many calls of the capability may run at once; the others wait. `None` for any number.
    pub concurrency: Option<usize>,
    /// Whether the capability can be used right now.
    pub available: bool,
    /// Names of capabilities that may serve instead.
    pub alternatives: Vec<String>,
    /// How its handler ends when its call must stop.
    pub ending: Ending,
    /// Whether each call waits until a person allows it.
    pub confirm: bool,
    /// Whether parameters must pass the shell's check before a call is queued.
    pub checked: bool,
    /// The `Capability` object of ABP 0.1.
    pub document: P,
}

/// A capability in the registry, shared with its calls: calls that were accepted before it was
/// unregistered still run.
#[derive(Debug)]
pub struct Registered<P, H> {
    /// The description for peers.
    pub descriptor: Descriptor<P>,
    /// The code that runs the capability; opaque to the core.
    pub handler: H,
    pub(crate) slots: RefCell<Queue>,
}

/// Capabilities by name.
#[derive(Debug)]
pub struct Registry<P, H> {
    by_name: Vec<Rc<Registered<P, H>>>,
}

impl<P, H> Default for Registry<P, H> {
    fn default() -> Self {
        Registry {
            by_name: Vec::new(),
        }
    }
}

impl<P, H> Registry<P, H> {
    fn find(&self, name: &str) -> Result<usize, usize> {
        self.by_name
            .binary_search_by(|it| (*it.descriptor.name).cmp(name))
    }

    /// Adds a capability. False if the name is taken.
    pub fn register(&mut self, descriptor: Descriptor<P>, handler: H) -> bool {
        let Err(index) = self.find(&descriptor.name) else {
            return false;
        };
        let registered = Registered {
            slots: RefCell::new(Queue::new(descriptor.concurrency)),
            handler,
            descriptor,
        };
        self.by_name.insert(index, Rc::new(registered));
        true
    }

    /// Removes a capability. False if there is no capability of that name.
    pub fn unregister(&mut self, name: &str) -> bool {
        let Ok(index) = self.find(name) else {
            return false;
        };
        self.by_name.remove(index);
        true
    }

    /// The capability of that name.
    pub fn get(&self, name: &str) -> Option<&Rc<Registered<P, H>>> {
        self.by_name.get(self.find(name).ok()?)
    }

    /// All capabilities, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Rc<Registered<P, H>>> {
        self.by_name.iter()
    }
}
