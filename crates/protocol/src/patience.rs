//! How long a node waits for an answer.

use crosstie_units::Time;

/// How long a node waits for acknowledgements before it does without a way, and how long it does
/// without any way to a peer.
///
/// A *way* is one rail to one peer. It is silent while packets are under way on it and none is
/// acknowledged. One that is silent for too long is *dead*: nothing more is given to it, and what
/// was under way on it goes again on others. The channel below sends what it was given until it is
/// answered, so a dead way is probed without end, and taken back when it has answered everything.
///
/// What is still being transmitted is not late: where a node knows how fast its links are, the
/// silence of a way begins when the oldest packet under way, and all that was handed to the same
/// rail before it, can have left.
///
/// A way is only seen to be silent while something is under way on it, and one may be tried only
/// when another has died: who sends to a peer on dead rails hears that it is unreachable within
/// `give_up` and a silence for each way of the node. Where NICs are reserved, one may have to
/// be taken back first from somebody who does not answer, which takes an eighth of `give_up` more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Round trips for which a way may be silent, as long as one was when it was last measured.
    pub round_trips: u32,
    /// The least time for which a way may be silent, whatever was measured.
    pub least: Time,
    /// How long there may be no way to a peer before it is unreachable.
    pub give_up: Time,
    /// The least time for which a way may be silent on which no round trip has been measured yet.
    pub unmeasured: Time,
    /// How long the receiver may hold an acknowledgement back, and how long packets on other
    /// virtual channels of the link may delay a packet.
    pub held: Time,
}

impl Default for Patience {
    /// 8 round trips, at least a millisecond; a tenth of a second without any way. Nothing is known
    /// of the network.
    fn default() -> Patience {
        let (least, give_up) = (Time::from_ns(1_000_000), Time::from_ns(100_000_000));
        Patience { round_trips: 8, least, give_up, unmeasured: Time::ZERO, held: Time::ZERO }
    }
}

impl Patience {
    /// Whether a way that has come back at some time is as good as others: it has lived for a
    /// hundred of the shortest silences.
    pub(crate) fn is_steady(&self, since: Time, now: Time) -> bool {
        since.ps().saturating_add(self.least.ps().saturating_mul(100)) <= now.ps()
    }

    /// How long a way may be silent on which a round trip takes so long, if that is known.
    pub(crate) fn silence(&self, round_trip: Option<Time>) -> Time {
        let several = |round_trip: Time| round_trip * u64::from(self.round_trips);
        self.least.max(round_trip.map_or(self.unmeasured, several)) + self.held
    }
}
