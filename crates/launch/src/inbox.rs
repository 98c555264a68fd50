//! Lines out of bytes as they come, never more than a line too long.

/// No line is longer. Launchers and ranks keep to 1,024 bytes of each other's, and 8,192 of their
/// newest kind.
const LONGEST: usize = 8192;

/// Bytes that have come and are no whole line yet, and lines that nobody has taken.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    bytes: Vec<u8>,
    /// So many of them have been taken.
    taken: usize,
}

/// Bytes that are no lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unreadable {
    #[error("a line of more than {LONGEST} bytes")]
    Long,
    #[error("a line that is not UTF-8 text")]
    NotText,
}

impl Inbox {
    /// Adds bytes. Lines should be taken before more are added.
    pub fn add(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.taken);
        self.taken = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole line, without its end; `None` if more bytes are needed for it.
    pub fn next(&mut self) -> Option<Result<&str, Unreadable>> {
        let rest = &self.bytes[self.taken..];
        let Some(end) = rest.iter().take(LONGEST + 1).position(|byte| *byte == b'\n') else {
            return (rest.len() > LONGEST).then_some(Err(Unreadable::Long));
        };
        self.taken += end + 1;
        Some(str::from_utf8(&rest[..end]).map_err(|_| Unreadable::NotText))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_come_when_they_are_whole() {
        let mut inbox = Inbox::default();
        assert_eq!(inbox.next(), None);
        inbox.add(b"cmd=");
        assert_eq!(inbox.next(), None);
        inbox.add(b"get\ncmd=put\n\nc");
        assert_eq!(inbox.next(), Some(Ok("cmd=get")));
        assert_eq!(inbox.next(), Some(Ok("cmd=put")));
        assert_eq!(inbox.next(), Some(Ok("")));
        assert_eq!(inbox.next(), None);
        inbox.add(b"\n");
        assert_eq!(inbox.next(), Some(Ok("c")));
    }

    #[test]
    fn lines_that_are_too_long_or_no_text_are_told() {
        let mut inbox = Inbox::default();
        inbox.add(&[b'x'; LONGEST]);
        assert_eq!(inbox.next(), None);
        inbox.add(b"\n\xff\n");
        assert_eq!(inbox.next().unwrap().map(str::len), Ok(LONGEST));
        assert_eq!(inbox.next(), Some(Err(Unreadable::NotText)));
        inbox.add(&[b'x'; LONGEST + 1]);
        assert_eq!(inbox.next(), Some(Err(Unreadable::Long)));
    }

    proptest! {
        /// However the bytes are cut, the lines are those of the whole text.
        #[test]
        fn cuts_do_not_matter(text in "[a-c\n]{0,60}", cuts in prop::collection::vec(0..9usize, 0..60)) {
            let (mut inbox, mut lines, mut rest) = (Inbox::default(), Vec::new(), text.as_bytes());
            for cut in cuts.into_iter().chain([text.len()]) {
                let (head, tail) = rest.split_at(cut.min(rest.len()));
                rest = tail;
                inbox.add(head);
                while let Some(line) = inbox.next() {
                    lines.push(line.unwrap().to_owned());
                }
            }
            let mut whole: Vec<&str> = text.split('\n').collect();
            whole.pop();
            prop_assert_eq!(lines, whole);
        }
    }
}
