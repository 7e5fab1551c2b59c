//! Changes of the set of capabilities, gathered until agents are told of them.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{Action, HostState, Scope};

/// What has become of the set of capabilities: names, each in one of the lists, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Those that are new.
    pub added: Vec<Rc<str>>,
    /// Those that are gone.
    pub removed: Vec<Rc<str>>,
    /// Those that were removed and registered again.
    pub changed: Vec<Rc<str>>,
}

/// The names that agents are to be told of, each with whether it was registered when they were last
/// told.
pub(super) type Untold = BTreeMap<Rc<str>, bool>;

impl<P: Clone, H: Clone> HostState<P, H> {
    /// A name was registered or is gone: agents are told when the turn is over, once for all names,
    /// as an app may register thousands.
    pub(super) fn note_change(&mut self, name: Rc<str>, before: bool) {
        self.untold.entry(name).or_insert(before);
        self.wake();
    }

    /// Tells the agents of what was noted. What they know then is what is registered now.
    pub(super) fn tell_changes(&mut self) {
        if self.untold.is_empty() {
            return;
        }
        let untold = std::mem::take(&mut self.untold);
        let all = Rc::new(self.changes(&untold, None));
        for to in self.listeners() {
            let scope = self.session(to).map(|session| &session.scope);
            let changes = match scope.filter(|scope| scope.capabilities.is_some()) {
                None => all.clone(),
                scope => Rc::new(self.changes(&untold, scope)),
            };
            if *changes != Changes::default() {
                self.actions
                    .push_back(Action::CapabilitiesChanged { to, changes });
            }
        }
    }

    /// What has changed of all that there is, or of what there is for one agent.
    #[inline(never)]
    fn changes(&self, untold: &Untold, scope: Option<&Scope>) -> Changes {
        let mut changes = Changes::default();
        for (name, before) in untold {
            let list = match (before, self.registry.get(name).is_some()) {
                _ if scope.is_some_and(|scope| !scope.has_capability(name)) => continue,
                (false, true) => &mut changes.added,
                (true, false) => &mut changes.removed,
                (true, true) => &mut changes.changed,
                (false, false) => continue,
            };
            list.push(name.clone());
        }
        changes
    }

    /// Queues what is said to an agent: it hears first of what has changed before.
    pub(super) fn say(&mut self, action: Action<P, H>) {
        self.tell_changes();
        self.actions.push_back(action);
    }
}
