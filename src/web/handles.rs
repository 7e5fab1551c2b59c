//! What JavaScript names by numbers: cheaper than objects of wasm-bindgen's, and without their
//! counts of borrows.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::thread::LocalKey;

use rustc_hash::{FxBuildHasher, FxHashMap};

/// Things by their numbers, those of one thread. A number is given out once: whoever still has that
/// of something that is gone finds nothing.
pub(super) struct Handles<T: 'static>(pub &'static LocalKey<Table<T>>);

pub(super) struct Table<T> {
    next: Cell<u32>,
    things: RefCell<FxHashMap<u32, Rc<T>>>,
}

impl<T> Table<T> {
    pub const fn new() -> Self {
        Table {
            next: Cell::new(0),
            things: RefCell::new(FxHashMap::with_hasher(FxBuildHasher)),
        }
    }
}

impl<T> Handles<T> {
    /// Makes something that knows its number, and gives that.
    pub fn add(&self, make: impl FnOnce(u32) -> T) -> u32 {
        self.0.with(|table| {
            let key = table.next.get();
            table.next.set(key + 1);
            let made = Rc::new(make(key));
            table.things.borrow_mut().insert(key, made);
            key
        })
    }

    /// # Panics
    /// For a number that was never given out.
    #[inline(never)]
    pub fn get(&self, key: u32) -> Option<Rc<T>> {
        self.0.with(|table| {
            assert!(key < table.next.get(), "the number was given out");
            table.things.borrow().get(&key).cloned()
        })
    }

    /// Lets go of what has that number.
    pub fn remove(&self, key: u32) {
        let removed = self.0.with(|table| table.things.borrow_mut().remove(&key));
        drop(removed);
    }
}
