//! A connection between a host and an agent in the same memory.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

type Lane<M> = Rc<RefCell<VecDeque<M>>>;

/// One end of a pair. A message that is sent into one end comes out of the other, in order.
pub struct End<M> {
    out: Lane<M>,
    into: Lane<M>,
}

/// The two ends of a connection.
pub fn pair<M>() -> (End<M>, End<M>) {
    let (there, back) = (Lane::default(), Lane::default());
    let one = End {
        out: there.clone(),
        into: back.clone(),
    };
    let two = End {
        out: back,
        into: there,
    };
    (one, two)
}

impl<M> End<M> {
    pub fn send(&self, message: M) {
        self.out.borrow_mut().push_back(message);
    }

    pub fn receive(&self) -> Option<M> {
        self.into.borrow_mut().pop_front()
    }
}
