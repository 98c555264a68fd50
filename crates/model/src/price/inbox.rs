//! Messages and the receives that ask for them, of one rank.

use crosstie_collective::{Rank, Tag};
use std::collections::{BTreeMap, VecDeque};

/// Who waits for what, and what waits for whom. A receive takes the oldest message that fits, a
/// message the oldest receive that it fits. Both are told by their places in the schedule.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    /// Receives that name sender and tag, and messages nobody has asked for.
    lines: BTreeMap<(Rank, Tag), Line>,
    /// Receives that leave sender or tag open, in the order in which they came.
    open: Vec<Open>,
    /// Receives and messages, counted together: who is older.
    age: u64,
}

/// Of one sender and tag: receives that wait, or messages that wait; never both.
#[derive(Debug, Default)]
struct Line {
    receives: VecDeque<(u64, usize)>,
    messages: VecDeque<(u64, usize)>,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    age: u64,
    from: Option<Rank>,
    tag: Option<Tag>,
    receive: usize,
}

fn fits<T: PartialEq>(asked: Option<T>, found: T) -> bool {
    asked.is_none_or(|asked| asked == found)
}

impl Inbox {
    /// A message is there; the receive that takes it, if somebody has asked for it.
    pub fn arrive(&mut self, from: Rank, tag: Tag, message: usize) -> Option<usize> {
        self.age += 1;
        let line = self.lines.entry((from, tag)).or_default();
        let named = line.receives.front().map_or(u64::MAX, |&(age, _)| age);
        let fitting = |open: &Open| fits(open.from, from) && fits(open.tag, tag);
        match self.open.iter().position(fitting) {
            Some(place) if self.open[place].age < named => Some(self.open.remove(place).receive),
            _ => {
                let taken = line.receives.pop_front();
                if taken.is_none() {
                    line.messages.push_back((self.age, message));
                }
                taken.map(|(_, receive)| receive)
            }
        }
    }

    /// A receive asks for a message; the one that it takes, if it is there.
    pub fn post(&mut self, from: Option<Rank>, tag: Option<Tag>, receive: usize) -> Option<usize> {
        self.age += 1;
        let age = self.age;
        if let (Some(from), Some(tag)) = (from, tag) {
            let line = self.lines.entry((from, tag)).or_default();
            let taken = line.messages.pop_front();
            if taken.is_none() {
                line.receives.push_back((age, receive));
            }
            return taken.map(|(_, message)| message);
        }
        let fitting = self.lines.iter_mut().filter(|(key, line)| {
            fits(from, key.0) && fits(tag, key.1) && !line.messages.is_empty()
        });
        match fitting.min_by_key(|(_, line)| line.messages[0].0) {
            Some((_, line)) => line.messages.pop_front().map(|(_, message)| message),
            None => {
                self.open.push(Open { age, from, tag, receive });
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Rank = Rank(1);
    const B: Rank = Rank(2);

    #[test]
    fn open_receives_stand_in_line_with_the_others() {
        let mut inbox = Inbox::default();
        assert_eq!(inbox.post(None, Some(Tag(7)), 0), None);
        assert_eq!(inbox.post(Some(A), Some(Tag(7)), 1), None);
        assert_eq!(inbox.post(Some(A), None, 2), None);
        assert_eq!(inbox.arrive(A, Tag(7), 10), Some(0), "the oldest");
        assert_eq!(inbox.arrive(A, Tag(8), 11), Some(2), "the only one that fits");
        assert_eq!((inbox.arrive(B, Tag(7), 12), inbox.arrive(A, Tag(9), 13)), (None, None));
        assert_eq!(inbox.post(None, None, 3), Some(12), "the oldest message");
        assert_eq!(inbox.arrive(A, Tag(7), 14), Some(1));
        assert_eq!(inbox.post(Some(A), Some(Tag(9)), 4), Some(13));
    }
}
