//! A rail on which this rank has no device: it is down, and nothing comes.

use std::io;

use super::{Capabilities, Driver, Rail, RailError, Train};

/// Stands where a rank has no device on a rail that others have.
pub(crate) struct Absent {
    /// The network.
    network: String,
    longest: usize,
}

impl Absent {
    /// For the rail of a network whose datagrams have up to `longest` bytes.
    pub fn new(network: &str, longest: usize) -> Absent {
        Absent { network: format!("no device in {network}"), longest }
    }
}

impl Driver for Absent {
    fn name(&self) -> &str {
        &self.network
    }

    fn capabilities(&self) -> Capabilities {
        // Nothing comes that would have to wake the rank.
        Capabilities { wakes: true, ..Capabilities::default() }
    }

    fn address(&self) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::AddrNotAvailable.into())
    }

    fn connect(&mut self, _peers: &[Option<&[u8]>]) -> Result<(), RailError> {
        Ok(())
    }
}

impl Rail for Absent {
    fn longest(&self) -> usize {
        self.longest
    }

    fn train(&self) -> (usize, usize) {
        (usize::MAX, usize::MAX)
    }

    fn send(&mut self, _buffer: &mut Vec<u8>, _trains: &[Train]) -> io::Result<usize> {
        Err(io::ErrorKind::NetworkUnreachable.into())
    }

    fn receive(&mut self, _each: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
        Ok(0)
    }

    #[cfg(unix)]
    fn waits_on(&self) -> Option<std::os::fd::BorrowedFd<'_>> {
        None
    }
}
