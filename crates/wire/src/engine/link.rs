//! A rank's end of one rail to one peer: the channel, and packets of several datagrams that are coming in.

use std::collections::VecDeque;
use std::ops::Range;

use crosstie_protocol::channel::{ChannelSpec, Endpoint, Seq};
use crosstie_protocol::{Control, StripeId};

use super::greeting::Greeting;
use super::outbound::Outgoing;
use crate::datagram::{Part, Piece};

/// What channels carry: where the bytes of a packet are that goes out, or what has come.
#[derive(Debug, Clone)]
pub(super) enum Item {
    /// A packet of the node.
    Packet { stripe: StripeId, number: u32 },
    /// A control packet of the node.
    Control { packet: Control, serial: u64 },
    /// A message in one packet, and whether its NIC was reserved.
    Whole { serial: u32, bytes: Vec<u8>, reserved: bool },
    /// Bytes of a message that have gone to their place.
    Data { serial: u32, receive: u32, bytes: Range<u64> },
    /// Bytes of a message that has a place, or is put together.
    Piece { serial: u32, bytes: Range<u64>, parcel: Piece },
    /// Nothing that is of use.
    Nothing,
}

/// A packet that is coming in.
#[derive(Debug, Clone, Copy, Default)]
struct Assembly {
    seq: u32,
    /// Which parts have come, how many there are if that is known, and where it begins and ends.
    came: u64,
    parts: u8,
    start: u64,
    end: u64,
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
    pub unsent: Seq,
    assemblies: Vec<Assembly>,
    touched: bool,
}

impl Link {
    pub fn new(spec: ChannelSpec) -> Link {
        Link {
            endpoint: Endpoint::new(spec).expect("the channel was checked before"),
            greeting: Greeting::Silent,
            heard: false,
            waiting: VecDeque::new(),
            unsent: Seq(0),
            assemblies: Vec::new(),
            touched: false,
        }
    }

    /// Puts it among those that are asked what they want.
    #[inline]
    pub fn touch(&mut self, rank: u16, rail: u8, touched: &mut Vec<(u16, u8)>) {
        if !self.touched {
            self.touched = true;
            touched.push((rank, rail));
        }
    }

    /// It is asked.
    pub fn asked(&mut self) {
        self.touched = false;
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
        assembly.came |= 1 << part.number;
        if part.number == 0 {
            assembly.start = bytes.start;
        }
        if part.last {
            (assembly.parts, assembly.end) = (part.number + 1, bytes.end);
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
        Link::new(
            SelectiveSpec { least: time, ahead: time, after: time, ..SelectiveSpec::LIVE }.into(),
        )
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
                whole += u32::from(link.assemble(part, 0..1).is_some());
            }
            prop_assert_eq!(whole, 40);
        }
    }
}
