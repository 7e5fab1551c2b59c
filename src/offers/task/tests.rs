use super::*;
use std::rc::Rc;
use std::task::Waker;

struct Guard(Rc<Cell<bool>>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.set(true);
    }
}

fn poll<T>(task: &Task<T>) -> Poll<Option<T>> {
    task.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn stop_drops_the_future_before_it_returns() {
    let dropped = Rc::new(Cell::new(false));
    let guard = Guard(dropped.clone());
    let task = Task::new(Box::pin(async move {
        let _guard = guard;
        std::future::pending::<()>().await;
    }));
    assert!(poll(&task).is_pending());
    assert!(!dropped.get());
    task.stop();
    assert!(dropped.get());
    assert_eq!(poll(&task), Poll::Ready(None));
}

#[test]
fn a_future_that_stops_itself_is_dropped_at_the_end_of_that_poll() {
    let dropped = Rc::new(Cell::new(false));
    let guard = Guard(dropped.clone());
    let slot: Rc<RefCell<Option<Rc<Task<()>>>>> = Rc::default();
    let inner = slot.clone();
    let seen = dropped.clone();
    let task = Rc::new(Task::new(Box::pin(async move {
        let _guard = guard;
        inner.borrow().as_ref().unwrap().stop();
        assert!(!seen.get());
        std::future::pending::<()>().await;
    })));
    slot.replace(Some(task.clone()));
    assert_eq!(poll(&task), Poll::Ready(None));
    assert!(dropped.get());
}

#[test]
fn a_result_that_comes_with_the_stop_is_dropped() {
    let slot: Rc<RefCell<Option<Rc<Task<u8>>>>> = Rc::default();
    let inner = slot.clone();
    let task = Rc::new(Task::new(Box::pin(async move {
        inner.borrow().as_ref().unwrap().stop();
        7
    })));
    slot.replace(Some(task.clone()));
    assert_eq!(poll(&task), Poll::Ready(None));
}
