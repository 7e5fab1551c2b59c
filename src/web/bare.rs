//! What a module without the standard library must bring along.

use core::arch::wasm32::{memory_grow, unreachable};
use core::panic::PanicInfo;

use crate::heap::{Heap, Pages};

const PAGE: usize = 65_536;
/// Pages asked for at a time: a peak slightly above an earlier one finds room.
const STRIDE: usize = 8;

struct Memory;

impl Pages for Memory {
    fn more(bytes: usize) -> Option<(usize, usize)> {
        let pages = bytes.div_ceil(PAGE).max(STRIDE);
        let before = memory_grow::<0>(pages);
        (before != usize::MAX).then(|| (before * PAGE, pages * PAGE))
    }
}

#[global_allocator]
static HEAP: Heap<Memory> = Heap::new();

/// A trap: whatever is in flight is settled by the guard on the JavaScript side.
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    unreachable()
}
