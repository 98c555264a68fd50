//! In-transit buffers: NICs that pass on packets which stop at their host.

/// How NICs pass on packets that stop at their host on the way, in the units of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InTransit {
    /// Cycles from the moment a packet begins to arrive until the NIC knows that it is to go on.
    pub recognition: u32,
    /// Cycles from then until it may begin to leave.
    pub setup: u32,
    /// Flits that the NIC can hold; virtual channels have equal shares of it.
    pub pool: u32,
}

/// Why NICs cannot pass packets on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InTransitError {
    /// In-transit buffers behind a bus of one way at a time.
    #[error("found in-transit buffers and a shared bus, expected a full-duplex bus beside them")]
    SharedBus,
    /// A packet that goes on before it has come.
    #[error("found in-transit packets that take no time, expected at least 1 cycle in all")]
    Instant,
    /// Flits that are on the wire when a pool is full would find no room.
    #[error(
        "found {share} flits of in-transit pool per virtual channel, expected more than the \
         2 x {wire} flits that may be on the wire"
    )]
    Pool {
        /// Flits that the share of a virtual channel holds.
        share: u32,
        /// Cycles on the wire.
        wire: u32,
    },
}

impl InTransit {
    /// Flits in the share of a virtual channel.
    pub fn share(&self, virtual_channels: u8) -> u32 {
        self.pool / u32::from(virtual_channels)
    }

    /// Whether such a NIC can be built beside a bus, on a link with so many virtual channels and so
    /// many cycles of wire.
    pub fn check(
        &self,
        full_duplex: bool,
        virtual_channels: u8,
        wire: u32,
    ) -> Result<(), InTransitError> {
        if !full_duplex {
            return Err(InTransitError::SharedBus);
        }
        if self.recognition == 0 && self.setup == 0 {
            return Err(InTransitError::Instant);
        }
        let share = self.share(virtual_channels);
        if u64::from(share) <= 2 * u64::from(wire) {
            return Err(InTransitError::Pool { share, wire });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_holds_what_is_on_the_wire() {
        let nic = |recognition, pool| InTransit { recognition, setup: 0, pool };
        assert_eq!(nic(44, 34).check(true, 2, 8), Ok(()));
        assert_eq!(nic(44, 33).check(true, 2, 8), Err(InTransitError::Pool { share: 16, wire: 8 }));
        assert_eq!(nic(0, 34).check(true, 2, 8), Err(InTransitError::Instant));
        assert_eq!(nic(44, 34).check(false, 2, 8), Err(InTransitError::SharedBus));
    }
}
