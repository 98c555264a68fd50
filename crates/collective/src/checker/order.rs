//! What comes before what.

use super::Fault;
use crate::{Need, OpId, Rank, Schedule, Step, When};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// When a send is done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sends {
    /// When the message has left.
    Leave,
    /// When its receive is posted.
    Meet,
}

/// Something that happens once: the operation at a place starts, or is done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Event(u32);

impl Event {
    pub fn started(place: usize) -> Event {
        Event(place as u32 * 2)
    }

    pub fn done(place: usize) -> Event {
        Event(place as u32 * 2 + 1)
    }

    pub fn place(self) -> usize {
        (self.0 / 2) as usize
    }

    pub fn is_start(self) -> bool {
        self.0.is_multiple_of(2)
    }
}

/// Everything that happens, each after all that it waits for.
pub(super) fn events(
    schedule: &Schedule,
    peers: &[u32],
    sends: Sends,
) -> Result<Vec<Event>, Fault> {
    let count = schedule.all().len();
    assert!(count < 1 << 31, "events are counted in 32 bits");
    let owners = owners(schedule);
    let first = |place: usize| schedule.places(Rank(owners[place])).start;
    // Whether an operation cannot be done before the other end of its message has started.
    let waits = |place: usize| match schedule.all()[place].step {
        Step::Receive { .. } => true,
        Step::Send { .. } => sends == Sends::Meet,
        Step::Compute { .. } | Step::Get { .. } => false,
    };
    let mut missing = vec![0u32; 2 * count];
    let mut order: Vec<Event> = Vec::with_capacity(2 * count);
    for place in 0..count {
        missing[2 * place] = schedule.needs(place).len() as u32;
        missing[2 * place + 1] = 1 + u32::from(waits(place));
        if missing[2 * place] == 0 {
            order.push(Event::started(place));
        }
    }
    let mut next = 0;
    while let Some(&event) = order.get(next) {
        next += 1;
        let place = event.place();
        let mut happened = |after: Event| {
            missing[after.0 as usize] -= 1;
            if missing[after.0 as usize] == 0 {
                order.push(after);
            }
        };
        let when = if event.is_start() { When::Started } else { When::Done };
        for dependent in schedule.dependents(place).iter().filter(|need| need.when == when) {
            happened(Event::started(first(place) + dependent.op.0 as usize));
        }
        if event.is_start() {
            happened(Event::done(place));
            let peer = peers[place] as usize;
            if peer < count && waits(peer) {
                happened(Event::done(peer));
            }
        }
    }
    if order.len() == 2 * count {
        return Ok(order);
    }
    // What is left waits for something that is left: whoever follows that comes by an event twice.
    let stuck = |event: &Event| missing[event.0 as usize] > 0;
    let before = |event: Event| {
        let place = event.place();
        if !event.is_start() {
            let peer = Some(peers[place] as usize).filter(|_| waits(place)).map(Event::started);
            return [Some(Event::started(place)), peer].into_iter().flatten().find(stuck);
        }
        let needed = |need: &Need| {
            let place = first(place) + need.op.0 as usize;
            if need.when == When::Done { Event::done(place) } else { Event::started(place) }
        };
        schedule.needs(place).iter().map(needed).find(stuck)
    };
    let mut seen = vec![u32::MAX; 2 * count];
    let mut way: Vec<Event> = Vec::new();
    let mut event = (0..2 * count as u32).map(Event).find(stuck).expect("something is left");
    while seen[event.0 as usize] == u32::MAX {
        seen[event.0 as usize] = way.len() as u32;
        way.push(event);
        event = before(event).expect("what is left waits for something that is left");
    }
    let mut circle: Vec<usize> =
        way[seen[event.0 as usize] as usize..].iter().map(|event| event.place()).collect();
    circle.dedup();
    if circle.len() > 1 && circle.first() == circle.last() {
        circle.pop();
    }
    let named = |place: usize| (Rank(owners[place]), OpId((place - first(place)) as u32));
    Err(Fault::Circle { circle: circle.into_iter().map(named).collect() })
}

/// The rank of each operation.
pub(super) fn owners(schedule: &Schedule) -> Vec<u32> {
    let mut owners = Vec::with_capacity(schedule.all().len());
    for rank in 0..schedule.ranks() {
        owners.resize(schedule.places(Rank(rank)).end, rank);
    }
    owners
}

/// When a rank posts each of its operations if nothing takes time: those that wait for others after
/// them, else in their order.
pub(super) fn turns(schedule: &Schedule, rank: Rank) -> Vec<u32> {
    let mut turns = vec![0; schedule.ops(rank).len()];
    for (turn, op) in sorted(schedule, rank).into_iter().enumerate() {
        turns[op as usize] = turn as u32;
    }
    turns
}

/// The operations of a rank, each after all that it waits for.
fn sorted(schedule: &Schedule, rank: Rank) -> Vec<u32> {
    let places = schedule.places(rank);
    let count = places.len() as u32;
    let forward = |op: u32| schedule.needs(places.start + op as usize).iter().all(|n| n.op.0 < op);
    if (0..count).all(forward) {
        return (0..count).collect();
    }
    let mut missing: Vec<usize> = places.clone().map(|place| schedule.needs(place).len()).collect();
    let ready = (0..count).filter(|&op| missing[op as usize] == 0);
    let mut ready: BinaryHeap<Reverse<u32>> = ready.map(Reverse).collect();
    let mut sorted = Vec::with_capacity(count as usize);
    while let Some(Reverse(op)) = ready.pop() {
        sorted.push(op);
        for dependent in schedule.dependents(places.start + op as usize) {
            let dependent = dependent.op.0;
            missing[dependent as usize] -= 1;
            if missing[dependent as usize] == 0 {
                ready.push(Reverse(dependent));
            }
        }
    }
    sorted
}

/// Whether dependencies let an operation of a rank start before another one.
pub(super) fn starts_before(schedule: &Schedule, rank: Rank, one: OpId, other: OpId) -> bool {
    reached(schedule, rank, other, |need| need.op == one)
}

/// Whether an operation waits for something, directly or by others.
fn reached(schedule: &Schedule, rank: Rank, op: OpId, goal: impl Fn(&Need) -> bool) -> bool {
    let first = schedule.places(rank).start;
    let mut seen = vec![false; schedule.ops(rank).len()];
    let mut open = vec![op];
    while let Some(op) = open.pop() {
        for need in schedule.needs(first + op.0 as usize) {
            if goal(need) {
                return true;
            }
            if !std::mem::replace(&mut seen[need.op.0 as usize], true) {
                open.push(need.op);
            }
        }
    }
    false
}

/// From so many operations of a rank on their order is searched for and not kept.
const MANY: usize = 1 << 14;

/// Which operations of a rank are done before which others start.
pub(super) struct Ancestors<'a> {
    schedule: &'a Schedule,
    rank: Rank,
    /// A bit for each operation that is done before, one row for each operation; empty if they are
    /// many.
    bits: Vec<u64>,
    width: usize,
}

impl Ancestors<'_> {
    pub fn new(schedule: &Schedule, rank: Rank) -> Ancestors<'_> {
        let (first, count) = (schedule.places(rank).start, schedule.ops(rank).len());
        let width = count.div_ceil(64);
        if count >= MANY {
            return Ancestors { schedule, rank, bits: Vec::new(), width };
        }
        let mut bits = vec![0u64; count * width];
        for op in sorted(schedule, rank) {
            let row = op as usize * width;
            for need in schedule.needs(first + op as usize) {
                let other = need.op.0 as usize;
                for word in 0..width {
                    bits[row + word] |= bits[other * width + word];
                }
                if need.when == When::Done {
                    bits[row + other / 64] |= 1 << (other % 64);
                }
            }
        }
        Ancestors { schedule, rank, bits, width }
    }

    /// Whether one operation is done before another one starts.
    pub fn before(&self, one: OpId, other: OpId) -> bool {
        if self.bits.is_empty() {
            let goal = |need: &Need| need.op == one && need.when == When::Done;
            return reached(self.schedule, self.rank, other, goal);
        }
        let word = self.bits[other.0 as usize * self.width + one.0 as usize / 64];
        word >> (one.0 % 64) & 1 == 1
    }
}
