//! With what every system has.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};

/// A socket that takes frames as long as the system does.
pub(in crate::raw) struct RawSocket {
    socket: UdpSocket,
}

impl RawSocket {
    /// A socket at an address; neither a device nor the length of the ring can be chosen.
    pub fn bind(address: IpAddr, _device: Option<&str>, _frames: u32) -> io::Result<RawSocket> {
        let socket = UdpSocket::bind((address, 0))?;
        socket.set_nonblocking(true)?;
        Ok(RawSocket { socket })
    }

    /// The system's room is what it is.
    pub fn make_room(&mut self, _frames: u32, _length: usize) -> io::Result<()> {
        Ok(())
    }

    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Nobody knows.
    pub fn ring(&mut self, _length: usize) -> io::Result<Option<u32>> {
        Ok(None)
    }

    /// Sends a datagram; `false` if there is no room for it.
    pub fn send(&mut self, to: SocketAddr, bytes: &[u8]) -> io::Result<bool> {
        match self.socket.send_to(bytes, to) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Takes a datagram in: its length, if there is one. What does not fit is cut off, or has not
    /// come.
    pub fn receive(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        match self.socket.recv_from(into) {
            Ok((length, _)) => Ok(Some(length)),
            // Some systems tell here that an earlier one found nobody.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::ConnectionReset
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Nobody knows.
    pub fn overflow(&self) -> u64 {
        0
    }

    /// Waits for a little while: other systems are not asked to wake us.
    pub fn wait(&self, time: std::time::Duration) {
        std::thread::sleep(time.min(std::time::Duration::from_micros(100)));
    }
}
