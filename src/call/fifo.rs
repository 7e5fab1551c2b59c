//! A line: first come, first served.

use alloc::vec::Vec;

/// Takes items at its end, and gives them out at its beginning.
#[derive(Debug)]
pub struct Fifo<T> {
    items: Vec<Option<T>>,
    /// How many of them have been given out.
    gone: usize,
}

impl<T> Default for Fifo<T> {
    fn default() -> Self {
        Fifo {
            items: Vec::new(),
            gone: 0,
        }
    }
}

impl<T> Fifo<T> {
    /// Adds an item.
    pub fn push(&mut self, item: T) {
        self.items.push(Some(item));
    }

    /// Adds items, in order.
    pub fn extend(&mut self, items: impl IntoIterator<Item = T>) {
        for item in items {
            self.push(item);
        }
    }

    /// Gives out the oldest item.
    pub fn pop(&mut self) -> Option<T> {
        while let Some(item) = self.items.get_mut(self.gone) {
            self.gone += 1;
            let item = item.take();
            if item.is_some() {
                // A line that is never empty must not grow for ever.
                if self.gone > 1_024 && self.gone * 2 > self.items.len() {
                    self.items.drain(..self.gone);
                    self.gone = 0;
                }
                return item;
            }
        }
        self.gone = 0;
        if self.items.capacity() > 1_024 {
            self.items = Vec::new();
        }
        self.items.clear();
        None
    }

    /// Whether `pop` would give nothing.
    pub fn is_empty(&self) -> bool {
        self.items.iter().all(Option::is_none)
    }
}

impl<T: PartialEq> Fifo<T> {
    /// Takes an item out of the line, wherever it stands. False when it is not in it.
    pub fn remove(&mut self, item: &T) -> bool {
        let mut items = self.items.iter_mut();
        let found = items.find(|it| it.as_ref() == Some(item));
        found.and_then(Option::take).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_order_without_those_that_left() {
        let mut line = Fifo::default();
        for item in 1..=3 {
            line.push(item);
        }
        assert!(line.remove(&2));
        assert!(!line.remove(&2));
        assert_eq!(
            (line.pop(), line.pop(), line.pop()),
            (Some(1), Some(3), None)
        );
        assert!(line.is_empty());
    }

    #[test]
    fn does_not_pile_up() {
        let mut line = Fifo::default();
        line.push(0);
        for item in 1..100_000 {
            line.push(item);
            assert_eq!(line.pop(), Some(item - 1));
        }
        assert!(line.items.capacity() < 10_000);
    }
}
