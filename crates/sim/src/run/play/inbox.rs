//! Messages and the receives that ask for them.

use crosstie_work::{Input, Rank, Tag};
use std::collections::{BTreeMap, VecDeque};

/// Who waits for what, and what waits for whom: a receive takes the oldest message with its source and tag.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    /// By receiver, sender and tag.
    lines: BTreeMap<(Rank, Rank, Tag), Line>,
}

/// Receives that wait for messages, or messages that wait for receives; never both.
#[derive(Debug, Default)]
struct Line {
    receives: u32,
    /// Their lengths.
    messages: VecDeque<u32>,
}

impl Inbox {
    /// A message is there; who is to be told, if somebody has asked for it.
    pub fn arrive(&mut self, rank: Rank, from: Rank, tag: Tag, bytes: u32) -> Option<Input> {
        let line = self.lines.entry((rank, from, tag)).or_default();
        if line.receives == 0 {
            line.messages.push_back(bytes);
            return None;
        }
        line.receives -= 1;
        Some(Input::Received { rank, from, tag, bytes })
    }

    /// A rank asks for a message; it is told at once if it is there.
    pub fn post(&mut self, rank: Rank, from: Rank, tag: Tag) -> Option<Input> {
        let line = self.lines.entry((rank, from, tag)).or_default();
        let Some(bytes) = line.messages.pop_front() else {
            line.receives += 1;
            return None;
        };
        Some(Input::Received { rank, from, tag, bytes })
    }

    /// Something that a rank waits for.
    pub fn awaited(&self, rank: Rank) -> Option<(Rank, Tag)> {
        let waits = |(key, line): (&(Rank, Rank, Tag), &Line)| {
            (key.0 == rank && line.receives > 0).then_some((key.1, key.2))
        };
        self.lines.iter().find_map(waits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receives_take_the_oldest_of_their_source_and_tag() {
        let (me, a, b) = (Rank(0), Rank(1), Rank(2));
        let mut inbox = Inbox::default();
        assert_eq!(inbox.arrive(me, a, Tag(0), 10), None);
        assert_eq!(inbox.arrive(me, a, Tag(0), 20), None);
        assert_eq!(inbox.post(me, b, Tag(0)), None);
        assert_eq!(inbox.post(me, a, Tag(1)), None);
        assert_eq!(inbox.awaited(me), Some((a, Tag(1))));
        let received = |from, tag, bytes| Some(Input::Received { rank: me, from, tag, bytes });
        assert_eq!(inbox.post(me, a, Tag(0)), received(a, Tag(0), 10));
        assert_eq!(inbox.post(me, a, Tag(0)), received(a, Tag(0), 20));
        assert_eq!(inbox.arrive(me, a, Tag(1), 30), received(a, Tag(1), 30));
        assert_eq!(inbox.arrive(me, b, Tag(0), 40), received(b, Tag(0), 40));
        assert_eq!((inbox.awaited(me), inbox.awaited(a)), (None, None));
    }
}
