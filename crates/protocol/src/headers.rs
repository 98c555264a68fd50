//! The bytes that packets have besides those of messages.

use crate::channel::Arrivals;

/// What each kind of packet has besides the bytes of a message, and how long packets are that carry
/// none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Headers {
    /// What the network puts in front of every datagram.
    pub network: u32,
    /// The head of a datagram.
    pub datagram: u32,
    /// An envelope, in front of the bytes of a short message.
    pub envelope: u32,
    /// Behind the head of a datagram that is a part of a message in an envelope.
    pub piece: u32,
    /// A cumulative acknowledgement (Pack, Nack), all told.
    pub pack: u32,
    /// A selective acknowledgement, all told.
    pub sack: u32,
    /// A greeting or its answer, all told.
    pub greeting: u32,
}

impl Headers {
    /// What a selective acknowledgement of real ranks has behind its head: five words, and which
    /// packets have come.
    pub const SACK: u32 = 20 + Arrivals::COUNT / 8;

    /// Those of real ranks, which the codec of their datagrams writes: IP and UDP, a head of 24
    /// bytes, an envelope of 20.
    pub const CODEC: Headers = Headers {
        network: 28,
        datagram: 24,
        envelope: 20,
        piece: 4,
        pack: 28 + 24,
        sack: 28 + 24 + Headers::SACK,
        greeting: 28 + 24 + 8,
    };

    /// Those of adapters whose links count their headers: envelopes of 32 bytes, and 48 for what
    /// NICs say to each other, "a few tens of flits" of 2 bytes in Coll et al.
    pub const ADAPTER: Headers = Headers {
        network: 0,
        datagram: 0,
        envelope: 32,
        piece: 0,
        pack: 48,
        sack: 48,
        greeting: 48,
    };

    /// Bytes of a packet on the wire besides what it carries.
    pub const fn overhead(&self) -> u32 {
        self.network + self.datagram
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_of_real_ranks_fill_frames() {
        let Headers { pack, sack, greeting, .. } = Headers::CODEC;
        assert_eq!(Headers::CODEC.overhead(), 52);
        assert_eq!((pack, sack, greeting), (52, 136, 60));
        assert_eq!(Headers::ADAPTER.overhead(), 0);
    }
}
