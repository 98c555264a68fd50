//! What losses say about the way: how much more than it takes to keep the rail busy may be under
//! way.

/// The bound that losses set to what is under way beside rate times round trip: to the queue.
///
/// Where buffers are short, packets are lost because there are too many: every few losses the bound
/// is cut to seven tenths of what there was, and rises slowly. Since it bounds only the queue, a
/// rail is kept busy all the same; and since everybody who loses cuts by the same part and rises by
/// the same step, those who share a buffer come to share it evenly.
///
/// Some ways lose packets for other reasons, however short the queue is. A buffer that is full
/// delays the packets that it does not lose as long as it can: losses while packets come through
/// sooner than they did of late are not its doing. After some of these, losses are taken for
/// granted for a while.
#[derive(Debug, Clone)]
pub(super) struct Losses {
    /// Bytes beside rate times round trip; `None`: as many as the window wants.
    bound: Option<u64>,
    /// Rounds until it rises.
    rounds: u32,
    /// Losses that deliveries have not made up for, in deliveries.
    pending: u32,
    /// Packets sent before this turn and lost belong to a cut that has been made.
    known: u64,
    /// How long packets waited at least in the last round, and in the last rounds at most of
    /// these; in picoseconds.
    queue: u64,
    deepest: u64,
    /// Losses while the queue was short, less those while it was long.
    shallow: u32,
    /// Packets to be delivered before losses are no longer taken for granted.
    granted: u32,
}

/// So many deliveries make up for a loss, or so many if losses are taken for granted; and so many
/// losses are too many.
const MAKE_UP: u32 = 512;
const MAKE_UP_IF_GRANTED: u32 = 20;
const TOO_MANY: u32 = 4;

/// Rounds after which the bound rises, by this part of itself, and at least by a packet.
const ROUNDS: u32 = 32;
const RISE: u64 = 16;

/// Packets of the least bound.
const LEAST: u64 = 2;

/// By which part the deepest queue is forgotten in a round.
const FADING: u64 = 256;

/// After so many losses while the queue was short, losses are taken for granted for so many
/// packets.
const SHALLOW: u32 = 8;
const GRANTED: u32 = 20_000;

/// What losses are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    Few,
    /// The bound has been cut.
    Many,
    /// The bound cannot be cut any more.
    TooMany,
}

impl Losses {
    pub fn new() -> Losses {
        Losses {
            bound: None,
            rounds: 0,
            pending: 0,
            known: 0,
            queue: 0,
            deepest: 0,
            shallow: 0,
            granted: 0,
        }
    }

    /// As much as is allowed of so many bytes beside rate times round trip.
    #[inline]
    pub fn bound(&self, bytes: u64) -> u64 {
        self.bound.map_or(bytes, |bound| bound.min(bytes))
    }

    /// Whether they bound anything.
    pub fn are_many(&self) -> bool {
        self.bound.is_some()
    }

    /// Packets have been delivered.
    #[inline]
    pub fn delivered(&mut self, packets: u32) {
        self.pending = self.pending.saturating_sub(packets);
        self.granted = self.granted.saturating_sub(packets);
    }

    /// A round is over. What would be under way beside rate times round trip, the bytes of a
    /// packet, and how long packets have waited at least.
    pub fn round(&mut self, wanted: u64, packet: u64, queue: Option<u64>) {
        self.queue = queue.unwrap_or(self.queue);
        self.deepest = (self.deepest - self.deepest / FADING).max(self.queue);
        let Some(bound) = &mut self.bound else { return };
        self.rounds = self.rounds.saturating_sub(1);
        if self.rounds == 0 {
            self.rounds = ROUNDS;
            *bound += (*bound / RISE).max(packet);
        }
        if *bound > wanted.saturating_mul(2) {
            self.bound = None;
        }
    }

    /// Packets have been lost, the last of them sent at a turn, when there have been so many turns
    /// and there was so much under way beside rate times round trip.
    pub fn lost(
        &mut self,
        packets: u32,
        last: u64,
        turns: u64,
        beside: u64,
        packet: u64,
    ) -> Extent {
        if last < self.known {
            return Extent::Few;
        }
        if self.granted == 0 {
            if self.queue < self.deepest - self.deepest / 4 {
                self.shallow += packets;
                if self.shallow >= SHALLOW {
                    (self.granted, self.shallow, self.bound) = (GRANTED, 0, None);
                }
                return Extent::Few;
            }
            self.shallow = self.shallow.saturating_sub(packets);
        }
        let makes_up = if self.granted > 0 { MAKE_UP_IF_GRANTED } else { MAKE_UP };
        self.pending = self.pending.saturating_add(packets.saturating_mul(makes_up));
        if self.pending <= TOO_MANY * makes_up {
            return Extent::Few;
        }
        (self.pending, self.known, self.granted) = (0, turns, 0);
        let (least, before) = (LEAST * packet, self.bound);
        self.bound = Some((self.bound(beside) / 10 * 7).max(least));
        self.rounds = ROUNDS;
        if before.is_some_and(|before| before <= least) { Extent::TooMany } else { Extent::Many }
    }

    /// Packets that were taken for lost had come.
    pub fn were_none(&mut self, packets: u32) {
        self.pending = self.pending.saturating_sub(packets.saturating_mul(MAKE_UP));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: u64 = 1_000;

    /// Packets are sent, of which every so-manieth is lost, while they wait for so long, and 100 KB
    /// are under way beside what it takes; how often that was too many.
    fn lose(losses: &mut Losses, turns: &mut u64, packets: u32, every: u32, queue: u64) -> u32 {
        let mut cuts = 0;
        for packet in 1..=packets {
            *turns += 1;
            if packet.is_multiple_of(every) {
                let beside = losses.bound(100 * PACKET);
                let found = losses.lost(1, *turns, *turns, beside, PACKET);
                cuts += u32::from(found != Extent::Few);
            } else {
                losses.delivered(1);
            }
            if packet.is_multiple_of(50) {
                losses.round(100 * PACKET, PACKET, Some(queue));
            }
        }
        cuts
    }

    #[test]
    fn a_few_losses_are_of_no_account_and_many_bound_the_queue() {
        let (mut losses, mut turns) = (Losses::new(), 1);
        assert_eq!(lose(&mut losses, &mut turns, 100_000, 1_000, 500), 0);
        assert!(!losses.are_many());
        assert!(lose(&mut losses, &mut turns, 2_000, 50, 500) > 4);
        assert!(losses.are_many() && losses.bound(100 * PACKET) < 20 * PACKET, "{losses:?}");
        assert!(lose(&mut losses, &mut turns, 10_000, 10, 500) > 100);
        assert_eq!(losses.bound(100 * PACKET), LEAST * PACKET, "it is never narrower");
        // It rises when there are no more, and is gone at last.
        assert_eq!(lose(&mut losses, &mut turns, 10_000, u32::MAX, 500), 0);
        let risen = losses.bound(100 * PACKET);
        assert!((5 * PACKET..20 * PACKET).contains(&risen), "{risen}");
        lose(&mut losses, &mut turns, 1_000_000, u32::MAX, 500);
        assert!(!losses.are_many());
    }

    #[test]
    fn a_burst_of_losses_is_one_cut() {
        let mut losses = Losses::new();
        let lost =
            |losses: &mut Losses, last| losses.lost(40, last, last + 50, 100 * PACKET, PACKET);
        assert_eq!(lost(&mut losses, 100), Extent::Many);
        assert_eq!(losses.bound(100 * PACKET), 70 * PACKET);
        assert_eq!(lost(&mut losses, 149), Extent::Few, "sent before the cut");
        assert_eq!(lost(&mut losses, 151), Extent::Many);
        assert_eq!(losses.bound(100 * PACKET), 49 * PACKET);
        let found: Vec<Extent> = (3..16).map(|times| lost(&mut losses, 100 * times)).collect();
        assert_eq!((found[0], found[12]), (Extent::Many, Extent::TooMany));
        assert_eq!(losses.bound(100 * PACKET), LEAST * PACKET);
    }

    #[test]
    fn losses_that_do_not_depend_on_the_queue_are_taken_for_granted() {
        let (mut losses, mut turns) = (Losses::new(), 1);
        lose(&mut losses, &mut turns, 500, 100, 1_000);
        assert!(losses.are_many());
        // The queue has become shorter, and as many are lost.
        lose(&mut losses, &mut turns, 1_000, 100, 700);
        assert!(!losses.are_many() && losses.granted > 0, "{losses:?}");
        assert_eq!(lose(&mut losses, &mut turns, 15_000, 100, 1_000), 0);
        assert!(lose(&mut losses, &mut turns, 1_000, 10, 1_000) > 0, "but not ten times as many");
    }

    #[test]
    fn what_was_not_lost_does_not_count() {
        let mut losses = Losses::new();
        assert_eq!(losses.lost(4, 1, 2, PACKET, PACKET), Extent::Few);
        losses.were_none(4);
        assert_eq!(losses.lost(4, 3, 4, PACKET, PACKET), Extent::Few);
        assert_eq!(losses.lost(1, 5, 6, PACKET, PACKET), Extent::Many);
    }
}
