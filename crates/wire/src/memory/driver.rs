//! Shared memory as a driver: how ranks learn that they have it in common, and of each other's.

use std::io;

use super::{Memory, machine};
use crate::rail::offer::Offer;
use crate::rail::{Capabilities, Device, Driver, RailError};

/// What stands for it among the kinds of devices.
const KIND: &str = "memory";

/// The most bytes of an address: the name of a segment.
const ADDRESS: usize = 64;

/// What a rank offers that shares memory: ranks with the same network do so with each other.
pub(crate) fn offer() -> Offer {
    let device = Device {
        name: KIND.to_owned(),
        station: String::new(),
        network: machine(),
        routed: false,
        longest: Memory::LONGEST,
    };
    Offer { provider: KIND.to_owned(), device }
}

/// Returns true if an offer is of shared memory.
pub(crate) fn is_offer(offer: &Offer) -> bool {
    offer.provider == KIND
}

impl Driver for Memory {
    fn name(&self) -> &str {
        KIND
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            reliable: true,
            ordered: true,
            wakes: true,
            address: ADDRESS,
            ..Capabilities::default()
        }
    }

    fn address(&self) -> io::Result<Vec<u8>> {
        Ok(Memory::name(self).as_bytes().to_vec())
    }

    /// Opens the segments of all others of this machine.
    fn connect(&mut self, peers: &[Option<&[u8]>]) -> Result<(), RailError> {
        for (place, peer) in peers.iter().enumerate() {
            if let Some(name) = peer {
                Memory::connect(self, place, &String::from_utf8_lossy(name))?;
            }
        }
        Ok(())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn ranks_with_one_network_connect_by_addresses() {
        assert_eq!(offer(), offer());
        assert!(is_offer(&offer()));
        let mut ranks = [0, 1].map(|place| Memory::create(place, 2).unwrap());
        let [one, other] = ranks.each_ref().map(|rank| rank.address().unwrap());
        assert!(one.len() <= ranks[0].capabilities().address);
        Driver::connect(&mut ranks[0], &[None, Some(&other)]).unwrap();
        Driver::connect(&mut ranks[1], &[Some(&one), None]).unwrap();
        assert!(ranks[0].push(1, &[b"here"]));
        let mut came = Vec::new();
        ranks[1].poll(&mut |peer, record| came.push((peer, record.to_vec())));
        assert_eq!(came, [(0, b"here".to_vec())]);
        for odd in [&b""[..], b"crosstie-../../etc/passwd", &[0xff; 60]] {
            let error = Driver::connect(&mut ranks[0], &[None, Some(odd)]).unwrap_err();
            assert!(error.to_string().contains("CROSSTIE_MEMORY=off"), "{error}");
        }
    }
}
