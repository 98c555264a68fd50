//! Rails over UDP: a socket for each address of this host.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod plain;

#[cfg(target_os = "linux")]
pub use linux::Udp;
#[cfg(not(target_os = "linux"))]
pub use plain::Udp;

/// Bytes of the heads of IP and UDP in front of a datagram.
pub(crate) fn heads(address: std::net::IpAddr) -> usize {
    match address {
        std::net::IpAddr::V4(_) => 20 + 8,
        std::net::IpAddr::V6(_) => 40 + 8,
    }
}
