//! Server-sent events, as far as they carry messages.

/// Reads the `data` of events out of the bytes of a stream.
#[derive(Debug, Default)]
pub struct Events {
    line: Vec<u8>,
    data: Option<String>,
    after_return: bool,
}

impl Events {
    /// The events that end in these bytes.
    pub fn read(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut events = Vec::new();
        for &byte in bytes {
            match byte {
                // The second half of a line's end.
                b'\n' if std::mem::take(&mut self.after_return) => {}
                b'\n' | b'\r' => {
                    self.after_return = byte == b'\r';
                    let line = std::mem::take(&mut self.line);
                    events.extend(self.end_of_line(&line));
                }
                _ => {
                    self.after_return = false;
                    self.line.push(byte);
                }
            }
        }
        events
    }

    fn end_of_line(&mut self, line: &[u8]) -> Option<String> {
        if line.is_empty() {
            return self.data.take().filter(|data| !data.is_empty());
        }
        let text = String::from_utf8_lossy(line);
        let (field, value) = text.split_once(':').unwrap_or((&text, ""));
        if field == "data" {
            let value = value.strip_prefix(' ').unwrap_or(value);
            match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_string()),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_read_however_it_is_cut() {
        let stream = ": hello\r\nid: 1\r\nevent: message\r\ndata: {\"a\":\"é\"}\r\n\r\ndata:\n\ndata: 1\rdata:2\r\rretry: 5\n\ndata: lost";
        for size in 1..stream.len() {
            let mut events = Events::default();
            let mut read = Vec::new();
            for chunk in stream.as_bytes().chunks(size) {
                read.extend(events.read(chunk));
            }
            assert_eq!(read, ["{\"a\":\"é\"}", "1\n2"], "{size}");
        }
    }
}
