use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use super::*;

const SOON: Duration = Duration::from_secs(20);

/// A test reader that decides the result of each write.
struct Reader {
    says: Receiver<io::Result<usize>>,
    has: Arc<Mutex<Vec<u8>>>,
}

impl Write for Reader {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let said = self.says.recv().unwrap_or(Ok(usize::MAX))?;
        let taken = said.min(bytes.len());
        self.has.lock().extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

type Says = Sender<io::Result<usize>>;

fn read_by() -> (&'static Lines, Says, Arc<Mutex<Vec<u8>>>) {
    let (say, says) = channel();
    let has = Arc::default();
    let reader = Reader {
        says,
        has: Arc::clone(&has),
    };
    (Lines::written_to(reader), say, has)
}

#[test]
fn while_nobody_reads_lines_wait_up_to_a_bound_and_are_lost_beyond_it() {
    let (lines, say, has) = read_by();
    let line = [&[b'x'; 1023][..], b"\n"].concat();
    let many = 3 * MOST_WAITING / line.len();
    for _ in 0..many {
        lines.add(&line);
    }
    let begun = Instant::now();
    lines.finish(Duration::from_millis(50));
    assert!(begun.elapsed() < SOON);
    let lost = lines.state.lock().lost as usize;
    assert!(lost >= many / 3, "{lost} of {many}");
    drop(say);
    lines.finish(SOON);
    assert_eq!(has.lock().len(), (many - lost) * line.len());
    lines.add(b"again\n");
    lines.finish(SOON);
    assert!(has.lock().ends_with(b"x\nagain\n"));
}

#[test]
fn a_write_that_fails_loses_its_lines_and_the_next_is_tried_again() {
    let (lines, say, has) = read_by();
    for kind in [ErrorKind::BrokenPipe, ErrorKind::StorageFull] {
        say.send(Ok(3)).unwrap();
        say.send(Err(kind.into())).unwrap();
        lines.add(b"a\nb\nc\n");
        lines.finish(SOON);
    }
    assert_eq!(lines.state.lock().lost, 4);
    for kind in [ErrorKind::Interrupted, ErrorKind::WouldBlock] {
        say.send(Err(kind.into())).unwrap();
    }
    drop(say);
    lines.add(b"d\n");
    lines.finish(SOON);
    assert_eq!(*has.lock(), b"a\nba\nbd\n");
    assert_eq!(lines.state.lock().lost, 4);
}
