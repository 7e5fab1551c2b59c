//! Two ends in one memory.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use super::Transport;

struct Shared<M> {
    lanes: [VecDeque<M>; 2],
    open: bool,
}

/// One end of a pair; what is sent into one comes out of the other.
pub struct End<M> {
    shared: Rc<RefCell<Shared<M>>>,
    side: usize,
}

/// The two ends of a connection.
pub fn pair<M>() -> (End<M>, End<M>) {
    let shared = Rc::new(RefCell::new(Shared {
        lanes: [VecDeque::new(), VecDeque::new()],
        open: true,
    }));
    let other = shared.clone();
    let one = End { shared, side: 0 };
    let two = End {
        shared: other,
        side: 1,
    };
    (one, two)
}

impl<M> Transport for End<M> {
    type Message = M;

    fn send(&mut self, message: M) {
        let mut shared = self.shared.borrow_mut();
        if shared.open {
            shared.lanes[self.side].push_back(message);
        }
    }

    fn receive(&mut self) -> Option<M> {
        self.shared.borrow_mut().lanes[1 - self.side].pop_front()
    }

    fn close(&mut self) {
        self.shared.borrow_mut().open = false;
    }

    fn is_over(&self) -> bool {
        let shared = self.shared.borrow();
        !shared.open && shared.lanes[1 - self.side].is_empty()
    }
}

impl<M> Drop for End<M> {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carries_in_order_and_closes_for_both() {
        let (mut one, mut two) = pair();
        one.send(1);
        one.send(2);
        two.send(3);
        drop(one);
        assert!(!two.is_over());
        assert_eq!(
            (two.receive(), two.receive(), two.receive()),
            (Some(1), Some(2), None)
        );
        assert!(two.is_over());
    }
}
