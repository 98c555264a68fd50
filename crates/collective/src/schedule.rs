//! The one kind of schedule.

use crate::Injection;
use crosstie_units::Time;
use serde::{Deserialize, Serialize};
use std::ops::{Range, RangeInclusive};

/// A rank: one process of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Rank(pub u32);

/// What tells messages between two ranks apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(pub u32);

/// An operation of a rank, by its place among those of the rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId(pub u32);

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Sends a message. It is done when the message has left the sender.
    Send {
        /// The receiver, another rank.
        to: Rank,
        /// What the receiver asks for it by.
        tag: Tag,
        /// Its length.
        bytes: u32,
    },
    /// Takes the oldest message that fits and that no earlier receive has taken. It is done when
    /// the message is there.
    Receive {
        /// The sender; `None`: any.
        from: Option<Rank>,
        /// The tag; `None`: any.
        tag: Option<Tag>,
        /// The length that is expected; the message may be shorter.
        bytes: u32,
    },
    /// Sends a message to all ranks of a range at once, whose numbers follow each other. It is done
    /// when all of them have acknowledged it. Only networks that fork packets, below NICs that put,
    /// do so.
    Cast {
        /// The first receiver.
        first: Rank,
        /// The last one. The sender is none of them.
        last: Rank,
        /// What the receivers ask for it by.
        tag: Tag,
        /// Its length.
        bytes: u32,
    },
    /// Reads memory of a rank that does nothing for it. It is done when what was read is in the
    /// memory of its own rank. Only NICs with remote memory access do so.
    Get {
        /// Whose memory.
        from: Rank,
        /// How much.
        bytes: u32,
    },
    /// Computes for a time.
    Compute {
        /// How long.
        time: Time,
    },
}

impl Step {
    /// The numbers of the ranks to which it sends a message, and the tag of that; `None` if it
    /// sends nothing.
    pub fn sends(self) -> Option<(RangeInclusive<u32>, Tag)> {
        match self {
            Step::Send { to, tag, .. } => Some((to.0..=to.0, tag)),
            Step::Cast { first, last, tag, .. } => Some((first.0..=last.0, tag)),
            Step::Receive { .. } | Step::Get { .. } | Step::Compute { .. } => None,
        }
    }
}

/// An operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Op {
    /// What it does.
    pub step: Step,
    /// The processor of the rank that is busy with it.
    pub cpu: u16,
    /// The rail that a message must take; `None` leaves that to the policy.
    pub nic: Option<u16>,
}

/// When an operation may start, seen from another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum When {
    /// When the other one is done.
    Done,
    /// When the other one has started.
    Started,
}

/// One operation waits for another one of the same rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Need {
    /// The other one.
    pub op: OpId,
    /// For what of it.
    pub when: When,
}

/// Operations of ranks, and which waits for which.
///
/// What waits for nothing may start at once, and receives and sends of a rank may be under way
/// together. Operations of all ranks stand in one row, rank by rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    ops: Vec<Op>,
    /// Where the operations of each rank begin, and where the last one's end.
    first: Vec<u32>,
    needs: Lists<Need>,
    /// The other way round: who waits for an operation, and for what of it.
    dependents: Lists<Need>,
    outstanding: Option<u32>,
    injection: Injection,
}

/// A list for each operation, one behind the other.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Lists<T> {
    first: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy> Lists<T> {
    /// From pairs of an operation's place and an item; items keep their order.
    fn new(count: usize, pairs: impl Iterator<Item = (usize, T)> + Clone, filler: T) -> Lists<T> {
        let mut first = vec![0u32; count + 1];
        let mut total = 0;
        for (place, _) in pairs.clone() {
            first[place + 1] += 1;
            total += 1;
        }
        for i in 0..count {
            first[i + 1] += first[i];
        }
        let mut next = first.clone();
        let mut items = vec![filler; total];
        for (place, item) in pairs {
            items[next[place] as usize] = item;
            next[place] += 1;
        }
        Lists { first, items }
    }

    fn of(&self, place: usize) -> &[T] {
        &self.items[self.first[place] as usize..self.first[place + 1] as usize]
    }
}

impl Lists<Need> {
    /// The other way round: for each operation those that wait for it, in their order, whatever the
    /// order in which they were told to. Schedules that say the same are equal. `first` tells
    /// where ranks begin.
    fn turned(&self, first: &[u32]) -> Lists<Need> {
        let count = self.first.len() - 1;
        let mut begins = vec![0u32; count + 1];
        let mut items = self.items.clone();
        for rank in first.windows(2) {
            let (begin, end) = (rank[0] as usize, rank[1] as usize);
            let (from, to) = (self.first[begin] as usize, self.first[end] as usize);
            for need in &self.items[from..to] {
                begins[begin + need.op.0 as usize + 1] += 1;
            }
        }
        for place in 0..count {
            begins[place + 1] += begins[place];
        }
        let mut next = begins.clone();
        for rank in first.windows(2) {
            let (begin, end) = (rank[0] as usize, rank[1] as usize);
            for place in begin..end {
                for need in self.of(place) {
                    let slot = &mut next[begin + need.op.0 as usize];
                    let op = OpId((place - begin) as u32);
                    items[*slot as usize] = Need { op, when: need.when };
                    *slot += 1;
                }
            }
        }
        Lists { first: begins, items }
    }
}

impl Schedule {
    /// The number of ranks.
    pub fn ranks(&self) -> u32 {
        self.first.len() as u32 - 1
    }

    /// All operations, rank by rank.
    pub fn all(&self) -> &[Op] {
        &self.ops
    }

    /// The places of a rank's operations in [`Schedule::all`].
    pub fn places(&self, rank: Rank) -> Range<usize> {
        let rank = rank.0 as usize;
        self.first[rank] as usize..self.first[rank + 1] as usize
    }

    /// The operations of a rank.
    pub fn ops(&self, rank: Rank) -> &[Op] {
        &self.ops[self.places(rank)]
    }

    /// What the operation at a place waits for.
    pub fn needs(&self, place: usize) -> &[Need] {
        self.needs.of(place)
    }

    /// Which operations wait for the one at a place.
    pub fn dependents(&self, place: usize) -> &[Need] {
        self.dependents.of(place)
    }

    /// How many sends of a rank may be under way at once; `None`: any number.
    pub fn outstanding(&self) -> Option<u32> {
        self.outstanding
    }

    /// The same with another such bound, which is at least 1.
    pub fn with_outstanding(self, outstanding: Option<u32>) -> Schedule {
        assert!(outstanding != Some(0), "something must be allowed to be under way");
        Schedule { outstanding, ..self }
    }

    /// How the packets of a rank follow each other.
    pub fn injection(&self) -> Injection {
        self.injection
    }

    /// The same with packets that follow each other in another way.
    ///
    /// # Panics
    /// If there is a window of no packets.
    pub fn with_injection(self, injection: Injection) -> Schedule {
        let nothing = injection.window.is_some_and(|window| window.packets == 0);
        assert!(!nothing, "a packet must be allowed to be outstanding");
        Schedule { injection, ..self }
    }

    /// The same among more ranks, most of whom do nothing: each rank becomes another, all different
    /// ones.
    ///
    /// # Panics
    /// If ranks that are sent to at once ([`Step::Cast`]) do not follow each other any more.
    pub fn placed(&self, places: &[Rank], ranks: u32) -> Schedule {
        let at = |rank: Rank| places[rank.0 as usize];
        let mut builder = Builder::new(ranks);
        for rank in (0..self.ranks()).map(Rank) {
            for (op, place) in (0..).map(OpId).zip(self.places(rank)) {
                let step = match self.ops[place].step {
                    Step::Send { to, tag, bytes } => Step::Send { to: at(to), tag, bytes },
                    Step::Receive { from, tag, bytes } => {
                        Step::Receive { from: from.map(at), tag, bytes }
                    }
                    Step::Get { from, bytes } => Step::Get { from: at(from), bytes },
                    Step::Cast { first, last, tag, bytes } => {
                        let to = |rank: u32| at(Rank(rank)).0;
                        let mut all = (first.0..=last.0).map(|rank| to(rank) - rank);
                        assert!(
                            all.all(|shift| shift == to(first.0) - first.0),
                            "a range stays one"
                        );
                        Step::Cast { first: at(first), last: at(last), tag, bytes }
                    }
                    compute @ Step::Compute { .. } => compute,
                };
                debug_assert_eq!(builder.ranks[at(rank).0 as usize].ops.len(), op.0 as usize);
                builder.add(at(rank), Op { step, ..self.ops[place] });
            }
            for (op, place) in (0..).map(OpId).zip(self.places(rank)) {
                for &need in self.needs(place) {
                    builder.need(at(rank), op, need);
                }
            }
        }
        let placed = builder.finish().expect("what waits for what is the same");
        placed.with_outstanding(self.outstanding).with_injection(self.injection)
    }

    /// The same behind a computation: every rank that does something computes for so long first.
    /// Numbers of operations stay.
    pub fn after_computing(&self, time: Time) -> Schedule {
        let mut builder = Builder::new(self.ranks());
        for rank in (0..self.ranks()).map(Rank).filter(|rank| !self.places(*rank).is_empty()) {
            for &op in self.ops(rank) {
                builder.add(rank, op);
            }
            let computed = builder.compute(rank, time);
            for (op, place) in (0..).map(OpId).zip(self.places(rank)) {
                if self.needs(place).is_empty() {
                    builder.after(rank, op, computed);
                }
                for &need in self.needs(place) {
                    builder.need(rank, op, need);
                }
            }
        }
        let behind = builder.finish().expect("a computation waits for nothing");
        behind.with_outstanding(self.outstanding).with_injection(self.injection)
    }

    /// The first operation that reads the memory of another rank, if there is one.
    pub fn first_get(&self) -> Option<(Rank, OpId)> {
        self.first(|step| matches!(step, Step::Get { .. }))
    }

    /// The first operation that sends to a range of ranks, if there is one.
    pub fn first_cast(&self) -> Option<(Rank, OpId)> {
        self.first(|step| matches!(step, Step::Cast { .. }))
    }

    fn first(&self, is_it: fn(&Step) -> bool) -> Option<(Rank, OpId)> {
        let place = |rank| self.ops(rank).iter().position(|op| is_it(&op.step));
        (0..self.ranks()).map(Rank).find_map(|rank| Some((rank, OpId(place(rank)? as u32))))
    }

    /// The payload of all its messages, and what is read without any.
    pub fn bytes(&self) -> u64 {
        let sent = |op: &Op| match op.step {
            Step::Send { bytes, .. } | Step::Get { bytes, .. } => u64::from(bytes),
            Step::Cast { first, last, bytes, .. } => {
                u64::from(bytes) * u64::from(last.0 - first.0 + 1)
            }
            Step::Receive { .. } | Step::Compute { .. } => 0,
        };
        self.ops.iter().map(sent).sum()
    }
}

/// Operations of a rank wait for each other in a circle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} operations of rank {} wait for each other in a circle", circle.len(), rank.0)]
pub struct CyclicRank {
    /// The rank.
    pub rank: Rank,
    /// Each of these waits for the next, and the last for the first.
    pub circle: Vec<OpId>,
}

/// A schedule in the making.
#[derive(Debug, Clone)]
pub struct Builder {
    ranks: Vec<Draft>,
    outstanding: Option<u32>,
    injection: Injection,
}

/// The operations of one rank in the making.
#[derive(Debug, Clone, Default)]
struct Draft {
    ops: Vec<Op>,
    /// Which operation waits for what.
    needs: Vec<(OpId, Need)>,
}

impl Builder {
    /// So many ranks with nothing to do.
    pub fn new(ranks: u32) -> Builder {
        let (ranks, injection) = (vec![Draft::default(); ranks as usize], Injection::default());
        Builder { ranks, outstanding: None, injection }
    }

    /// Says how the packets of a rank follow each other.
    pub fn inject(&mut self, injection: Injection) {
        self.injection = injection;
    }

    /// Limits the sends of a rank that may be under way at once.
    pub fn limit_outstanding(&mut self, outstanding: u32) {
        self.outstanding = Some(outstanding);
    }

    /// Adds an operation.
    pub fn add(&mut self, rank: Rank, op: Op) -> OpId {
        let ops = &mut self.ranks[rank.0 as usize].ops;
        ops.push(op);
        OpId(ops.len() as u32 - 1)
    }

    /// Adds a send, on the first processor and the rail that the policy chooses.
    pub fn send(&mut self, rank: Rank, to: Rank, tag: Tag, bytes: u32) -> OpId {
        self.add(rank, Op { step: Step::Send { to, tag, bytes }, cpu: 0, nic: None })
    }

    /// Adds a send to all ranks from one to another; to one alone it is a send.
    pub fn cast(&mut self, rank: Rank, (first, last): (Rank, Rank), tag: Tag, bytes: u32) -> OpId {
        if first == last {
            return self.send(rank, first, tag, bytes);
        }
        self.add(rank, Op { step: Step::Cast { first, last, tag, bytes }, cpu: 0, nic: None })
    }

    /// Adds a read of the memory of another rank.
    pub fn get(&mut self, rank: Rank, from: Rank, bytes: u32) -> OpId {
        self.add(rank, Op { step: Step::Get { from, bytes }, cpu: 0, nic: None })
    }

    /// Adds a receive.
    pub fn receive(&mut self, rank: Rank, from: Rank, tag: Tag, bytes: u32) -> OpId {
        let step = Step::Receive { from: Some(from), tag: Some(tag), bytes };
        self.add(rank, Op { step, cpu: 0, nic: None })
    }

    /// Adds a computation.
    pub fn compute(&mut self, rank: Rank, time: Time) -> OpId {
        self.add(rank, Op { step: Step::Compute { time }, cpu: 0, nic: None })
    }

    /// Lets an operation wait until another one is done.
    pub fn after(&mut self, rank: Rank, op: OpId, other: OpId) {
        self.need(rank, op, Need { op: other, when: When::Done });
    }

    /// Lets an operation wait for another one.
    ///
    /// # Panics
    /// If the rank has no such operations.
    pub fn need(&mut self, rank: Rank, op: OpId, need: Need) {
        let draft = &mut self.ranks[rank.0 as usize];
        let count = draft.ops.len() as u32;
        assert!(op.0 < count && need.op.0 < count, "rank {} has {count} operations", rank.0);
        draft.needs.push((op, need));
    }

    /// Lets every message that names no rail take the first.
    pub(crate) fn name_rails(&mut self) {
        for op in self.ranks.iter_mut().flat_map(|draft| &mut draft.ops) {
            if !matches!(op.step, Step::Compute { .. }) {
                op.nic.get_or_insert(0);
            }
        }
    }

    /// The schedule, unless operations wait for each other in a circle.
    ///
    /// # Panics
    /// If there are 2^32 operations or more.
    pub fn finish(self) -> Result<Schedule, CyclicRank> {
        let mut first = vec![0u32];
        for draft in &self.ranks {
            let end = *first.last().expect("it has one") as usize + draft.ops.len();
            first.push(u32::try_from(end).expect("fewer than 2^32 operations"));
        }
        let count = *first.last().expect("it has one") as usize;
        let pairs = self.ranks.iter().zip(&first).flat_map(|(draft, &first)| {
            draft.needs.iter().map(move |&(op, need)| (first as usize, op, need))
        });
        let filler = Need { op: OpId(0), when: When::Done };
        let pairs = pairs.map(|(first, op, need)| (first + op.0 as usize, need));
        let needs = Lists::new(count, pairs, filler);
        let dependents = needs.turned(&first);
        let mut ops = Vec::with_capacity(count);
        for draft in &self.ranks {
            ops.extend_from_slice(&draft.ops);
        }
        let Builder { outstanding, injection, .. } = self;
        let schedule = Schedule { ops, first, needs, dependents, outstanding, injection };
        match (0..schedule.ranks()).find_map(|rank| schedule.circle(Rank(rank))) {
            None => Ok(schedule),
            Some(cyclic) => Err(cyclic),
        }
    }
}

impl Schedule {
    /// Operations of a rank that wait for each other in a circle, if there are any.
    fn circle(&self, rank: Rank) -> Option<CyclicRank> {
        let places = self.places(rank);
        let first = places.start;
        // Whoever waits for earlier ones only is in no circle.
        let earlier =
            |place: usize| self.needs(place).iter().all(|n| first + (n.op.0 as usize) < place);
        if places.clone().all(earlier) {
            return None;
        }
        let mut missing: Vec<u32> =
            places.clone().map(|place| self.needs(place).len() as u32).collect();
        let mut free: Vec<usize> = places.filter(|&place| missing[place - first] == 0).collect();
        let mut sorted = 0;
        while let Some(place) = free.pop() {
            sorted += 1;
            for dependent in self.dependents(place) {
                let dependent = dependent.op.0 as usize;
                missing[dependent] -= 1;
                if missing[dependent] == 0 {
                    free.push(first + dependent);
                }
            }
        }
        if sorted == missing.len() {
            return None;
        }
        // Each of those that are left waits for another one that is left: whoever follows that
        // comes by a place twice.
        let mut met = vec![u32::MAX; missing.len()];
        let mut way: Vec<usize> = Vec::new();
        let mut next = missing.iter().position(|&m| m > 0).expect("one is left");
        loop {
            if met[next] != u32::MAX {
                let circle = way[met[next] as usize..].iter();
                let circle = circle.map(|&op| OpId(op as u32)).collect();
                return Some(CyclicRank { rank, circle });
            }
            met[next] = way.len() as u32;
            way.push(next);
            let needs = self.needs(first + next).iter();
            let left = needs.map(|need| need.op.0 as usize).find(|&op| missing[op] > 0);
            next = left.expect("what is left waits for something that is left");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_know_what_they_wait_for_and_who_waits_for_them() {
        let mut builder = Builder::new(2);
        let computed = builder.compute(Rank(1), Time::from_ns(5));
        let sent = builder.send(Rank(1), Rank(0), Tag(7), 64);
        builder.after(Rank(1), sent, computed);
        let received = builder.receive(Rank(0), Rank(1), Tag(7), 64);
        let schedule = builder.finish().unwrap();
        assert_eq!((schedule.ranks(), schedule.all().len(), schedule.bytes()), (2, 3, 64));
        assert_eq!(schedule.places(Rank(1)), 1..3);
        assert_eq!(schedule.ops(Rank(0)).len(), received.0 as usize + 1);
        assert_eq!(schedule.needs(2), [Need { op: computed, when: When::Done }]);
        assert_eq!(schedule.dependents(1), [Need { op: sent, when: When::Done }]);
        assert!(schedule.needs(1).is_empty() && schedule.dependents(2).is_empty());
    }

    #[test]
    fn what_waits_for_nothing_waits_for_the_computation_before() {
        let mut builder = Builder::new(3);
        let received = builder.receive(Rank(0), Rank(1), Tag(7), 64);
        let sent = builder.send(Rank(0), Rank(1), Tag(7), 64);
        builder.after(Rank(0), sent, received);
        builder.receive(Rank(1), Rank(0), Tag(7), 64);
        builder.send(Rank(1), Rank(0), Tag(7), 64);
        let schedule = builder.finish().unwrap().with_outstanding(Some(1));
        let behind = schedule.after_computing(Time::from_ns(5));
        assert_eq!((behind.all().len(), behind.outstanding()), (6, Some(1)));
        assert_eq!(behind.ops(Rank(0))[2].step, Step::Compute { time: Time::from_ns(5) });
        let done = |op| [Need { op: OpId(op), when: When::Done }];
        let needs: Vec<&[Need]> = (0..6).map(|place| behind.needs(place)).collect();
        let (first, second) = (done(2), done(0));
        assert_eq!(needs, [&first[..], &second, &[], &first, &first, &[]]);
        assert!(behind.ops(Rank(2)).is_empty(), "who does nothing computes nothing");
    }

    #[test]
    fn who_waits_stands_in_order_however_it_was_told() {
        let schedule = |order: [u32; 2]| {
            let mut builder = Builder::new(1);
            (0..3).for_each(|_| _ = builder.compute(Rank(0), Time::ZERO));
            order.iter().for_each(|&op| builder.after(Rank(0), OpId(op), OpId(0)));
            builder.finish().unwrap()
        };
        assert_eq!(schedule([1, 2]), schedule([2, 1]));
    }

    #[test]
    fn a_circle_is_named() {
        let mut builder = Builder::new(2);
        let rank = Rank(1);
        let ops: Vec<OpId> = (0..4).map(|_| builder.compute(rank, Time::ZERO)).collect();
        builder.after(rank, ops[0], ops[3]);
        builder.after(rank, ops[1], ops[2]);
        builder.need(rank, ops[2], Need { op: ops[3], when: When::Started });
        builder.after(rank, ops[3], ops[1]);
        let cyclic = builder.finish().unwrap_err();
        assert_eq!(cyclic.rank, rank);
        assert_eq!(cyclic.circle, [ops[3], ops[1], ops[2]]);
    }
}
