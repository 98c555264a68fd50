//! UDP with what every system has: one datagram in a call.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};

use super::heads;
use crate::rail::{Rail, Train};

/// The longest datagram.
const MESSAGE: usize = 65_535;

/// A rail over UDP.
pub struct Udp {
    name: String,
    socket: UdpSocket,
    peers: Vec<Option<SocketAddr>>,
    longest: usize,
    buffer: Vec<u8>,
}

impl Udp {
    /// A rail from an address of this host; that decides by which device. `mtu` is the most that a
    /// packet of the network carries.
    pub fn bind(name: &str, address: IpAddr, _device: Option<&str>, mtu: usize) -> io::Result<Udp> {
        let socket = UdpSocket::bind((address, 0))?;
        socket.set_nonblocking(true)?;
        Ok(Udp {
            name: name.to_owned(),
            socket,
            peers: Vec::new(),
            longest: mtu.min(MESSAGE) - heads(address),
            buffer: vec![0; MESSAGE],
        })
    }

    /// Where others reach it.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Where ranks are reached. Datagrams to those that have no address are not sent.
    pub fn reach(&mut self, peers: &[Option<SocketAddr>], longest: usize) {
        self.peers = peers.to_vec();
        self.longest = self.longest.min(longest);
    }

    fn send_train(&self, train: &Train<'_>) -> io::Result<()> {
        let Some(Some(peer)) = self.peers.get(usize::from(train.to)) else { return Ok(()) };
        for (place, datagram) in train.datagrams().enumerate() {
            match self.socket.send_to(datagram, peer) {
                Err(error) if place == 0 => return Err(error),
                // As with all datagrams, some may be lost.
                _ => {}
            }
        }
        Ok(())
    }
}

impl Rail for Udp {
    fn name(&self) -> &str {
        &self.name
    }

    fn longest(&self) -> usize {
        self.longest
    }

    fn train(&self) -> (usize, usize) {
        (8, MESSAGE)
    }

    fn send(&mut self, trains: &[Train<'_>]) -> io::Result<usize> {
        for (place, train) in trains.iter().enumerate() {
            match self.send_train(train) {
                Err(error) if place == 0 => return Err(error),
                Err(_) => return Ok(place),
                Ok(()) => {}
            }
        }
        Ok(trains.len())
    }

    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
        for datagrams in 0..64 {
            match self.socket.recv_from(&mut self.buffer) {
                Ok((length, _)) => each(&self.buffer[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(datagrams),
                // Some systems tell here that an earlier one found nobody.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {}
                Err(error) => return Err(error),
            }
        }
        Ok(64)
    }

    #[cfg(unix)]
    fn waits_on(&self) -> std::os::fd::BorrowedFd<'_> {
        std::os::fd::AsFd::as_fd(&self.socket)
    }
}
