//! Changes of the set of capabilities, collected until agents are told.

use std::rc::Rc;

use super::action::Action;
use super::records::Untold;
use super::scope::Scope;
use super::state::HostState;
use super::terms::Changes;

impl<P: Clone, H: Clone> HostState<P, H> {
    /// A name was registered or removed. Agents are told once for all names when the turn is over,
    /// because an app may register thousands.
    pub(super) fn note_change(&mut self, name: Rc<str>, before: bool) {
        let place = self.untold.binary_search_by(|(it, _)| it.cmp(&name));
        if let Err(place) = place {
            self.untold.insert(place, (name, before));
        }
        self.wake();
    }

    /// Tells the agents about the changes so far. After that they know what is registered now.
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

    /// The changes among all capabilities, or among the capabilities that one agent may use.
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

    /// Queues a message to an agent, after the changes that the agent is still to be told of.
    pub(super) fn say(&mut self, action: Action<P, H>) {
        self.tell_changes();
        self.actions.push_back(action);
    }
}
