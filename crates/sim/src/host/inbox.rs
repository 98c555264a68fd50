//! Messages and the receives that ask for them.

use crosstie_work::{Rank, Request, Tag};
use std::collections::{BTreeMap, VecDeque};

/// A message, by the number its hosts know it by.
pub(super) type MessageId = u32;

/// Who waits for what, and what waits for whom. A receive takes the oldest message that fits, a message the
/// oldest receive that it fits.
#[derive(Debug)]
pub(super) struct Inbox {
    ranks: Vec<Shelf>,
    /// Receives and messages, counted together: who is older.
    age: u64,
}

/// What concerns one rank as a receiver.
#[derive(Debug, Default)]
struct Shelf {
    /// Receives that name sender and tag, and messages nobody has asked for.
    lines: BTreeMap<(Rank, Tag), Line>,
    /// Receives that leave sender or tag open, in the order in which they came.
    open: Vec<OpenReceive>,
}

/// Of one sender and tag: receives that wait, or messages that wait; never both.
#[derive(Debug, Default)]
struct Line {
    receives: VecDeque<(u64, Request)>,
    messages: VecDeque<(u64, MessageId)>,
}

#[derive(Debug, Clone, Copy)]
struct OpenReceive {
    age: u64,
    from: Option<Rank>,
    tag: Option<Tag>,
    request: Request,
}

fn fits<T: PartialEq>(asked: Option<T>, found: T) -> bool {
    asked.is_none_or(|asked| asked == found)
}

impl Inbox {
    pub fn new(ranks: u32) -> Inbox {
        Inbox { ranks: (0..ranks).map(|_| Shelf::default()).collect(), age: 0 }
    }

    /// A message is there; the receive that takes it, if somebody has asked for it.
    pub fn arrive(
        &mut self,
        to: Rank,
        from: Rank,
        tag: Tag,
        message: MessageId,
    ) -> Option<Request> {
        self.age += 1;
        let Shelf { lines, open } = &mut self.ranks[to.0 as usize];
        let named = lines.get(&(from, tag)).and_then(|line| line.receives.front());
        let fitting = |receive: &OpenReceive| fits(receive.from, from) && fits(receive.tag, tag);
        let found = open.iter().position(fitting);
        match (named, found) {
            (None, None) => {
                let line = lines.entry((from, tag)).or_default();
                line.messages.push_back((self.age, message));
                None
            }
            (Some(&(age, _)), Some(place)) if open[place].age < age => {
                Some(open.remove(place).request)
            }
            (None, Some(place)) => Some(open.remove(place).request),
            (Some(_), _) => {
                let line = lines.get_mut(&(from, tag)).expect("it has a receive");
                let (_, request) = line.receives.pop_front().expect("it has a receive");
                if line.receives.is_empty() {
                    lines.remove(&(from, tag));
                }
                Some(request)
            }
        }
    }

    /// A rank asks for a message; the one that it takes, if it is there.
    pub fn post(
        &mut self,
        rank: Rank,
        from: Option<Rank>,
        tag: Option<Tag>,
        request: Request,
    ) -> Option<MessageId> {
        self.age += 1;
        let age = self.age;
        let Shelf { lines, open } = &mut self.ranks[rank.0 as usize];
        let key = match (from, tag) {
            (Some(from), Some(tag)) => {
                let line = lines.entry((from, tag)).or_default();
                if line.messages.is_empty() {
                    line.receives.push_back((age, request));
                    return None;
                }
                (from, tag)
            }
            _ => {
                let fitting = lines.iter().filter(|(key, line)| {
                    fits(from, key.0) && fits(tag, key.1) && !line.messages.is_empty()
                });
                let oldest = fitting.min_by_key(|(_, line)| line.messages[0].0);
                let Some((&key, _)) = oldest else {
                    open.push(OpenReceive { age, from, tag, request });
                    return None;
                };
                key
            }
        };
        let line = lines.get_mut(&key).expect("it has a message");
        let (_, message) = line.messages.pop_front().expect("it has a message");
        if line.messages.is_empty() {
            lines.remove(&key);
        }
        Some(message)
    }

    /// Something that a rank waits for: the sender, the tag and the operation.
    pub fn awaited(&self, rank: Rank) -> Option<(Option<Rank>, Option<Tag>, Request)> {
        let Shelf { lines, open } = &self.ranks[rank.0 as usize];
        let named = lines.iter().filter_map(|(&(from, tag), line)| {
            let &(age, request) = line.receives.front()?;
            Some((age, (Some(from), Some(tag), request)))
        });
        let open = open.iter().map(|open| (open.age, (open.from, open.tag, open.request)));
        named.chain(open).min_by_key(|&(age, _)| age).map(|(_, awaited)| awaited)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: Rank = Rank(0);
    const A: Rank = Rank(1);
    const B: Rank = Rank(2);

    #[test]
    fn receives_take_the_oldest_of_their_source_and_tag() {
        let mut inbox = Inbox::new(3);
        let post = |inbox: &mut Inbox, from, tag, request| {
            inbox.post(ME, Some(from), Some(Tag(tag)), Request(request))
        };
        assert_eq!(inbox.arrive(ME, A, Tag(0), 10), None);
        assert_eq!(inbox.arrive(ME, A, Tag(0), 20), None);
        assert_eq!(post(&mut inbox, B, 0, 0), None);
        assert_eq!(post(&mut inbox, A, 1, 1), None);
        assert_eq!(inbox.awaited(ME), Some((Some(B), Some(Tag(0)), Request(0))));
        assert_eq!(post(&mut inbox, A, 0, 2), Some(10));
        assert_eq!(post(&mut inbox, A, 0, 3), Some(20));
        assert_eq!(inbox.arrive(ME, A, Tag(1), 30), Some(Request(1)));
        assert_eq!(inbox.arrive(ME, B, Tag(0), 40), Some(Request(0)));
        assert_eq!((inbox.awaited(ME), inbox.awaited(A)), (None, None));
    }

    #[test]
    fn open_receives_stand_in_line_with_the_others() {
        let mut inbox = Inbox::new(3);
        assert_eq!(inbox.post(ME, None, Some(Tag(7)), Request(0)), None);
        assert_eq!(inbox.post(ME, Some(A), Some(Tag(7)), Request(1)), None);
        assert_eq!(inbox.post(ME, Some(A), None, Request(2)), None);
        assert_eq!(inbox.arrive(ME, A, Tag(7), 10), Some(Request(0)), "the oldest");
        assert_eq!(inbox.arrive(ME, A, Tag(8), 11), Some(Request(2)), "the only one that fits");
        assert_eq!(inbox.arrive(ME, B, Tag(7), 12), None);
        assert_eq!(inbox.arrive(ME, A, Tag(9), 13), None);
        assert_eq!(inbox.post(ME, None, None, Request(3)), Some(12), "the oldest message");
        assert_eq!(inbox.arrive(ME, A, Tag(7), 14), Some(Request(1)));
        assert_eq!(inbox.post(ME, None, Some(Tag(9)), Request(4)), Some(13));
    }
}
