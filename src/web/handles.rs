//! What JavaScript names by numbers: cheaper than objects of wasm-bindgen's, and without their
//! counts of borrows.

use std::cell::RefCell;
use std::rc::Rc;

/// Things by their numbers. A number is given out once: whoever still has that of something that
/// is gone finds nothing.
pub(super) struct Handles<T>(RefCell<Vec<Option<Rc<T>>>>);

// SAFETY: wasm32 without atomics has one thread.
#[cfg(not(target_feature = "atomics"))]
unsafe impl<T> Sync for Handles<T> {}

impl<T> Handles<T> {
    pub const fn new() -> Self {
        Handles(RefCell::new(Vec::new()))
    }

    /// Makes something that knows its number, and gives that.
    pub fn add(&self, make: impl FnOnce(u32) -> T) -> u32 {
        let key = self.0.borrow().len();
        self.0.borrow_mut().push(None);
        let made = Rc::new(make(key as u32));
        self.0.borrow_mut()[key] = Some(made);
        key as u32
    }

    /// # Panics
    /// For a number that was never given out.
    #[inline(never)]
    pub fn get(&self, key: u32) -> Option<Rc<T>> {
        self.0.borrow()[key as usize].clone()
    }

    /// Lets go of what has that number.
    pub fn remove(&self, key: u32) {
        let removed = self.0.borrow_mut()[key as usize].take();
        drop(removed);
    }
}
