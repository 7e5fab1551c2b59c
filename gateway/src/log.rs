//! Standard error for the whole process. A writer never waits for the reader of standard error, and never
//! fails without one. One thread writes the lines. Lines that cannot be written are lost and counted.

use std::io::{self, ErrorKind, Write};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// How many bytes may wait to be written. A line without room is lost.
const MOST_WAITING: usize = 1 << 20;

/// How long a process that ends waits for its last lines to be written.
const LAST_LINES: Duration = Duration::from_millis(500);

/// The pause before the next attempt, if standard error is non-blocking and full.
const FULL: Duration = Duration::from_millis(10);

/// Standard error. Every `write` is one or several lines, and succeeds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Log;

impl Write for Log {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        standard_error().add(lines);
        Ok(lines.len())
    }

    /// Does not wait: see [`LastLines`].
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How many lines were lost.
pub(crate) fn lines_lost() -> u64 {
    LOG.get().map_or(0, |it| it.state.lock().lost)
}

/// Waits until everything is written, but not longer than [`LAST_LINES`].
pub(crate) fn wait_for_lines() {
    if let Some(log) = LOG.get() {
        log.finish(LAST_LINES);
    }
}

/// The process keeps this value until it ends. Dropping the value waits for the last lines.
#[derive(Debug)]
pub(crate) struct LastLines;

impl Drop for LastLines {
    fn drop(&mut self) {
        wait_for_lines();
    }
}

static LOG: OnceLock<&'static Lines> = OnceLock::new();

fn standard_error() -> &'static Lines {
    LOG.get_or_init(|| Lines::written_to(io::stderr()))
}

/// The lines that wait for one thread to write them.
#[derive(Debug, Default)]
struct Lines {
    state: Mutex<State>,
    /// Signals that there is something to write.
    added: Condvar,
    /// Signals that there is nothing left to write.
    written: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: Vec<u8>,
    is_writing: bool,
    lost: u64,
}

impl Lines {
    fn written_to(writer: impl Write + Send + 'static) -> &'static Self {
        let lines: &Lines = Box::leak(Box::default());
        let thread = thread::Builder::new().name("log".into());
        // Without the thread the lines are lost, as if nobody read them.
        let _ = thread.spawn(|| lines.write_all(writer));
        lines
    }

    fn add(&self, lines: &[u8]) {
        let mut state = self.state.lock();
        if lines.len() > MOST_WAITING - state.waiting.len() {
            state.lost += count(lines);
            return;
        }
        state.waiting.extend_from_slice(lines);
        self.added.notify_one();
    }

    fn write_all(&self, mut writer: impl Write) {
        loop {
            let mut state = self.state.lock();
            while state.waiting.is_empty() {
                state.is_writing = false;
                self.written.notify_all();
                self.added.wait(&mut state);
            }
            state.is_writing = true;
            let lines = std::mem::take(&mut state.waiting);
            drop(state);
            let lost = count(write(&mut writer, &lines));
            if lost > 0 {
                self.state.lock().lost += lost;
            }
        }
    }

    fn finish(&self, within: Duration) {
        let end = Instant::now() + within;
        let mut state = self.state.lock();
        while state.is_writing || !state.waiting.is_empty() {
            if self.written.wait_until(&mut state, end).timed_out() {
                break;
            }
        }
    }
}

/// Writes as much as possible. Returns the rest.
fn write<'a>(writer: &mut impl Write, mut lines: &'a [u8]) -> &'a [u8] {
    while !lines.is_empty() {
        match writer.write(lines) {
            Ok(0) => break,
            Ok(written) => lines = &lines[written..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(FULL),
            Err(_) => break,
        }
    }
    lines
}

fn count(lines: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', lines).count() as u64
}

#[cfg(test)]
mod tests;
