//! The socket of an endpoint: single datagrams, a ring of a stated length, and what found no room.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod plain;

#[cfg(target_os = "linux")]
pub(super) use linux::RawSocket;
#[cfg(not(target_os = "linux"))]
pub(super) use plain::RawSocket;
