//! Lines in, lines out.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc::Receiver;

/// A line longer than this is not kept, 256 MiB: no gateway would take it.
const MAX_LINE_BYTES: usize = 256 << 20;

/// A line of the input.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// Its text.
    Text(String),
    /// Too long, or no UTF-8.
    Unreadable,
}

/// Reads lines.
pub struct Lines<R> {
    reader: BufReader<R>,
    max: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Of that input.
    pub fn new(input: R) -> Self {
        Lines {
            reader: BufReader::with_capacity(64 << 10, input),
            max: MAX_LINE_BYTES,
        }
    }

    /// The next line that is not empty; none at the end of the input. A line the input ends in the
    /// middle of counts.
    pub async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let mut line = Vec::new();
            let mut too_long = false;
            loop {
                let read = self.reader.fill_buf().await?;
                if read.is_empty() && line.is_empty() && !too_long {
                    return Ok(None);
                }
                let end = read.iter().position(|byte| *byte == b'\n');
                let taken = end.map_or(read.len(), |end| end + 1);
                if line.len() + taken > self.max {
                    too_long = true;
                    line = Vec::new();
                }
                if !too_long {
                    line.extend_from_slice(&read[..taken]);
                }
                let over = end.is_some() || taken == 0;
                self.reader.consume(taken);
                if over {
                    break;
                }
            }
            if too_long {
                return Ok(Some(Line::Unreadable));
            }
            match String::from_utf8(line) {
                Ok(text) if text.trim().is_empty() => {}
                Ok(text) => return Ok(Some(Line::Text(text.trim_end().to_string()))),
                Err(_) => return Ok(Some(Line::Unreadable)),
            }
        }
    }
}

/// Writes each message as a line, at once.
pub async fn write(
    mut output: impl AsyncWrite + Unpin,
    mut messages: Receiver<String>,
) -> io::Result<()> {
    while let Some(mut line) = messages.recv().await {
        line.push('\n');
        output.write_all(line.as_bytes()).await?;
        output.flush().await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(input: &[u8], max: usize) -> Vec<Line> {
        let mut lines = Lines::new(input);
        lines.max = max;
        let mut read = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            read.push(line);
        }
        read
    }

    #[tokio::test]
    async fn lines_end_as_systems_end_them_and_empty_ones_do_not_count() {
        let text = |text: &str| Line::Text(text.into());
        assert_eq!(
            lines(b"a\r\n\n  \nb\n\xff\nc", 100).await,
            [text("a"), text("b"), Line::Unreadable, text("c")]
        );
        assert_eq!(lines(b"", 100).await, []);
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_skipped() {
        let long = [b"x".repeat(200_000), b"\nshort\n".to_vec()].concat();
        assert_eq!(
            lines(&long, 100_000).await,
            [Line::Unreadable, Line::Text("short".into())]
        );
    }
}
