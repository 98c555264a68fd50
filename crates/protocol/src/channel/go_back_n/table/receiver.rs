//! The table of the receiver [tam, 4].

use std::fmt;

use super::{Cell, reading, stated};

/// How a receiver stands with its sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiverState {
    /// The last packet was in order, or there was none.
    Clear,
    /// A Nack has been sent since the last packet in order.
    Stalled,
    /// Is the receiver of simple go-back-N, which has no other state.
    Simple,
}

impl ReceiverState {
    /// How many there are.
    pub const COUNT: usize = 3;

    /// All of them, in the order of the table.
    pub const ALL: [ReceiverState; ReceiverState::COUNT] =
        [ReceiverState::Clear, ReceiverState::Stalled, ReceiverState::Simple];
}

impl fmt::Display for ReceiverState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ReceiverState::Clear => "CLEAR",
            ReceiverState::Stalled => "STALLED",
            ReceiverState::Simple => "SIMPLE",
        })
    }
}

/// A packet that comes in, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packet {
    /// The one expected.
    InOrder,
    /// A later one.
    Ahead,
    /// An earlier one: a duplicate.
    Behind,
    /// One so late that the sender's window cannot reach it.
    Beyond,
}

impl Packet {
    /// How many there are.
    pub const COUNT: usize = 4;

    /// All of them, in the order of the table.
    pub const ALL: [Packet; Packet::COUNT] =
        [Packet::InOrder, Packet::Ahead, Packet::Behind, Packet::Beyond];
}

impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Packet::InOrder => "seq = expected",
            Packet::Ahead => "seq > expected",
            Packet::Behind => "seq < expected",
            Packet::Beyond => "seq >= expected + W_FC",
        })
    }
}

/// What a receiver does with a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiverDeed {
    /// Delivers it and acknowledges it by the chosen style.
    Deliver,
    /// Drops it and sends a Nack with the number expected.
    DropAndNack,
    /// Drops it without a word.
    Drop,
    /// Drops it and sends a Pack with the number expected, at once.
    DropAndPack,
    /// Drops it as one that cannot be.
    Refuse,
}

impl fmt::Display for ReceiverDeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ReceiverDeed::Deliver => "deliver, Pack",
            ReceiverDeed::DropAndNack => "drop, Nack",
            ReceiverDeed::Drop => "drop",
            ReceiverDeed::DropAndPack => "drop, Pack at once",
            ReceiverDeed::Refuse => "refuse",
        })
    }
}

type ReceiverCell = Cell<ReceiverDeed, ReceiverState>;

/// The cell of a packet in a state.
#[inline]
pub fn receiver_cell(state: ReceiverState, packet: Packet) -> &'static ReceiverCell {
    &TABLE[packet as usize][state as usize]
}

#[rustfmt::skip]
static TABLE: [[ReceiverCell; ReceiverState::COUNT]; Packet::COUNT] = {
    use ReceiverDeed::{Deliver, Drop, DropAndNack, DropAndPack, Refuse};
    use ReceiverState::{Clear, Simple, Stalled};
    [
        // In order
        [
            /* CLEAR   */ stated(Deliver, Clear),
            /* STALLED */ stated(Deliver, Clear),
            /* SIMPLE  */ stated(Deliver, Simple),
        ],
        // Ahead
        [
            /* CLEAR   */ stated(DropAndNack, Stalled),
            /* STALLED */ stated(Drop, Stalled),
            /* SIMPLE  */ stated(Drop, Simple),
        ],
        // Behind: answered with a Nack or not at all, a lost Pack could hang the sender.
        [
            /* CLEAR   */ reading(DropAndPack, Clear),
            /* STALLED */ reading(DropAndPack, Stalled),
            /* SIMPLE  */ reading(DropAndPack, Simple),
        ],
        // Beyond
        [
            /* CLEAR   */ reading(Refuse, Clear),
            /* STALLED */ reading(Refuse, Stalled),
            /* SIMPLE  */ reading(Refuse, Simple),
        ],
    ]
};
