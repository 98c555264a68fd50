//! A rank's end of one rail to one peer: the channel, and packets of several datagrams that are
//! coming in.

use std::collections::VecDeque;
use std::ops::Range;

use crosstie_protocol::Machine;
use crosstie_protocol::channel::{self, ChannelSpec, Endpoint, Frame, Seq};
use crosstie_units::Time;

use super::greeting::Greeting;
use super::path_mtu::PathMtu;
use super::queues::Outgoing;
use super::rails::Item;
use crate::datagram::Part;

/// A packet that is coming in.
///
/// It may be sent again in parts of another length. Parts belong together if they have the same
/// length, but for the last, and lie one behind the other: with the first that does not, it begins
/// anew.
#[derive(Debug, Clone, Copy, Default)]
struct Assembly {
    seq: u32,
    /// Which parts have come, and how many there are if that is known.
    came: u64,
    parts: u8,
    /// Where it begins, and the length of all parts but the last; no length as long as none of
    /// those has come.
    start: u64,
    each: u64,
    /// Where the last part begins and ends, if it has come.
    last: u64,
    end: u64,
}

impl Assembly {
    /// Takes note of a part; false if it does not belong to those that have come before.
    fn add(&mut self, part: Part, bytes: &Range<u64>) -> bool {
        let number = u64::from(part.number);
        let known = self.each > 0;
        if part.last {
            let other = self.parts > 0 && (self.parts, self.last) != (part.number + 1, bytes.start);
            if other || known && self.start + number * self.each != bytes.start {
                return false;
            }
            (self.parts, self.last, self.end) = (part.number + 1, bytes.start, bytes.end);
        } else {
            let each = bytes.end - bytes.start;
            let Some(start) = bytes.start.checked_sub(number * each) else { return false };
            let last = start + u64::from(self.parts.saturating_sub(1)) * each;
            if known && (self.start, self.each) != (start, each)
                || self.parts > 0 && last != self.last
            {
                return false;
            }
            (self.start, self.each) = (start, each);
        }
        self.came |= 1 << part.number;
        true
    }
}

/// Packets of one link that may be coming in at once.
const ASSEMBLIES: usize = 512;

/// One rail to one peer.
pub(super) struct Link {
    pub endpoint: Endpoint<Item>,
    pub greeting: Greeting,
    /// Whether it has greeted us.
    pub heard: bool,
    /// What waits until our greeting is answered.
    pub waiting: VecDeque<Outgoing>,
    /// The first packet that has never been given to the rail.
    unsent: Seq,
    pub mtu: PathMtu,
    /// The last acknowledgement that the channel has not been told of, and when it came.
    acknowledgement: Option<(Time, Frame<Item>)>,
    assemblies: Vec<Assembly>,
    pub touched: bool,
}

impl Link {
    /// A link on a rail that takes datagrams of up to `longest` bytes.
    pub fn new(spec: ChannelSpec, longest: usize) -> Link {
        Link {
            endpoint: Endpoint::new(spec).expect("the channel was checked before"),
            greeting: Greeting::Silent,
            heard: false,
            waiting: VecDeque::new(),
            unsent: Seq(0),
            mtu: PathMtu::new(longest),
            acknowledgement: None,
            assemblies: Vec::new(),
            touched: false,
        }
    }

    /// An acknowledgement has come. The channel is told when the rank has the time for it, or
    /// before the next one.
    #[inline]
    pub fn acknowledge(&mut self, now: Time, frame: Frame<Item>) {
        self.catch_up();
        self.acknowledgement = Some((now, frame));
    }

    /// Returns true if the channel may not know that everything before a number is acknowledged.
    #[inline]
    pub fn is_news(&self, ack: Seq) -> bool {
        self.acknowledgement.is_some() || ack != self.endpoint.base()
    }

    /// Tells the channel what has been acknowledged.
    #[inline]
    pub fn catch_up(&mut self) {
        if let Some((came, frame)) = self.acknowledgement.take() {
            self.endpoint.handle(came, channel::Input::Frame(frame));
        }
    }

    /// A packet of `bytes` bytes is about to be sent. Returns the most bytes of its datagrams, and
    /// whether it is sent for the first time.
    #[inline]
    pub fn departs(&mut self, now: Time, seq: Seq, bytes: usize) -> (usize, bool) {
        let first = !seq.is_before(self.unsent);
        if first {
            self.unsent = seq.plus(1);
        }
        let oldest = seq == self.endpoint.base();
        (self.mtu.transmit(now, seq, bytes, first, oldest), first)
    }

    /// A part of a packet has come that covers these bytes. Those of the packet, if all are there.
    #[inline]
    pub fn assemble(&mut self, part: Part, bytes: Range<u64>) -> Option<Range<u64>> {
        if part.number == 0 && part.last {
            return Some(bytes);
        }
        if self.assemblies.is_empty() {
            self.assemblies = vec![Assembly::default(); ASSEMBLIES];
        }
        let seq = part.seq.0;
        let assembly = &mut self.assemblies[seq as usize % ASSEMBLIES];
        if assembly.seq != seq || assembly.came == 0 {
            *assembly = Assembly { seq, ..Assembly::default() };
        }
        if !assembly.add(part, &bytes) {
            *assembly = Assembly { seq, ..Assembly::default() };
            assembly.add(part, &bytes);
        }
        let all = u64::MAX >> (64 - u32::from(assembly.parts.max(1)));
        if assembly.parts == 0 || assembly.came & all != all || assembly.start > assembly.end {
            return None;
        }
        assembly.came = 0;
        Some(assembly.start..assembly.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_protocol::channel::SelectiveSpec;
    use crosstie_units::Time;
    use proptest::prelude::*;

    fn link() -> Link {
        let time = Time::from_ns(1_000_000);
        let spec = SelectiveSpec { least: time, ahead: time, after: time, ..SelectiveSpec::LIVE };
        Link::new(spec.into(), 1472)
    }

    proptest! {
        #[test]
        fn a_packet_is_whole_with_its_last_part(
            order in Just((0..20u8).collect::<Vec<_>>()).prop_shuffle(), seq: u32,
        ) {
            let mut link = link();
            for (place, &number) in order.iter().enumerate() {
                let part = Part { seq: Seq(seq), number, last: number == 19 };
                let begin = 500 + 10 * u64::from(number);
                let whole = link.assemble(part, begin..begin + 10);
                prop_assert_eq!(whole, (place == 19).then_some(500..700));
            }
        }

        #[test]
        fn parts_of_many_packets_may_come_in_any_order(
            parts in Just((0..40u32).flat_map(|seq| (0..3u8).map(move |n| (seq, n))).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let (mut link, mut whole) = (link(), 0);
            for (seq, number) in parts {
                let part = Part { seq: Seq(seq), number, last: number == 2 };
                let begin = u64::from(number);
                whole += u32::from(link.assemble(part, begin..begin + 1).is_some());
            }
            prop_assert_eq!(whole, 40);
        }

        #[test]
        fn parts_of_different_lengths_are_not_mixed(
            order in prop::collection::vec((0..3usize, 0..10u64), 1..200), start in 0..1000u64,
        ) {
            let (mut link, bytes) = (link(), 1000);
            let mut came = [[false; 10]; 3];
            for (cut, number) in order {
                let each = [100, 110, 260][cut];
                let parts = bytes / each + u64::from(bytes % each > 0);
                let number = number % parts;
                came[cut][number as usize] = true;
                let part = Part { seq: Seq(7), number: number as u8, last: number + 1 == parts };
                let begin = start + number * each;
                let whole = link.assemble(part, begin..(begin + each).min(start + bytes));
                let all = came[cut].iter().take(parts as usize).all(|&came| came);
                prop_assert!(whole.is_none() || all && whole == Some(start..start + bytes));
            }
            let whole = (0..10u8).map(|number| {
                let begin = start + 100 * u64::from(number);
                link.assemble(Part { seq: Seq(7), number, last: number == 9 }, begin..begin + 100)
            });
            prop_assert_eq!(whole.flatten().last(), Some(start..start + bytes));
        }
    }
}
