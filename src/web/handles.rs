//! Objects that JavaScript names by numbers. Numbers are cheaper than objects of wasm-bindgen, and
//! have no borrow counts.

use std::cell::RefCell;
use std::rc::Rc;
use std::thread::LocalKey;

/// The objects of one thread, by their numbers. A number is given out only once: the number of a
/// removed object finds nothing.
pub(super) struct Handles<T: 'static>(pub &'static LocalKey<Table<T>>);

/// The objects by their numbers. A removed object leaves its place empty.
pub(super) struct Table<T>(RefCell<Vec<Option<Rc<T>>>>);

impl<T> Table<T> {
    pub const fn new() -> Self {
        Table(RefCell::new(Vec::new()))
    }
}

impl<T> Handles<T> {
    /// Makes an object that knows its own number, and returns the number.
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
    /// If the number was never given out.
    #[inline(never)]
    pub fn get(&self, key: u32) -> Option<Rc<T>> {
        self.0.with(|table| table.0.borrow()[key as usize].clone())
    }

    /// Removes the object of that number.
    pub fn remove(&self, key: u32) {
        let removed = self
            .0
            .with(|table| table.0.borrow_mut().get_mut(key as usize)?.take());
        drop(removed);
    }
}
