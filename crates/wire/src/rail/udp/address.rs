//! Addresses of UDP as bytes: those of IP, and two for the port.

use std::net::{IpAddr, SocketAddr};

/// The most bytes of an address.
pub(super) const LONGEST: usize = 18;

/// An address as others are told.
pub(super) fn encode(address: SocketAddr) -> Vec<u8> {
    let port = address.port().to_be_bytes();
    match address.ip() {
        IpAddr::V4(address) => [&address.octets()[..], &port].concat(),
        IpAddr::V6(address) => [&address.octets()[..], &port].concat(),
    }
}

/// The address that another rank tells; `None` if no rank can be there.
pub fn decode(bytes: &[u8]) -> Option<SocketAddr> {
    let (address, port) = bytes.split_last_chunk::<2>()?;
    let address = match <[u8; 4]>::try_from(address) {
        Ok(four) => IpAddr::from(four),
        Err(_) => IpAddr::from(<[u8; 16]>::try_from(address).ok()?),
    };
    let port = u16::from_be_bytes(*port);
    let broadcast = address == IpAddr::from([255; 4]);
    let nobody = port == 0 || broadcast || address.is_unspecified() || address.is_multicast();
    (!nobody).then_some(SocketAddr::new(address, port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn where_nobody_can_be_is_no_address() {
        let sound = encode("10.0.0.1:7000".parse().unwrap());
        assert_eq!(decode(&sound), Some("10.0.0.1:7000".parse().unwrap()));
        for text in ["10.0.0.1:0", "0.0.0.0:7", "224.0.0.1:7", "255.255.255.255:7", "[ff02::1]:7"] {
            assert_eq!(decode(&encode(text.parse().unwrap())), None, "{text}");
        }
        for cut in 0..sound.len() {
            assert_eq!(decode(&sound[..cut]), None);
        }
    }

    proptest! {
        #[test]
        fn addresses_are_read_as_written(bytes in prop::collection::vec(any::<u8>(), 0..24)) {
            if let Some(address) = decode(&bytes) {
                prop_assert!(bytes.len() <= LONGEST && encode(address) == bytes);
            }
        }
    }
}
