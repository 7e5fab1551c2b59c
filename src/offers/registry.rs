//! The capabilities a host offers.

use std::cell::RefCell;
use std::rc::Rc;

use crate::call::{Millis, Queue};

/// How a handler comes to its end once its call is to stop, and how long that is waited for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ending {
    /// A stop ends it at once, as it does a Rust future.
    AtOnce,
    /// It can only be told. What has not ended after the grace is abandoned.
    Told {
        /// How long it is waited for.
        grace: Millis,
    },
    /// It runs where it can be ended from outside, such as in a worker. What was told and has not
    /// ended after the grace is ended so, and is abandoned only if no proof of that comes in time.
    Forced {
        /// How long it is waited for before it is ended.
        grace: Millis,
        /// How long the proof is waited for after that.
        proof: Millis,
    },
}

/// What the core must know of a capability. The full ABP descriptor is `document`, which it only
/// passes on.
#[derive(Clone, Debug)]
pub struct Descriptor<P> {
    /// Dot-notation name, unique in its host.
    pub name: Rc<str>,
    /// How many calls of it may run at once; the others wait. `None` for any number.
    pub concurrency: Option<usize>,
    /// Whether it can be used right now.
    pub available: bool,
    /// Names of capabilities that may serve instead.
    pub alternatives: Vec<String>,
    /// How its handler comes to its end when its call is to stop.
    pub ending: Ending,
    /// Whether parameters must pass the shell's check before a call is queued.
    pub checked: bool,
    /// The `Capability` object of ABP 0.1.
    pub document: P,
}

/// A capability in the registry, shared with the calls made of it: those accepted before it was
/// unregistered still run.
#[derive(Debug)]
pub struct Registered<P, H> {
    /// What peers are told.
    pub descriptor: Descriptor<P>,
    /// What runs it; opaque to the core.
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

    /// Adds a capability. False when the name is taken.
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

    /// Removes a capability. False when there is none of that name.
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

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Rc<Registered<P, H>>> {
        self.by_name.iter()
    }
}
