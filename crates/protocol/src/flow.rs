//! Flow control: how a receiver keeps a sender from overrunning its buffer.

use crosstie_units::wholes;
use serde::{Deserialize, Serialize};

/// How a receiver keeps a sender from overrunning its buffer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Flow {
    /// The sender spends a credit per flit; one comes back for every flit that leaves the buffer,
    /// as in QsNet.
    #[default]
    Credits,
    /// The receiver says *stop* and *go*, as in Myrinet; between the two the sender sends nothing.
    StopAndGo {
        /// Flits in the buffer at which the receiver says *stop*.
        #[serde(deserialize_with = "stop_mark")]
        stop: u32,
        /// Flits in the buffer at which it says *go* again.
        #[serde(deserialize_with = "go_mark")]
        go: u32,
    },
}

wholes! {
    stop_mark: u32 = 1..=65_536;
    go_mark: u32 = 0..=65_535;
}

/// Why a flow control does not keep a buffer from overflowing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FlowError {
    /// The receiver would say *go* before it has said *stop*.
    #[error("found go mark {go} and stop mark {stop}, expected the go mark to be the lower one")]
    Marks {
        /// The stop mark.
        stop: u32,
        /// The go mark.
        go: u32,
    },
    /// Flits that are on the wire when the receiver says *stop* would find no room.
    #[error(
        "stop mark {stop} and 2 x {wire} flits on the wire need a buffer of {needed} flits, found \
         {buffer}: deepen the buffer, lower the stop mark or shorten the wire"
    )]
    Slack {
        /// The stop mark.
        stop: u32,
        /// Cycles on the wire.
        wire: u32,
        /// Flits that the buffer must hold.
        needed: u64,
        /// Flits that it holds.
        buffer: u32,
    },
}

impl Flow {
    /// Whether a buffer of so many flits at the end of a wire of so many cycles never overflows: it
    /// has room for what is on the wire while *stop* is on its way.
    pub fn check(self, buffer: u32, wire: u32) -> Result<(), FlowError> {
        match self {
            Flow::Credits => Ok(()),
            Flow::StopAndGo { stop, go } if go >= stop => Err(FlowError::Marks { stop, go }),
            Flow::StopAndGo { stop, .. } => match u64::from(stop) + 2 * u64::from(wire) {
                needed if needed > u64::from(buffer) => {
                    Err(FlowError::Slack { stop, wire, needed, buffer })
                }
                _ => Ok(()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_must_leave_room_for_what_is_on_the_wire() {
        // Myrinet: 80 flits of slack, stop at 56, go at 40, 8 flits on the wire.
        let myrinet = Flow::StopAndGo { stop: 56, go: 40 };
        assert_eq!(myrinet.check(80, 8), Ok(()));
        assert_eq!(myrinet.check(72, 8), Ok(()));
        assert_eq!(
            myrinet.check(71, 8).unwrap_err().to_string(),
            "stop mark 56 and 2 x 8 flits on the wire need a buffer of 72 flits, found 71: deepen \
             the buffer, lower the stop mark or shorten the wire"
        );
        let upside_down = Flow::StopAndGo { stop: 40, go: 40 };
        assert_eq!(upside_down.check(80, 8), Err(FlowError::Marks { stop: 40, go: 40 }));
        assert_eq!(Flow::Credits.check(1, 8), Ok(()), "a sender without credit waits");
    }
}
