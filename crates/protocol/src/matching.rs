//! Messages and the receives that ask for them.

use std::collections::{BTreeMap, VecDeque};

/// Who waits for what at one receiver: a receive takes the oldest message that fits, a message the
/// oldest receive that it fits. Senders are of type `S`, tags of type `T`; receives and messages
/// are known by `R` and `M`.
#[derive(Debug)]
pub struct Matching<S, T, R, M> {
    /// Receives that name sender and tag, and messages nobody has asked for. A few lines stay when
    /// nothing is left in them: most often the same sender soon sends with the same tag.
    lines: BTreeMap<(S, T), Line<R, M>>,
    /// How many receives and messages there are in lines.
    standing: usize,
    /// Receives that leave sender or tag open, in the order in which they came.
    open: Vec<OpenReceive<S, T, R>>,
    /// Receives and messages, counted together: who is older.
    age: u64,
}

/// Of one sender and tag: receives that wait, or messages that wait; never both.
#[derive(Debug)]
struct Line<R, M> {
    receives: VecDeque<(u64, R)>,
    messages: VecDeque<(u64, M)>,
}

#[derive(Debug, Clone, Copy)]
struct OpenReceive<S, T, R> {
    age: u64,
    from: Option<S>,
    tag: Option<T>,
    receive: R,
}

/// Lines that may be there before one in which nothing is left goes.
const LINES: usize = 16;

/// A receive that waits: the sender, the tag, and by what it is known.
pub type Awaited<S, T, R> = (Option<S>, Option<T>, R);

fn fits<T: PartialEq>(asked: Option<T>, found: T) -> bool {
    asked.is_none_or(|asked| asked == found)
}

/// The place of the open receive that would take a message, if it is older than those that wait in
/// its line.
fn open_for<S: Copy + PartialEq, T: Copy + PartialEq, R, M>(
    open: &[OpenReceive<S, T, R>],
    line: Option<&Line<R, M>>,
    from: S,
    tag: T,
) -> Option<usize> {
    let fitting =
        |receive: &OpenReceive<S, T, R>| fits(receive.from, from) && fits(receive.tag, tag);
    let place = open.iter().position(fitting)?;
    let named = line.and_then(|line| line.receives.front());
    named.is_none_or(|&(age, _)| open[place].age < age).then_some(place)
}

impl<R, M> Line<R, M> {
    fn is_empty(&self) -> bool {
        self.receives.is_empty() && self.messages.is_empty()
    }
}

impl<R, M> Default for Line<R, M> {
    fn default() -> Line<R, M> {
        Line { receives: VecDeque::new(), messages: VecDeque::new() }
    }
}

impl<S, T, R, M> Default for Matching<S, T, R, M> {
    fn default() -> Matching<S, T, R, M> {
        Matching { lines: BTreeMap::new(), standing: 0, open: Vec::new(), age: 0 }
    }
}

impl<S: Copy + Ord, T: Copy + Ord, R: Copy, M> Matching<S, T, R, M> {
    /// A message is there; the receive that takes it, with the message, if somebody has asked for
    /// it.
    pub fn arrive(&mut self, from: S, tag: T, message: M) -> Option<(R, M)> {
        if let Some(receive) = self.take(from, tag) {
            return Some((receive, message));
        }
        self.age += 1;
        self.standing += 1;
        let line = self.lines.entry((from, tag)).or_default();
        line.messages.push_back((self.age, message));
        None
    }

    /// The receive that takes a message, if somebody has asked for it. Otherwise there is none.
    pub fn take(&mut self, from: S, tag: T) -> Option<R> {
        let Matching { lines, open, standing, .. } = self;
        let line = lines.get_mut(&(from, tag));
        if let Some(place) = open_for(open, line.as_deref(), from, tag) {
            return Some(open.remove(place).receive);
        }
        let (_, receive) = line?.receives.pop_front()?;
        *standing -= 1;
        self.leave(from, tag);
        Some(receive)
    }

    /// Somebody asks for a message; the one that it takes with its sender and its tag, if it is
    /// there.
    pub fn post(&mut self, from: Option<S>, tag: Option<T>, receive: R) -> Option<(S, T, M)> {
        self.age += 1;
        let Matching { lines, age, standing, .. } = self;
        let (from, tag) = match (from, tag) {
            (Some(from), Some(tag)) => {
                let line = lines.entry((from, tag)).or_default();
                if line.messages.is_empty() {
                    line.receives.push_back((*age, receive));
                    *standing += 1;
                    return None;
                }
                (from, tag)
            }
            _ => match self.oldest(from, tag) {
                Some(line) => line,
                None => {
                    let age = self.age;
                    self.open.push(OpenReceive { age, from, tag, receive });
                    return None;
                }
            },
        };
        let (_, message) = self.take_message(from, tag);
        Some((from, tag, message))
    }

    /// Takes the oldest message that a receive would take, with its age, its sender and its tag.
    pub fn claim(&mut self, from: Option<S>, tag: Option<T>) -> Option<(u64, S, T, M)> {
        let (from, tag) = self.oldest(from, tag)?;
        let (age, message) = self.take_message(from, tag);
        Some((age, from, tag, message))
    }

    /// Gives back a message that was claimed, which stands where it stood. Returns the receive that
    /// takes it, with the message, if one was posted meanwhile.
    pub fn put_back(&mut self, age: u64, (from, tag): (S, T), message: M) -> Option<(R, M)> {
        if let Some(receive) = self.take(from, tag) {
            return Some((receive, message));
        }
        self.standing += 1;
        let messages = &mut self.lines.entry((from, tag)).or_default().messages;
        let place = messages.partition_point(|&(other, _)| other < age);
        messages.insert(place, (age, message));
        None
    }

    /// The sender and the tag of the oldest message that a receive would take.
    fn oldest(&self, from: Option<S>, tag: Option<T>) -> Option<(S, T)> {
        let fitting = self.lines.iter().filter(|(key, line)| {
            fits(from, key.0) && fits(tag, key.1) && !line.messages.is_empty()
        });
        fitting.min_by_key(|(_, line)| line.messages[0].0).map(|(&line, _)| line)
    }

    /// Takes the first message of a line, which has one, with its age.
    fn take_message(&mut self, from: S, tag: T) -> (u64, M) {
        let line = self.lines.get_mut(&(from, tag)).expect("it has a message");
        let first = line.messages.pop_front().expect("it has a message");
        self.standing -= 1;
        self.leave(from, tag);
        first
    }

    /// Something has left a line.
    fn leave(&mut self, from: S, tag: T) {
        if self.lines.len() > LINES && self.lines.get(&(from, tag)).is_some_and(Line::is_empty) {
            self.lines.remove(&(from, tag));
        }
    }

    /// The oldest message that a receive would take, which stays.
    pub fn probe(&self, from: Option<S>, tag: Option<T>) -> Option<(S, T, &M)> {
        let fitting = self.lines.iter().filter_map(|(&(sender, mark), line)| {
            let (age, message) = line.messages.front()?;
            (fits(from, sender) && fits(tag, mark)).then_some((age, (sender, mark, message)))
        });
        fitting.min_by_key(|(age, _)| **age).map(|(_, found)| found)
    }

    /// The messages that nobody has asked for.
    pub fn messages(&self) -> impl Iterator<Item = (S, T, &M)> {
        self.lines.iter().flat_map(|(&(from, tag), line)| {
            line.messages.iter().map(move |(_, message)| (from, tag, message))
        })
    }

    /// The oldest receive that waits.
    pub fn awaited(&self) -> Option<Awaited<S, T, R>> {
        let named = self.lines.iter().filter_map(|(&(from, tag), line)| {
            let &(age, receive) = line.receives.front()?;
            Some((age, (Some(from), Some(tag), receive)))
        });
        let open = self.open.iter().map(|open| (open.age, (open.from, open.tag, open.receive)));
        named.chain(open).min_by_key(|&(age, _)| age).map(|(_, awaited)| awaited)
    }

    /// Takes away receives that are so, and gives them.
    pub fn cancel(&mut self, mut is_so: impl FnMut(&R) -> bool) -> Vec<R> {
        let mut cancelled = Vec::new();
        for line in self.lines.values_mut() {
            let before = line.receives.len();
            line.receives.retain(|(_, receive)| {
                let goes = is_so(receive);
                cancelled.extend(goes.then_some(*receive));
                !goes
            });
            self.standing -= before - line.receives.len();
        }
        self.lines.retain(|_, line| !line.is_empty());
        let open = self.open.extract_if(.., |open| is_so(&open.receive));
        cancelled.extend(open.map(|open| open.receive));
        cancelled
    }

    /// Nothing will come from a sender any more: the receives that wait for it alone, which do so
    /// no longer.
    pub fn give_up(&mut self, from: S) -> Vec<R> {
        let mut given_up = Vec::new();
        for ((sender, _), line) in &mut self.lines {
            if *sender == from {
                self.standing -= line.receives.len();
                given_up.extend(line.receives.drain(..));
            }
        }
        self.lines.retain(|_, line| !line.is_empty());
        let named = self.open.extract_if(.., |open| open.from == Some(from));
        given_up.extend(named.map(|open| (open.age, open.receive)));
        given_up.sort_by_key(|&(age, _)| age);
        given_up.into_iter().map(|(_, receive)| receive).collect()
    }

    /// Takes away the first message of a sender that is so, and all that came after it with the
    /// same tag; gives them with their tags.
    pub fn withdraw(&mut self, from: S, is_so: impl Fn(&M) -> bool) -> Vec<(T, M)> {
        let mut withdrawn = Vec::new();
        for (&(sender, tag), line) in &mut self.lines {
            if sender == from
                && let Some(first) = line.messages.iter().position(|(_, message)| is_so(message))
            {
                self.standing -= line.messages.len() - first;
                withdrawn.extend(line.messages.drain(first..).map(|(_, message)| (tag, message)));
            }
        }
        self.lines.retain(|_, line| !line.is_empty());
        withdrawn
    }

    /// The senders that receives name which wait; some more than once.
    pub fn awaited_from(&self) -> impl Iterator<Item = S> {
        let named = self.lines.iter().filter(|(_, line)| !line.receives.is_empty());
        named.map(|(&(from, _), _)| from).chain(self.open.iter().filter_map(|open| open.from))
    }

    /// Whether no receive and no message waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many receives and messages wait.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.standing + self.open.len()
    }

    /// How many have come so far: what comes next is older by one.
    pub(crate) fn age(&self) -> u64 {
        self.age
    }

    /// No receive waits; all that comes is younger than this.
    pub(crate) fn from_age(age: u64) -> Matching<S, T, R, M> {
        Matching { age, ..Matching::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: u8 = 1;
    const B: u8 = 2;

    /// The message of what a receive takes.
    fn take<S, T, M>(taken: Option<(S, T, M)>) -> Option<M> {
        taken.map(|(.., message)| message)
    }

    #[test]
    fn receives_take_the_oldest_of_their_source_and_tag() {
        let mut inbox = Matching::default();
        assert_eq!(inbox.arrive(A, 0, 10), None);
        assert_eq!(inbox.arrive(A, 0, 20), None);
        assert_eq!(inbox.post(Some(B), Some(0), 'b'), None);
        assert_eq!(inbox.post(Some(A), Some(1), 'c'), None);
        assert_eq!(inbox.awaited(), Some((Some(B), Some(0), 'b')));
        assert_eq!(inbox.probe(None, Some(0)), Some((A, 0, &10)));
        assert_eq!(take(inbox.post(Some(A), Some(0), 'd')), Some(10));
        assert_eq!(take(inbox.post(Some(A), Some(0), 'e')), Some(20));
        assert_eq!(inbox.arrive(A, 1, 30), Some(('c', 30)));
        assert_eq!(inbox.arrive(B, 0, 40), Some(('b', 40)));
        assert!(inbox.awaited().is_none() && inbox.is_empty());
    }

    #[test]
    fn a_cancelled_receive_takes_nothing() {
        let mut inbox = Matching::<u8, i32, char, i32>::default();
        for (from, tag, receive) in [
            (Some(A), Some(0), 'a'),
            (Some(A), Some(0), 'b'),
            (None, Some(0), 'c'),
            (None, None, 'd'),
        ] {
            assert_eq!(inbox.post(from, tag, receive), None);
        }
        assert_eq!(inbox.cancel(|receive| ['a', 'c', 'x'].contains(receive)), ['a', 'c']);
        assert_eq!(inbox.arrive(A, 0, 10), Some(('b', 10)));
        assert_eq!(inbox.arrive(A, 0, 20), Some(('d', 20)));
        assert!(inbox.is_empty());
    }

    #[test]
    fn open_receives_stand_in_line_with_the_others() {
        let mut inbox = Matching::default();
        assert_eq!(inbox.post(None, Some(7), 'a'), None);
        assert_eq!(inbox.post(Some(A), Some(7), 'b'), None);
        assert_eq!(inbox.post(Some(A), None, 'c'), None);
        assert_eq!(inbox.arrive(A, 7, 10), Some(('a', 10)), "the oldest");
        assert_eq!(inbox.arrive(A, 8, 11), Some(('c', 11)), "the only one that fits");
        assert_eq!(inbox.arrive(B, 7, 12), None);
        assert_eq!(inbox.arrive(A, 9, 13), None);
        assert_eq!(inbox.probe(None, None), Some((B, 7, &12)));
        assert_eq!(take(inbox.post(None, None, 'd')), Some(12), "the oldest message");
        assert_eq!(inbox.arrive(A, 7, 14), Some(('b', 14)));
        assert_eq!(take(inbox.post(None, Some(9), 'e')), Some(13));
        assert!(inbox.is_empty());
    }
}
