//! The driver of UDP: a socket for each address of this host.
//!
//! A datagram has left when the kernel has taken it, so that sending completes at once.

mod address;
mod devices;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod plain;
#[cfg(target_os = "linux")]
mod ring;

#[cfg(target_os = "linux")]
pub use linux::Udp;
#[cfg(not(target_os = "linux"))]
pub use plain::Udp;

use std::io;
use std::net::{IpAddr, SocketAddr};

use super::{Capabilities, Device, Driver, Provider, Rail, RailError};

pub use address::decode;

/// Finds the devices of this host that have addresses of IP.
#[derive(Debug, Clone, Copy)]
pub struct UdpProvider;

impl Provider for UdpProvider {
    fn name(&self) -> &'static str {
        "udp"
    }

    fn devices(&self) -> Result<Vec<Device>, RailError> {
        devices::list()
    }

    fn usual(&self, all: &[Device]) -> Vec<Device> {
        devices::usual(all)
    }

    fn local(&self, all: &[Device]) -> Option<Device> {
        let here = IpAddr::from([127, 0, 0, 1]);
        all.iter().find(|device| devices::address(device) == Some(here)).cloned()
    }

    fn is_called(&self, device: &Device, name: &str) -> bool {
        let address = name.parse::<IpAddr>().ok();
        address.is_some() && devices::address(device) == address
    }

    fn open(&self, device: &Device, crowded: bool) -> Result<Box<dyn Rail>, RailError> {
        Ok(Box::new(Udp::open(device, crowded)?))
    }
}

impl Udp {
    /// Opens a device that [`UdpProvider`] has found. In a crowded network it has to be named to
    /// the kernel.
    pub fn open(device: &Device, crowded: bool) -> Result<Udp, RailError> {
        let Device { name, station, longest, .. } = device;
        let failed =
            |cause| RailError::Open { name: name.clone(), station: station.clone(), cause };
        let address = devices::address(device);
        let address = address.ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
        Udp::bind(name, address, crowded.then_some(&name[..]), *longest).map_err(failed)
    }
}

impl Driver for Udp {
    fn name(&self) -> &str {
        self.device()
    }

    fn capabilities(&self) -> Capabilities {
        let (segmentation, coalescing) = self.offloads();
        let address = address::LONGEST;
        Capabilities { segmentation, coalescing, wakes: true, address, ..Capabilities::default() }
    }

    fn address(&self) -> io::Result<Vec<u8>> {
        self.local().map(address::encode)
    }

    fn connect(&mut self, peers: &[Option<&[u8]>]) -> Result<(), RailError> {
        let none = |rank| RailError::Address { rail: self.device().to_owned(), rank };
        let read = |(rank, peer): (usize, &Option<&[u8]>)| {
            peer.map(|bytes| decode(bytes).ok_or_else(|| none(rank))).transpose()
        };
        let peers: Vec<Option<SocketAddr>> =
            peers.iter().enumerate().map(read).collect::<Result<_, RailError>>()?;
        self.reach(&peers);
        Ok(())
    }
}
