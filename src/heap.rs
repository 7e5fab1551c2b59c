//! The allocator of the npm package's module: a few hundred bytes of code where a general one has
//! seven thousand.
//!
//! Sizes are rounded up to a power of two, and freed blocks wait in one list for each: both ways
//! take constant time. Blocks are never split or joined, so what is held is at most twice the sum
//! of what each size needed at its peak. The module keeps small records and the text it is handed;
//! payloads stay in JavaScript.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::null_mut;

/// Blocks are aligned to this, and never smaller.
const LEAST: usize = 16;
const CLASSES: usize = 28;

/// Where memory comes from.
pub(crate) trait Pages {
    /// Gets at least this many more bytes: where they begin, and how many there are.
    fn more(bytes: usize) -> Option<(usize, usize)>;
}

/// An allocator for one thread.
pub(crate) struct Heap<P> {
    state: UnsafeCell<State>,
    pages: core::marker::PhantomData<P>,
}

struct State {
    /// Freed blocks of each size: the first word of each points to the next.
    free: [*mut *mut u8; CLASSES],
    /// Memory that was never handed out.
    fresh: usize,
    end: usize,
}

// SAFETY: wasm32 without atomics has one thread.
unsafe impl<P> Sync for Heap<P> {}

impl<P: Pages> Heap<P> {
    pub const fn new() -> Self {
        Heap {
            state: UnsafeCell::new(State {
                free: [null_mut(); CLASSES],
                fresh: 0,
                end: 0,
            }),
            pages: core::marker::PhantomData,
        }
    }
}

/// The index of a layout's size, and that size; `None` for what this allocator does not serve.
fn class(layout: &Layout) -> Option<(usize, usize)> {
    let size = layout.size().max(LEAST).checked_next_power_of_two()?;
    let index = (size.trailing_zeros() - LEAST.trailing_zeros()) as usize;
    (index < CLASSES && layout.align() <= LEAST).then_some((index, size))
}

// SAFETY: a block is handed out once until it comes back: it is in use, or in its list, or fresh.
unsafe impl<P: Pages> GlobalAlloc for Heap<P> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some((index, size)) = class(&layout) else {
            return null_mut();
        };
        // SAFETY: one thread, and nothing in here allocates.
        let state = unsafe { &mut *self.state.get() };
        let first = state.free[index];
        if !first.is_null() {
            // SAFETY: it points to a freed block, whose first word is the next.
            state.free[index] = unsafe { *first }.cast();
            return first.cast();
        }
        if state.end - state.fresh < size {
            let Some((start, length)) = P::more(size) else {
                return null_mut();
            };
            if start != state.end {
                state.fresh = start;
            }
            state.end = start + length;
        }
        let block = state.fresh;
        state.fresh += size;
        block as *mut u8
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if let Some((index, _)) = class(&layout) {
            // SAFETY: one thread; the block is ours, free, and at least two words long.
            unsafe {
                let state = &mut *self.state.get();
                let block: *mut *mut u8 = block.cast();
                *block = state.free[index].cast();
                state.free[index] = block;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Leaks, which the system's allocator minds less than handing out pointers twice.
    struct Chunks;

    impl Pages for Chunks {
        fn more(bytes: usize) -> Option<(usize, usize)> {
            let length = bytes.next_multiple_of(65_536);
            let chunk = vec![0u128; length / 16].leak();
            Some((chunk.as_ptr() as usize, length))
        }
    }

    #[test]
    fn blocks_do_not_overlap_and_come_back() {
        let heap = Heap::<Chunks>::new();
        let layout = |index: usize| Layout::from_size_align(index * 37 % 5_000 + 1, 8).unwrap();
        // SAFETY: each block is written within its layout, and given back once with it.
        unsafe {
            let blocks: Vec<_> = (0..2_000).map(|index| heap.alloc(layout(index))).collect();
            for (index, block) in blocks.iter().enumerate() {
                assert_eq!(*block as usize % LEAST, 0);
                block.write_bytes(index as u8, layout(index).size());
            }
            for (index, block) in blocks.iter().enumerate() {
                let held = core::slice::from_raw_parts(*block, layout(index).size());
                assert!(held.iter().all(|byte| *byte == index as u8));
                heap.dealloc(*block, layout(index));
            }
            let held = (*heap.state.get()).end;
            for index in (0..2_000).rev() {
                assert!(!heap.alloc(layout(index)).is_null());
            }
            assert_eq!((*heap.state.get()).end, held);
        }
    }

    #[test]
    fn what_it_cannot_serve_it_refuses() {
        let heap = Heap::<Chunks>::new();
        // SAFETY: nothing is handed out.
        unsafe {
            assert!(
                heap.alloc(Layout::from_size_align(8, 32).unwrap())
                    .is_null()
            );
            assert!(
                heap.alloc(Layout::from_size_align(isize::MAX as usize - 7, 8).unwrap())
                    .is_null()
            );
        }
    }
}
