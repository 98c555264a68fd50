//! How many bytes may be under way: a window that finds itself.
//!
//! The window is what the way delivers in the smallest round trip, and in the time `ahead` by which the queue at the rail is to be
//! long, and a few packets more. Who has less than that under way sees a rate that is its window by the round trip, and widens it; who
//! has more sees the rate of the rail, and narrows it.
//!
//! | phase | the window | until |
//! |---|---|---|
//! | start | grows by what is acknowledged, so it doubles in a round | the rate has not grown by a quarter in three rounds, or the queue is as long as it is to be, or many packets are lost |
//! | steady | follows rate and round trip | |
//!
//! Three things bound it besides:
//!
//! - *Losses.* A way that loses many packets has buffers that are too short: what was under way was too much, and a *ceiling* of seven
//!   tenths of that holds for a while and then rises. Single losses are of no account: each loss counts as much as fifty deliveries.
//! - *Our own queue.* The smallest round trip must be one without it. If none has been as short for a second, the window is drained
//!   for a round, and what is measured then is the smallest.
//! - 256 packets.

use crosstie_units::Time;

use super::delivery::{Delivery, Step};
use super::round_trip::RoundTrip;
use crate::channel::SelectiveSpec;

/// The window of one sender, in bytes.
#[derive(Debug, Clone)]
pub(super) struct Window {
    /// In picoseconds.
    ahead: u64,
    /// The longest packet.
    packet: u64,
    phase: Phase,
    /// What it would be if nothing else bounded it, and what it is.
    bytes: u64,
    limit: u64,
    ceiling: Option<Ceiling>,
    /// Losses that deliveries have not made up for, in deliveries.
    losses: u32,
    /// Packets sent before this turn and lost belong to a loss that is known.
    known: u64,
    drain: Option<Drain>,
    /// The smallest round trip of this round.
    smallest: Option<u64>,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    /// The largest rate, and rounds since it has grown much.
    Start {
        rate: f64,
        rounds: u32,
    },
    Steady,
}

/// What a way has shown not to take.
#[derive(Debug, Clone, Copy)]
struct Ceiling {
    bytes: u64,
    /// Rounds before it rises.
    rounds: u32,
}

/// The window is kept narrow to measure the round trip.
#[derive(Debug, Clone, Copy, Default)]
struct Drain {
    /// Whether no more than that is under way.
    reached: bool,
}

/// Packets of the first window.
const FIRST: u64 = 10;

/// Packets beside what rate and round trip make of the window: acknowledgements come for two at a time, and wait behind data that goes
/// the other way.
const SPARE: u64 = 6;

/// Packets of the narrowest window.
const LEAST: u64 = 2;

/// For so long a smallest round trip is believed, in picoseconds.
const BELIEVED: u64 = 1_000_000_000_000;

/// Rounds without much growth after which the rate is what the way can do.
const STAGNANT: u32 = 3;

/// A lost packet counts as much as so many delivered ones, and so many of them are too many.
const LOSS: u32 = 50;
const TOO_MANY: u32 = 8 * LOSS;

/// Rounds before a ceiling rises, and by which part of itself it does in each, at least by a packet.
const HOLD: u32 = 64;
const RISE: u64 = 32;

/// An acknowledgement of so many bytes, with what it has shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct News {
    pub bytes: u64,
    pub packets: u32,
    pub trip: Option<u64>,
    pub step: Step,
    /// What is under way after it.
    pub under_way: u64,
}

impl Window {
    pub fn new(spec: &SelectiveSpec) -> Window {
        Window {
            ahead: spec.ahead.ps(),
            packet: 0,
            phase: Phase::Start { rate: 0.0, rounds: 0 },
            bytes: 0,
            limit: 0,
            ceiling: None,
            losses: 0,
            known: 0,
            drain: None,
            smallest: None,
        }
    }

    /// Bytes that may be under way.
    #[inline]
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Whether it is kept narrow.
    #[inline]
    pub fn is_drained(&self) -> bool {
        self.drain.is_some()
    }

    /// Whether another packet of the longest would fit.
    #[inline]
    pub fn has_room(&self, under_way: u64) -> bool {
        under_way + self.packet <= self.limit
    }

    /// A packet is to be sent.
    #[inline]
    pub fn take(&mut self, bytes: u32) {
        if u64::from(bytes) > self.packet {
            self.packet = u64::from(bytes);
            self.bytes = self.bytes.max(FIRST * self.packet);
            self.bound();
        }
    }

    /// Something has been acknowledged.
    #[inline]
    pub fn acknowledged(
        &mut self,
        now: Time,
        news: News,
        delivery: &mut Delivery,
        trips: &mut RoundTrip,
    ) {
        self.losses = self.losses.saturating_sub(news.packets);
        if let Some(trip) = news.trip {
            self.smallest = Some(self.smallest.map_or(trip, |least| least.min(trip)));
        }
        if let Some(drain) = &mut self.drain
            && !drain.reached
            && news.under_way <= LEAST * self.packet
        {
            drain.reached = true;
            delivery.begin_round();
            self.smallest = None;
        } else if news.step.round {
            self.end_round(now, news.step.limited, delivery, trips);
        }
        let smallest = trips.smallest().unwrap_or(0);
        match self.phase {
            Phase::Start { .. } => {
                let queue = news.trip.map_or(0, |trip| trip.saturating_sub(smallest));
                if !news.step.limited && !self.is_queue(queue, delivery.rate()) {
                    self.bytes += news.bytes;
                }
            }
            Phase::Steady => {
                let carried = delivery.rate() * (smallest + self.ahead) as f64;
                self.bytes = carried as u64 + SPARE * self.packet;
            }
        }
        self.bound();
    }

    /// Whether a queue, in picoseconds, is longer than it is to be.
    fn is_queue(&self, queue: u64, rate: f64) -> bool {
        let spare = (SPARE * self.packet) as f64;
        queue > self.ahead && (queue - self.ahead) as f64 * rate > spare
    }

    fn end_round(
        &mut self,
        now: Time,
        limited: bool,
        delivery: &mut Delivery,
        trips: &mut RoundTrip,
    ) {
        let smallest = self.smallest.take();
        if let Some(drain) = self.drain {
            if drain.reached {
                trips.settle(now, smallest);
                self.drain = None;
            }
            return;
        }
        if let Some(ceiling) = &mut self.ceiling {
            match ceiling.rounds {
                0 => ceiling.bytes += (ceiling.bytes / RISE).max(self.packet),
                _ => ceiling.rounds -= 1,
            }
            if ceiling.bytes > 2 * self.bytes.max(FIRST * self.packet) {
                self.ceiling = None;
            }
        }
        match &mut self.phase {
            Phase::Start { rate, rounds } => {
                if delivery.rate() >= 1.25 * *rate {
                    (*rate, *rounds) = (delivery.rate(), 0);
                } else if !limited {
                    *rounds += 1;
                }
                let stagnant = *rounds >= STAGNANT;
                let queue = smallest
                    .zip(trips.smallest())
                    .map_or(0, |(now, least)| now.saturating_sub(least));
                if stagnant || self.is_queue(queue, delivery.rate()) {
                    self.phase = Phase::Steady;
                }
            }
            Phase::Steady if trips.unconfirmed(now) > BELIEVED => {
                self.drain = Some(Drain::default())
            }
            Phase::Steady => {}
        }
    }

    /// Packets have been lost, the last of them sent at a turn, while so much was under way; and how many turns there were.
    pub fn lost(&mut self, packets: u32, last: u64, under_way: u64, turns: u64) {
        if last < self.known {
            return;
        }
        self.losses = self.losses.saturating_add(packets.saturating_mul(LOSS));
        if self.losses > TOO_MANY {
            let bytes = under_way / 10 * 7;
            self.ceiling = Some(Ceiling { bytes, rounds: HOLD });
            (self.losses, self.known) = (0, turns);
            self.phase = Phase::Steady;
            self.bound();
        }
    }

    /// Packets that were taken for lost had come.
    pub fn not_lost(&mut self, packets: u32) {
        self.losses = self.losses.saturating_sub(packets.saturating_mul(LOSS));
    }

    #[inline]
    fn bound(&mut self) {
        self.bytes = self.bytes.min(u64::from(SelectiveSpec::WIDEST) * self.packet);
        let ceiling = self.ceiling.map_or(u64::MAX, |ceiling| ceiling.bytes);
        let drained = self.drain.map_or(u64::MAX, |_| LEAST * self.packet);
        self.limit = self.bytes.min(ceiling).min(drained).max(LEAST * self.packet);
    }
}
