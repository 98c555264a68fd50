//! UDP with what every system has: one datagram in a call.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};

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
    /// A rail from an address of this host, which decides by which device, for datagrams of up to
    /// `longest` bytes.
    pub fn bind(
        name: &str,
        address: IpAddr,
        _device: Option<&str>,
        longest: usize,
    ) -> io::Result<Udp> {
        let socket = UdpSocket::bind((address, 0))?;
        socket.set_nonblocking(true)?;
        let (name, buffer) = (name.to_owned(), vec![0; MESSAGE]);
        Ok(Udp { name, socket, peers: Vec::new(), longest, buffer })
    }

    /// What it is called.
    pub(super) fn device(&self) -> &str {
        &self.name
    }

    /// Nothing is cut up or joined.
    pub(super) fn offloads(&self) -> (bool, bool) {
        (false, false)
    }

    /// Where others reach it.
    pub fn local(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Where ranks are reached. Datagrams to those that have no address are not sent.
    pub fn reach(&mut self, peers: &[Option<SocketAddr>]) {
        self.peers = peers.to_vec();
    }

    fn send_train(&self, buffer: &[u8], train: &Train) -> io::Result<()> {
        let Some(Some(peer)) = self.peers.get(usize::from(train.to)) else { return Ok(()) };
        for (place, datagram) in train.datagrams(buffer).enumerate() {
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
    fn longest(&self) -> usize {
        self.longest
    }

    fn train(&self) -> (usize, usize) {
        (8, MESSAGE)
    }

    fn send(&mut self, buffer: &mut Vec<u8>, trains: &[Train]) -> io::Result<usize> {
        for (place, train) in trains.iter().enumerate() {
            match self.send_train(buffer, train) {
                Err(error) if place == 0 => return Err(error),
                Err(_) => return Ok(place),
                Ok(()) => {}
            }
        }
        Ok(trains.len())
    }

    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut datagrams = 0;
        let received = loop {
            match self.receive_into(&mut buffer) {
                Ok(Some(length)) => each(&buffer[..length]),
                Ok(None) => break Ok(datagrams),
                Err(error) => break Err(error),
            }
            datagrams += 1;
            if datagrams == 64 {
                break Ok(datagrams);
            }
        };
        self.buffer = buffer;
        received
    }

    #[cfg(unix)]
    fn waits_on(&self) -> Option<std::os::fd::BorrowedFd<'_>> {
        Some(std::os::fd::AsFd::as_fd(&self.socket))
    }
}

/// Single frames, for raw endpoints, with a ring and room as long as the system likes.
impl Udp {
    pub(crate) fn with_ring(self, _frames: u32) -> io::Result<Udp> {
        Ok(self)
    }

    pub(crate) fn ring(&mut self, _length: usize) -> io::Result<Option<u32>> {
        Ok(None)
    }

    pub(crate) fn make_room(&mut self, _frames: u32, _length: usize) -> io::Result<()> {
        Ok(())
    }

    /// Receives a datagram. Returns its length, if there is one. What does not fit is cut off, or
    /// has not come.
    pub(crate) fn receive_into(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            match self.socket.recv_from(into) {
                Ok((length, _)) => return Ok(Some(length)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                // Some systems tell here that an earlier one found nobody.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Datagrams that found no room: other systems do not tell.
    pub(crate) fn overflow(&self) -> u64 {
        0
    }

    /// Waits for a little while: other systems are not asked to wake us.
    pub(crate) fn wait(&self, time: std::time::Duration) {
        std::thread::sleep(time.min(std::time::Duration::from_micros(100)));
    }
}
