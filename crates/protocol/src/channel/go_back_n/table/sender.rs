//! The table of the sender [tam, 4].

use std::fmt;

use super::{Cell, reading, stated};

/// What a sender is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SenderState {
    /// Sends as long as there is room in the window.
    Normal,
    /// Has sent everything outstanding again for a Nack, and sends nothing new until a Pack.
    Stall,
    /// Is the sender of simple go-back-N, which has no other state.
    Simple,
}

impl SenderState {
    /// How many there are.
    pub const COUNT: usize = 3;

    /// All of them, in the order of the table.
    pub const ALL: [SenderState; SenderState::COUNT] =
        [SenderState::Normal, SenderState::Stall, SenderState::Simple];
}

impl fmt::Display for SenderState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SenderState::Normal => "NORMAL",
            SenderState::Stall => "STALL",
            SenderState::Simple => "SIMPLE",
        })
    }
}

/// What can happen to a sender. `base` is the oldest packet outstanding, `next` the next one to be
/// sent; where nothing is outstanding they are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SenderEvent {
    /// A packet waits, and fewer than W_FC are outstanding.
    Room,
    /// A packet waits, and W_FC are outstanding.
    Full,
    /// Pack(n), base < n <= next.
    Pack,
    /// Pack(n), n <= base.
    OldPack,
    /// Nack(e), e = base < next.
    Nack,
    /// Nack(e), base < e < next.
    LaterNack,
    /// Nack(e), base < e = next.
    EmptyNack,
    /// Nack(e), e < base, or nothing is outstanding.
    OldNack,
    /// Pack(n) or Nack(n), n > next: nobody can have received what was never sent.
    Beyond,
    /// The timer of a packet that is outstanding expires.
    Timeout,
}

impl SenderEvent {
    /// How many there are.
    pub const COUNT: usize = 10;

    /// All of them, in the order of the table.
    pub const ALL: [SenderEvent; SenderEvent::COUNT] = [
        SenderEvent::Room,
        SenderEvent::Full,
        SenderEvent::Pack,
        SenderEvent::OldPack,
        SenderEvent::Nack,
        SenderEvent::LaterNack,
        SenderEvent::EmptyNack,
        SenderEvent::OldNack,
        SenderEvent::Beyond,
        SenderEvent::Timeout,
    ];
}

impl fmt::Display for SenderEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SenderEvent::Room => "data, room in the window",
            SenderEvent::Full => "data, window full",
            SenderEvent::Pack => "Pack(n), base < n <= next",
            SenderEvent::OldPack => "Pack(n), n <= base",
            SenderEvent::Nack => "Nack(e), e = base < next",
            SenderEvent::LaterNack => "Nack(e), base < e < next",
            SenderEvent::EmptyNack => "Nack(e), base < e = next",
            SenderEvent::OldNack => "Nack(e), e < base or base = next",
            SenderEvent::Beyond => "Pack(n) or Nack(n), n > next",
            SenderEvent::Timeout => "timer of packet i",
        })
    }
}

/// What a sender does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SenderDeed {
    /// Sends the next packet and starts its timer.
    Send,
    /// Lets packets wait.
    Wait,
    /// Counts a control packet that says nothing new.
    Ignore,
    /// Counts a control packet that cannot be.
    Refuse,
    /// Takes everything before n for received: base = n.
    Slide,
    /// Takes everything before e for received, and enters ReSend: sends all packets outstanding
    /// again, from e on, and restarts their timers.
    SlideAndResend,
    /// Sends packet i again and restarts its timer.
    ResendOne,
    /// Sends all packets outstanding again and restarts their timers.
    ResendAll,
}

impl fmt::Display for SenderDeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SenderDeed::Send => "send next",
            SenderDeed::Wait => "wait",
            SenderDeed::Ignore => "ignore",
            SenderDeed::Refuse => "refuse",
            SenderDeed::Slide => "base = n",
            SenderDeed::SlideAndResend => "base = e, resend all",
            SenderDeed::ResendOne => "resend i",
            SenderDeed::ResendAll => "resend all",
        })
    }
}

type SenderCell = Cell<SenderDeed, SenderState>;

/// The cell of an event in a state.
#[inline]
pub fn sender_cell(state: SenderState, event: SenderEvent) -> &'static SenderCell {
    &TABLE[event as usize][state as usize]
}

#[rustfmt::skip]
static TABLE: [[SenderCell; SenderState::COUNT]; SenderEvent::COUNT] = {
    use SenderDeed::{Ignore, Refuse, ResendAll, ResendOne, Send, Slide, SlideAndResend, Wait};
    use SenderState::{Normal, Simple, Stall};
    [
        // Data, room in the window
        [
            /* NORMAL */ stated(Send, Normal),
            /* STALL  */ stated(Wait, Stall),
            /* SIMPLE */ stated(Send, Simple),
        ],
        // Data, window full
        [
            /* NORMAL */ stated(Wait, Normal),
            /* STALL  */ stated(Wait, Stall),
            /* SIMPLE */ stated(Wait, Simple),
        ],
        // Pack
        [
            /* NORMAL */ stated(Slide, Normal),
            /* STALL  */ stated(Slide, Normal),
            /* SIMPLE */ stated(Slide, Simple),
        ],
        // Old Pack
        [
            /* NORMAL */ reading(Ignore, Normal),
            // It answers a duplicate from before the Nack: whether the resent packets arrive is open.
            /* STALL  */ reading(Ignore, Stall),
            /* SIMPLE */ reading(Ignore, Simple),
        ],
        // Nack
        [
            /* NORMAL */ stated(SlideAndResend, Stall),
            // It was heeded before, or is its repetition.
            /* STALL  */ reading(Ignore, Stall),
            /* SIMPLE */ reading(Refuse, Simple),
        ],
        // Later Nack
        [
            /* NORMAL */ stated(SlideAndResend, Stall),
            // A Pack whose frame was lost, and a Nack after it.
            /* STALL  */ reading(SlideAndResend, Stall),
            /* SIMPLE */ reading(Refuse, Simple),
        ],
        // Empty Nack
        [
            // Stalled with an empty window, there would be no timer to leave by.
            /* NORMAL */ reading(Slide, Normal),
            /* STALL  */ reading(Slide, Normal),
            /* SIMPLE */ reading(Refuse, Simple),
        ],
        // Old Nack
        [
            /* NORMAL */ reading(Ignore, Normal),
            /* STALL  */ reading(Ignore, Stall),
            /* SIMPLE */ reading(Refuse, Simple),
        ],
        // Beyond
        [
            /* NORMAL */ reading(Refuse, Normal),
            /* STALL  */ reading(Refuse, Stall),
            /* SIMPLE */ reading(Refuse, Simple),
        ],
        // Timeout
        [
            /* NORMAL */ stated(ResendOne, Normal),
            /* STALL  */ stated(ResendOne, Stall),
            // The classical meaning.
            /* SIMPLE */ reading(ResendAll, Simple),
        ],
    ]
};
