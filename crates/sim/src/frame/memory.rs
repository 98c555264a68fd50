//! The memories of switches, and the books of them.

use super::framing;
use super::spec::{Capacity, HandOver};
use crate::network::{BufferPlace, BufferTally};
use crosstie_units::Time;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// One memory. Frames have their room until the last bit has left, which is known when they start.
///
/// What has left is given free when that matters: while there is room enough for certain and no
/// peak is in sight, `used` is an upper bound, and the times at which frames leave are not looked
/// at.
#[derive(Debug)]
pub(super) struct Store {
    used: u64,
    /// What of it may be used without a look, and what there is.
    carefree: u64,
    total: u64,
    /// What a frame takes of it: 1, or its bytes.
    in_bytes: bool,
    peak: u64,
    taken: u64,
    /// When rooms become free, and how much.
    leaving: Leaving,
    dropped: u64,
    /// Since when there is no room for a frame of full size, and for how long there was none
    /// before.
    full_since: Option<Time>,
    full: Time,
    place: BufferPlace,
}

/// When frames leave, the next one first.
#[derive(Debug)]
enum Leaving {
    /// In the order in which they came.
    Queue(VecDeque<(Time, u32)>),
    /// In any order.
    Heap(BinaryHeap<Reverse<(Time, u32)>>),
}

impl Leaving {
    #[inline]
    fn next(&self) -> Option<(Time, u32)> {
        match self {
            Leaving::Queue(queue) => queue.front().copied(),
            Leaving::Heap(heap) => heap.peek().map(|&Reverse(next)| next),
        }
    }

    #[inline]
    fn pop(&mut self) {
        match self {
            Leaving::Queue(queue) => drop(queue.pop_front()),
            Leaving::Heap(heap) => drop(heap.pop()),
        }
    }

    #[inline]
    fn push(&mut self, at: Time, share: u32) {
        match self {
            Leaving::Queue(queue) => queue.push_back((at, share)),
            Leaving::Heap(heap) => heap.push(Reverse((at, share))),
        }
    }
}

/// What the longest frames carry.
const LONGEST: u32 = 1500;

impl Store {
    pub fn new(place: BufferPlace, capacity: Capacity) -> Store {
        let leaving = match place {
            BufferPlace::Output(_) => Leaving::Queue(VecDeque::new()),
            BufferPlace::Input(_) | BufferPlace::Switch(_) => Leaving::Heap(BinaryHeap::new()),
        };
        Store {
            used: 0,
            carefree: 0,
            total: capacity.total(),
            in_bytes: matches!(capacity, Capacity::Bytes(_)),
            peak: 0,
            taken: 0,
            leaving,
            dropped: 0,
            full_since: None,
            full: Time::ZERO,
            place,
        }
    }

    /// Frames may leave in another order than that in which it is known when they do.
    fn expect_disorder(&mut self) {
        self.leaving = Leaving::Heap(BinaryHeap::new());
    }

    /// What a frame takes.
    #[inline]
    fn share(&self, bytes: u32) -> u32 {
        if self.in_bytes { framing::stored(bytes) } else { 1 }
    }

    fn is_full(&self) -> bool {
        self.used + u64::from(self.share(LONGEST)) > self.total
    }

    /// Gives free what has left by now.
    #[inline(never)]
    fn settle(&mut self, now: Time) {
        while let Some((at, share)) = self.leaving.next()
            && at <= now
        {
            self.leaving.pop();
            self.used -= u64::from(share);
            if let Some(since) = self.full_since
                && !self.is_full()
            {
                self.full = self.full + (at - since);
                self.full_since = None;
            }
        }
    }

    /// Whether there is room for a frame.
    #[inline]
    pub fn fits(&mut self, now: Time, bytes: u32) -> bool {
        let share = u64::from(self.share(bytes));
        if self.used + share > self.carefree {
            self.settle(now);
        }
        self.used + share <= self.total
    }

    /// Takes a frame in, for which there is room.
    #[inline]
    pub fn take(&mut self, now: Time, bytes: u32) {
        self.used += u64::from(self.share(bytes));
        self.taken += 1;
        if self.used > self.carefree {
            self.note(now);
        }
    }

    /// Takes note of a peak, and of being full.
    fn note(&mut self, now: Time) {
        self.peak = self.peak.max(self.used);
        // With as much as that again there is still room for a frame of full size.
        let longest = u64::from(self.share(LONGEST));
        self.carefree = self.peak.min(self.total.saturating_sub(longest));
        if self.full_since.is_none() && self.is_full() {
            self.full_since = Some(now);
        }
    }

    /// A frame that was taken in will have left at a time.
    #[inline]
    pub fn leaves(&mut self, at: Time, bytes: u32) {
        let share = self.share(bytes);
        self.leaving.push(at, share);
    }

    /// Refuses a frame.
    #[inline]
    pub fn refuse(&mut self) {
        self.dropped += 1;
    }

    pub fn tally(&mut self, now: Time) -> BufferTally {
        self.settle(now);
        let since = self.full_since.map_or(Time::ZERO, |since| now - since);
        BufferTally {
            place: self.place,
            capacity: self.total,
            in_bytes: self.in_bytes,
            peak: self.peak,
            taken: self.taken,
            dropped: self.dropped,
            full: self.full + since,
        }
    }
}

/// The memories that a frame may have room in.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rooms {
    /// At the input.
    Input { store: u32, hand_over: HandOver, stage: u32 },
    /// At the output: the store by the channel out.
    Output,
    /// In the memory for all, or beside it at the input; within the cap of the channel out.
    Shared { all: u32, beside: Option<u32> },
    /// Nowhere: the channel leads to a host.
    None,
}

/// All memories of a network.
#[derive(Debug, Default)]
pub(super) struct Memories {
    pub stores: Vec<Store>,
    /// Where frames that come by a channel may have room.
    pub rooms: Vec<Rooms>,
    /// The store of a channel that leaves a switch: its own, or its cap of what is shared; `NONE`:
    /// neither.
    pub out: Vec<u32>,
}

/// No store.
pub(super) const NONE: u32 = u32::MAX;

impl Memories {
    pub fn add(&mut self, place: BufferPlace, capacity: Capacity) -> u32 {
        self.stores.push(Store::new(place, capacity));
        self.stores.len() as u32 - 1
    }

    /// Frames may leave in any order.
    pub fn expect_disorder(&mut self) {
        self.stores.iter_mut().for_each(Store::expect_disorder);
    }

    /// Finds room for a frame that has come by one channel and goes on by another: the stores that
    /// it has room in, or `None` if it is dropped.
    #[inline]
    pub fn admit(&mut self, now: Time, by: u32, out: u32, bytes: u32) -> Option<[u32; 2]> {
        let out = self.out[out as usize];
        let found = match self.rooms[by as usize] {
            Rooms::Output => [out, NONE],
            Rooms::Input { store, .. } => [store, NONE],
            Rooms::Shared { all, beside } => {
                if out != NONE && !self.stores[out as usize].fits(now, bytes) {
                    self.stores[out as usize].refuse();
                    return None;
                }
                let beside = beside.filter(|_| !self.stores[all as usize].fits(now, bytes));
                [beside.unwrap_or(all), out]
            }
            Rooms::None => unreachable!("frames are admitted by switches"),
        };
        let first = &mut self.stores[found[0] as usize];
        if !first.fits(now, bytes) {
            first.refuse();
            return None;
        }
        first.take(now, bytes);
        if found[1] != NONE {
            self.stores[found[1] as usize].take(now, bytes);
        }
        Some(found)
    }

    /// A frame that was admitted will have left at a time.
    #[inline]
    pub fn leaves(&mut self, stores: [u32; 2], at: Time, bytes: u32) {
        for store in stores.into_iter().filter(|&store| store != NONE) {
            self.stores[store as usize].leaves(at, bytes);
        }
    }
}

const _: () = assert!(framing::stored(LONGEST) == 1518);
