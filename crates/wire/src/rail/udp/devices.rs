//! The addresses of this host, as devices.

use std::net::IpAddr;

use crate::rail::{Device, RailError};

/// The least that a packet of any network must carry, for a system that says less is wrong.
const LEAST_MTU: usize = 576;

/// The longest packet of IP.
const PACKET: usize = 65_535;

/// Bytes of the heads of IP and UDP in front of a datagram.
fn heads(address: IpAddr) -> usize {
    match address {
        IpAddr::V4(_) => 20 + 8,
        IpAddr::V6(_) => 40 + 8,
    }
}

/// A device with an address of which `prefix` bits are the network's, and whose packets carry up to
/// `mtu` bytes.
fn device(name: String, address: IpAddr, prefix: u8, mtu: usize) -> Device {
    Device {
        name,
        station: address.to_string(),
        network: network(address, prefix).to_string(),
        routed: true,
        longest: mtu.clamp(LEAST_MTU, PACKET) - heads(address),
    }
}

/// The network of an address.
fn network(address: IpAddr, prefix: u8) -> IpAddr {
    let kept = |width: u8| u32::from(width - prefix.min(width));
    match address {
        IpAddr::V4(four) => {
            let mask = u32::MAX.checked_shl(kept(32)).unwrap_or(0);
            IpAddr::V4((u32::from(four) & mask).into())
        }
        IpAddr::V6(six) => {
            let mask = u128::MAX.checked_shl(kept(128)).unwrap_or(0);
            IpAddr::V6((u128::from(six) & mask).into())
        }
    }
}

/// The address of a device.
pub(super) fn address(device: &Device) -> Option<IpAddr> {
    device.station.parse().ok()
}

/// One address of every device that leads to others; those of version 4 if there are any.
pub(super) fn usual(all: &[Device]) -> Vec<Device> {
    let leads = |device: &&Device| match address(device) {
        Some(IpAddr::V4(address)) => !address.is_loopback() && !address.is_link_local(),
        Some(IpAddr::V6(address)) => !address.is_loopback() && !address.is_unicast_link_local(),
        None => false,
    };
    let is_four = |device: &Device| address(device).is_some_and(|address| address.is_ipv4());
    let mut devices: Vec<Device> = all.iter().filter(leads).cloned().collect();
    if devices.iter().any(is_four) {
        devices.retain(is_four);
    }
    let mut seen = Vec::new();
    devices.retain(|device| {
        let new = !seen.contains(&device.name);
        seen.push(device.name.clone());
        new
    });
    devices
}

/// The addresses of all devices.
#[cfg(unix)]
pub(super) fn list() -> Result<Vec<Device>, RailError> {
    let all = nix::ifaddrs::getifaddrs()
        .map_err(|error| RailError::Unlisted { cause: error.to_string() })?;
    let found = |entry: nix::ifaddrs::InterfaceAddress| {
        let (address, mask) = (entry.address?, entry.netmask?);
        let (address, ones) = match (address.as_sockaddr_in(), address.as_sockaddr_in6()) {
            (Some(four), _) => {
                let mask = u32::from(mask.as_sockaddr_in()?.ip());
                (IpAddr::V4(four.ip()), mask.count_ones())
            }
            (_, Some(six)) => {
                let mask = u128::from(mask.as_sockaddr_in6()?.ip());
                (IpAddr::V6(six.ip()), mask.count_ones())
            }
            _ => return None,
        };
        let mtu = mtu(&entry.interface_name);
        Some(device(entry.interface_name, address, ones as u8, mtu))
    };
    Ok(all.filter_map(found).collect())
}

/// What packets of a device carry; that of every Ethernet where the system does not tell.
#[cfg(unix)]
fn mtu(device: &str) -> usize {
    let told = std::fs::read_to_string(format!("/sys/class/net/{device}/mtu"));
    told.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(1500)
}

/// Other systems are not asked.
#[cfg(not(unix))]
pub(super) fn list() -> Result<Vec<Device>, RailError> {
    Err(RailError::Unlisted { cause: "this needs a unix".to_owned() })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::rail::udp::UdpProvider;
    use crate::rail::{Provider, Providers, Rail};

    fn of(name: &str, address: &str, prefix: u8) -> Device {
        device(name.to_owned(), address.parse().unwrap(), prefix, 1500)
    }

    /// UDP on a host with these devices.
    struct Host(Vec<Device>);

    impl Provider for Host {
        fn name(&self) -> &'static str {
            "udp"
        }

        fn devices(&self) -> Result<Vec<Device>, RailError> {
            Ok(self.0.clone())
        }

        fn usual(&self, all: &[Device]) -> Vec<Device> {
            UdpProvider.usual(all)
        }

        fn local(&self, all: &[Device]) -> Option<Device> {
            UdpProvider.local(all)
        }

        fn is_called(&self, device: &Device, name: &str) -> bool {
            UdpProvider.is_called(device, name)
        }

        fn open(&self, device: &Device, crowded: bool) -> Result<Box<dyn Rail>, RailError> {
            UdpProvider.open(device, crowded)
        }
    }

    fn chosen(all: &[Device], named: Option<&str>) -> Result<Vec<Device>, RailError> {
        let offers = Providers::new(vec![Arc::new(Host(all.to_vec()))]).choose(named)?;
        Ok(offers.into_iter().map(|offer| offer.device).collect())
    }

    #[test]
    fn devices_are_in_the_network_of_their_address() {
        for (address, prefix, expected) in [
            ("10.1.2.3", 16, "10.1.0.0"),
            ("10.1.2.3", 32, "10.1.2.3"),
            ("10.1.2.3", 0, "0.0.0.0"),
            ("fd00:1:2::3", 32, "fd00:1::"),
            ("fd00::3", 0, "::"),
        ] {
            assert_eq!(of("e0", address, prefix).network, expected, "{address}/{prefix}");
        }
        assert_eq!((of("a", "10.0.0.1", 8).longest, of("b", "fd00::1", 8).longest), (1472, 1452));
    }

    #[test]
    fn named_devices_are_found_by_name_or_address() {
        let all = [of("lo", "127.0.0.1", 8), of("e0", "10.0.0.1", 8), of("e0", "fe80::1", 64)];
        let two = [all[1].clone(), all[0].clone()];
        assert_eq!(chosen(&all, Some("10.0.0.1, lo")).unwrap(), two);
        assert_eq!(chosen(&all, Some("FE80:0::1")).unwrap(), [all[2].clone()]);
        let error = chosen(&all, Some("e0,eth7")).unwrap_err().to_string();
        assert!(error.contains("`eth7`") && error.contains("e0 (10.0.0.1)"), "{error}");
        assert!(Providers::default().choose(Some("127.0.0.1")).is_ok() || cfg!(not(unix)));
    }

    #[test]
    fn all_that_lead_to_others_are_used_if_none_is_named() {
        let here = of("lo", "127.0.0.1", 8);
        let e0 = of("e0", "10.0.0.1", 8);
        let all = [here.clone(), e0.clone(), of("e0", "10.0.0.9", 8), of("e1", "fe80::1", 64)];
        let usual = [e0];
        assert_eq!(chosen(&all, None).unwrap(), usual);
        assert_eq!(chosen(&all, Some(" ")).unwrap(), usual);
        assert_eq!(chosen(&all[..1], None).unwrap(), [here], "it is enough for this machine");
        assert_eq!(chosen(&[], None).unwrap(), []);
        let many: Vec<Device> = (1..40).map(|n| of(&format!("e{n}"), "10.0.0.1", 8)).collect();
        assert_eq!(chosen(&many, None).unwrap().len(), 16);
        let names: Vec<&str> = many[..17].iter().map(|device| &device.name[..]).collect();
        let error = chosen(&many, Some(&names.join(","))).unwrap_err().to_string();
        assert!(error.contains("found 17 rails, expected at most 16"), "{error}");
    }

    #[test]
    fn a_device_is_opened_at_its_address_and_called_by_its_name() {
        let rail = UdpProvider.open(&of("lo", "127.0.0.1", 8), false).unwrap();
        let address = crate::rail::udp::decode(&rail.address().unwrap()).unwrap();
        assert_eq!((rail.name(), address.ip()), ("lo", IpAddr::from([127, 0, 0, 1])));
        let error = UdpProvider.open(&of("e9", "203.0.113.77", 24), true).err().unwrap();
        assert!(error.to_string().contains("rail e9 (203.0.113.77) cannot be opened"), "{error}");
    }
}
