//! How long datagrams to a peer on a rail may be: as long as the rail takes them, or shorter where
//! the path drops those.
//!
//! Nobody tells of a path that drops long datagrams, so they are tried, in the spirit of RFC 8899
//! (PLPMTUD):
//!
//! - *Fall back*. When the oldest packet has been sent several times in long datagrams and is not
//!   acknowledged, it goes in short ones. If that is answered at once three times in a row, and no
//!   packet in long datagrams was in between, the path drops these: all go in short ones.
//! - *Search*. From then on a packet goes in the next longer datagrams now and then. If it is
//!   acknowledged without being sent again, these pass.

use crosstie_protocol::channel::Seq;
use crosstie_units::Time;

/// Bytes of a datagram that every path passes: with the headers of IP and UDP 1,200 bytes, as QUIC
/// has it.
pub(super) const LEAST: usize = 1172;

/// What is tried beside that and what the rail takes: packets of 1280, 1400 and 1500 bytes.
const STEPS: [usize; 3] = [1252, 1372, 1472];

/// Datagrams longer than this would be cut into more than a packet may have.
const MOST: usize = 60_000;

/// How often the oldest packet goes in long datagrams before it goes in short ones; and if it was
/// so with one before.
const TRIES: u32 = 3;
const TRIES_IN_DOUBT: u32 = 2;

/// Packets that pass only in short datagrams, until that is taken for the path's doing.
const DOUBTS: u32 = 3;

/// How long until longer ones are tried, at first and at most. What fails makes it twice as long.
const SOON: Time = Time::from_ns(100_000_000);
const LATE: Time = Time::from_ns(60_000_000_000);

/// How long datagrams on one rail to one peer may be.
#[derive(Debug)]
pub(super) struct PathMtu {
    /// What the rail takes, and what passes.
    full: usize,
    longest: usize,
    /// The oldest packet, if it has been sent more than once.
    stuck: Option<Stuck>,
    doubts: u32,
    /// A packet in the longest datagrams, or in longer ones that are tried, which has been sent
    /// once.
    fresh: Option<(Seq, usize)>,
    /// When longer ones are tried, and how long that was waited for.
    next: Time,
    wait: Time,
}

#[derive(Debug, Clone, Copy)]
struct Stuck {
    seq: Seq,
    /// How often it has gone in long datagrams, and since then in short ones.
    long: u32,
    short: u32,
}

impl PathMtu {
    pub fn new(full: usize) -> PathMtu {
        PathMtu {
            full,
            longest: full,
            stuck: None,
            doubts: 0,
            fresh: None,
            next: Time::ZERO,
            wait: SOON,
        }
    }

    /// The most bytes of a datagram that passes.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// A packet is about to be sent, perhaps the oldest that is not acknowledged, and not for the
    /// first time. Returns the most bytes of its datagrams.
    pub fn transmit(
        &mut self,
        now: Time,
        seq: Seq,
        bytes: usize,
        first: bool,
        oldest: bool,
    ) -> usize {
        if first {
            if bytes <= LEAST || self.fresh.is_some() {
                return self.longest;
            }
            let longer = (now >= self.next).then(|| self.longer()).flatten();
            let tried = longer.filter(|_| bytes > self.longest).unwrap_or(self.longest);
            self.fresh = Some((seq, tried));
            return tried;
        }
        if let Some((_, tried)) = self.fresh.take_if(|(fresh, _)| *fresh == seq)
            && tried > self.longest
        {
            self.wait = Time::from_ps(2 * self.wait.ps()).min(LATE);
            self.next = now + self.wait;
        }
        if !oldest || self.full > MOST {
            return self.longest;
        }
        let stuck = self.stuck.filter(|stuck| stuck.seq == seq);
        let mut stuck = stuck.unwrap_or(Stuck { seq, long: 1, short: 0 });
        let most = if self.doubts > 0 { TRIES_IN_DOUBT } else { TRIES };
        let short = bytes <= LEAST || stuck.long >= most;
        stuck.short += u32::from(short);
        stuck.long += u32::from(!short);
        self.stuck = Some(stuck);
        if short { LEAST.min(self.longest) } else { self.longest }
    }

    /// All packets before a number are acknowledged. True if datagrams are shorter from now on.
    pub fn acknowledged(&mut self, now: Time, base: Seq) -> bool {
        if let Some((_, passed)) = self.fresh.take_if(|(fresh, _)| fresh.is_before(base)) {
            self.doubts = 0;
            if passed > self.longest {
                (self.longest, self.wait) = (passed, SOON);
                self.next = now + SOON;
            }
        }
        let Some(stuck) = self.stuck.take_if(|stuck| stuck.seq.is_before(base)) else {
            return false;
        };
        // A packet that went in short ones only has shown nothing. And where these were lost as
        // well, it is not their length.
        match stuck {
            Stuck { short: 0, .. } | Stuck { long: ..TRIES_IN_DOUBT, .. } => return false,
            Stuck { short: 1, .. } => self.doubts += 1,
            _ => self.doubts = 0,
        }
        if self.doubts < DOUBTS || self.longest <= LEAST {
            return false;
        }
        (self.longest, self.doubts, self.fresh) = (LEAST, 0, None);
        (self.next, self.wait) = (now + SOON, SOON);
        true
    }

    /// The next longer datagrams that may pass.
    fn longer(&self) -> Option<usize> {
        let steps = STEPS.into_iter().filter(|&step| step < self.full).chain([self.full]);
        steps.into_iter().find(|&step| step > self.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: usize = 1472;

    fn ms(ms: u64) -> Time {
        Time::from_ns(1_000_000 * ms)
    }

    /// Sends a packet until it passes a path with this MTU; how many times it was sent.
    fn send(mtu: &mut PathMtu, at: u64, seq: u32, passes: usize) -> u32 {
        let mut times = 1;
        let mut sent = mtu.transmit(ms(at), Seq(seq), FULL, true, true);
        while sent > passes {
            assert!(times < 10, "{mtu:?}");
            sent = mtu.transmit(ms(at), Seq(seq), FULL, false, true);
            times += 1;
        }
        mtu.acknowledged(ms(at), Seq(seq + 1));
        times
    }

    #[test]
    fn a_path_that_drops_long_datagrams_is_found_and_what_passes_searched_for() {
        let mut mtu = PathMtu::new(FULL);
        assert_eq!(send(&mut mtu, 0, 0, FULL), 1);
        assert_eq!((send(&mut mtu, 0, 1, 1400), mtu.longest()), (4, FULL), "it may be chance");
        assert_eq!((send(&mut mtu, 0, 2, 1400), mtu.longest()), (3, FULL));
        assert_eq!((send(&mut mtu, 0, 3, 1400), mtu.longest()), (3, LEAST));
        let sent: Vec<u32> =
            (4..1000).map(|seq| send(&mut mtu, u64::from(seq), seq, 1400)).collect();
        assert_eq!(mtu.longest(), 1372);
        let failed = sent.iter().filter(|&&times| times > 1).count();
        assert!((1..5).contains(&failed), "longer ones are tried, and ever more rarely: {failed}");
        // The path is whole again.
        let found = (1_000..100_000).find(|&seq| {
            send(&mut mtu, u64::from(seq), seq, FULL);
            mtu.longest() == FULL
        });
        assert!(found.is_some_and(|found| found < 5_000), "{found:?}");
    }

    #[test]
    fn an_outage_and_losses_change_nothing() {
        let mut mtu = PathMtu::new(FULL);
        for outage in 0..10 {
            // Nothing passes for so long that the oldest packet goes in short datagrams, and then
            // everything does.
            send(&mut mtu, 0, 100 * outage, LEAST);
            (1..100).for_each(|seq| assert_eq!(send(&mut mtu, 0, 100 * outage + seq, FULL), 1));
        }
        assert_eq!(mtu.longest(), FULL);
        let mut huge = PathMtu::new(65_507);
        (0..100)
            .for_each(|_| assert_eq!(huge.transmit(ms(0), Seq(0), 60_001, false, true), 65_507));
    }
}
