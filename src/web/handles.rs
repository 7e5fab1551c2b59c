//! What JavaScript names by numbers: cheaper than objects of wasm-bindgen's, and without their
//! counts of borrows.

use std::cell::RefCell;
use std::rc::Rc;
use std::thread::LocalKey;

/// Things by their numbers, those of one thread. A number is given out once: whoever still has that
/// of something that is gone finds nothing.
pub(super) struct Handles<T: 'static>(pub &'static LocalKey<Table<T>>);

/// By their numbers; what is gone leaves its place empty.
pub(super) struct Table<T>(RefCell<Vec<Option<Rc<T>>>>);

impl<T> Table<T> {
    pub const fn new() -> Self {
        Table(RefCell::new(Vec::new()))
    }
}

impl<T> Handles<T> {
    /// Makes something that knows its number, and gives that.
    pub fn add(&self, make: impl FnOnce(u32) -> T) -> u32 {
        self.0.with(|table| {
            let key = table.0.borrow().len();
            table.0.borrow_mut().push(None);
            let made = Rc::new(make(key as u32));
            table.0.borrow_mut()[key] = Some(made);
            key as u32
        })
    }

    /// # Panics
    /// For a number that was never given out.
    #[inline(never)]
    pub fn get(&self, key: u32) -> Option<Rc<T>> {
        self.0.with(|table| table.0.borrow()[key as usize].clone())
    }

    /// Lets go of what has that number.
    pub fn remove(&self, key: u32) {
        let removed = self
            .0
            .with(|table| table.0.borrow_mut().get_mut(key as usize)?.take());
        drop(removed);
    }
}
