//! Schedules that lock up, however long anything takes.
//!
//! A schedule is played without time, and in the best of ways: a receive is done as soon as any
//! message that it would take has been sent, a long send as soon as any receive that would take its
//! message has been posted. Whatever is not done then is never done. The converse does not hold:
//! which receive takes which message may depend on time.

use crate::schedule::{OpId, Rank, Schedule, Step, Tag, When};
use std::collections::{BTreeMap, BTreeSet};

/// Operations that wait for ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stuck {
    /// What each of these ranks waits for: messages that are never sent, or receives that are
    /// never posted. What waits for these operations in turn is not listed.
    pub waiting: Vec<(Rank, OpId)>,
}

/// Finds what is never done. The send of a message longer than `eager` waits for its receive.
pub fn stuck(schedule: &Schedule, eager: Option<u32>) -> Option<Stuck> {
    let mut play = Play::new(schedule, eager);
    play.run();
    let waits = |place: &usize| play.started[*place] && !play.done[*place];
    let mut waiting: Vec<usize> = (0..play.done.len()).filter(waits).collect();
    if waiting.is_empty() {
        waiting = surplus(schedule);
    }
    let named = |place: usize| {
        let rank = Rank(play.rank[place]);
        (rank, OpId((place - schedule.places(rank).start) as u32))
    };
    (!waiting.is_empty()).then(|| Stuck { waiting: waiting.into_iter().map(named).collect() })
}

/// A sender and a tag, as a receive asks for them.
type Asked = (Option<Rank>, Option<Tag>);

/// All ways to ask for a message.
fn asked(from: Rank, tag: Tag) -> [Asked; 4] {
    [(Some(from), Some(tag)), (Some(from), None), (None, Some(tag)), (None, None)]
}

/// What happens at one rank.
#[derive(Default)]
struct Inbox {
    /// How messages that have been sent may be asked for, and receives that wait for one.
    sent: BTreeSet<Asked>,
    receives: BTreeMap<Asked, Vec<usize>>,
    /// What posted receives ask for, and long sends that wait for one, by how they may be asked
    /// for.
    posted: BTreeSet<Asked>,
    sends: BTreeMap<Asked, Vec<usize>>,
}

struct Play<'a> {
    schedule: &'a Schedule,
    eager: Option<u32>,
    rank: Vec<u32>,
    missing: Vec<usize>,
    started: Vec<bool>,
    done: Vec<bool>,
    inboxes: Vec<Inbox>,
    ready: Vec<usize>,
}

impl Play<'_> {
    fn new(schedule: &Schedule, eager: Option<u32>) -> Play<'_> {
        let count = schedule.all().len();
        let owned = |rank| std::iter::repeat_n(rank, schedule.places(Rank(rank)).len());
        Play {
            schedule,
            eager,
            rank: (0..schedule.ranks()).flat_map(owned).collect(),
            missing: (0..count).map(|place| schedule.needs(place).len()).collect(),
            started: vec![false; count],
            done: vec![false; count],
            inboxes: (0..schedule.ranks()).map(|_| Inbox::default()).collect(),
            ready: (0..count).filter(|&place| schedule.needs(place).is_empty()).collect(),
        }
    }

    fn run(&mut self) {
        while let Some(place) = self.ready.pop() {
            self.started[place] = true;
            self.tell(place, When::Started);
            match self.schedule.all()[place].step {
                Step::Compute { .. } | Step::Get { .. } => self.finish(place),
                Step::Send { to, tag, bytes } => self.send(place, to, tag, bytes),
                Step::Cast { first, last, tag, .. } => {
                    // A put waits for no receive.
                    (first.0..=last.0).for_each(|to| self.send(place, Rank(to), tag, 0));
                }
                Step::Receive { from, tag, .. } => self.receive(place, (from, tag)),
            }
        }
    }

    fn send(&mut self, place: usize, to: Rank, tag: Tag, bytes: u32) {
        let ways = asked(Rank(self.rank[place]), tag);
        let inbox = &mut self.inboxes[to.0 as usize];
        inbox.sent.extend(ways);
        let received: Vec<usize> =
            ways.iter().flat_map(|way| inbox.receives.remove(way).unwrap_or_default()).collect();
        let is_posted = ways.iter().any(|way| inbox.posted.contains(way));
        let is_eager = self.eager.is_none_or(|most| bytes <= most);
        if is_eager || is_posted {
            self.finish(place);
        } else {
            ways.iter().for_each(|way| inbox.sends.entry(*way).or_default().push(place));
        }
        received.into_iter().for_each(|receive| self.finish(receive));
    }

    fn receive(&mut self, place: usize, asked: Asked) {
        let inbox = &mut self.inboxes[self.rank[place] as usize];
        inbox.posted.insert(asked);
        let sends = inbox.sends.remove(&asked).unwrap_or_default();
        if inbox.sent.contains(&asked) {
            self.finish(place);
        } else {
            inbox.receives.entry(asked).or_default().push(place);
        }
        sends.into_iter().for_each(|send| self.finish(send));
    }

    fn finish(&mut self, place: usize) {
        // A long send waits in several lists.
        if !std::mem::replace(&mut self.done[place], true) {
            self.tell(place, When::Done);
        }
    }

    fn tell(&mut self, place: usize, when: When) {
        let first = self.schedule.places(Rank(self.rank[place])).start;
        for need in self.schedule.dependents(place).iter().filter(|need| need.when == when) {
            let other = first + need.op.0 as usize;
            self.missing[other] -= 1;
            if self.missing[other] == 0 {
                self.ready.push(other);
            }
        }
    }
}

/// Receives that name sender and tag and for which there are not enough messages.
fn surplus(schedule: &Schedule) -> Vec<usize> {
    let mut left: BTreeMap<(Rank, Rank, Tag), u64> = BTreeMap::new();
    let ranks = || (0..schedule.ranks()).map(Rank);
    for from in ranks() {
        for op in schedule.ops(from) {
            let Some((receivers, tag)) = op.step.sends() else { continue };
            for to in receivers.map(Rank) {
                *left.entry((from, to, tag)).or_default() += 1;
            }
        }
    }
    let mut surplus = Vec::new();
    for to in ranks() {
        for place in schedule.places(to) {
            let Step::Receive { from: Some(from), tag: Some(tag), .. } = schedule.all()[place].step
            else {
                continue;
            };
            match left.get_mut(&(from, to, tag)).filter(|left| **left > 0) {
                Some(left) => *left -= 1,
                None => surplus.push(place),
            }
        }
    }
    surplus
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Builder;

    const ONE: Rank = Rank(0);
    const TWO: Rank = Rank(1);

    fn found(builder: Builder, eager: Option<u32>) -> Vec<(u32, u32)> {
        let found = stuck(&builder.finish().unwrap(), eager);
        found.map_or(Vec::new(), |it| it.waiting.iter().map(|(r, o)| (r.0, o.0)).collect())
    }

    #[test]
    fn a_receive_without_a_message_waits_for_ever() {
        let mut builder = Builder::new(2);
        let received = builder.receive(ONE, TWO, Tag(3), 8);
        let sent = builder.send(ONE, TWO, Tag(4), 8);
        builder.after(ONE, sent, received);
        builder.receive(TWO, ONE, Tag(4), 8);
        assert_eq!(found(builder, None), [(0, 0), (1, 0)]);
    }

    #[test]
    fn one_message_is_received_once() {
        let mut builder = Builder::new(2);
        builder.send(ONE, TWO, Tag(3), 8);
        builder.receive(TWO, ONE, Tag(3), 8);
        builder.receive(TWO, ONE, Tag(3), 8);
        assert_eq!(found(builder, None), [(1, 1)]);
    }

    #[test]
    fn a_cast_is_a_message_for_each_receiver() {
        let mut builder = Builder::new(4);
        builder.cast(ONE, (TWO, Rank(3)), Tag(1), 64);
        (1..4).for_each(|rank| {
            builder.receive(Rank(rank), ONE, Tag(1), 64);
        });
        assert_eq!(found(builder.clone(), Some(8)), []);
        builder.receive(Rank(2), ONE, Tag(1), 64);
        assert_eq!(found(builder, Some(8)), [(2, 1)]);
    }

    /// Two ranks that send to each other before they receive.
    fn head_to_head(bytes: u32) -> Builder {
        let mut builder = Builder::new(2);
        for (rank, other) in [(ONE, TWO), (TWO, ONE)] {
            let sent = builder.send(rank, other, Tag(0), bytes);
            let received = builder.receive(rank, other, Tag(0), bytes);
            builder.after(rank, received, sent);
        }
        builder
    }

    #[test]
    fn long_sends_wait_for_their_receives() {
        assert_eq!(found(head_to_head(100), Some(100)), []);
        assert_eq!(found(head_to_head(101), Some(100)), [(0, 0), (1, 0)]);
        assert_eq!(found(head_to_head(101), None), []);
    }

    #[test]
    fn what_may_depend_on_time_is_not_certain() {
        let mut builder = Builder::new(2);
        builder.send(TWO, ONE, Tag(3), 8);
        builder.send(TWO, ONE, Tag(4), 8);
        let any = Step::Receive { from: None, tag: None, bytes: 8 };
        builder.add(ONE, crate::schedule::Op { step: any, cpu: 0, nic: None });
        builder.receive(ONE, TWO, Tag(3), 8);
        assert_eq!(found(builder, None), []);
    }
}
