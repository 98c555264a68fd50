//! With what Linux tells of send buffers and receive queues.
#![allow(unsafe_code)] // setsockopt, getsockopt, ioctl, and sends and receives with flags; std has none of them.

use std::io;
use std::mem;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;

/// The most lengths of frames whose charge is known at once.
const LENGTHS: usize = 32;

/// How often a send or receive is tried again that told of something else.
const AGAIN: usize = 3;

/// How many errors of earlier datagrams are read at once.
const ERRORS: usize = 64;

/// Which of the numbers of `SO_MEMINFO` counts datagrams without room, and how many there are.
const DROPS: usize = 8;
const NUMBERS: usize = 9;

/// A socket that takes frames as long as its ring has room.
pub(in crate::raw) struct RawSocket {
    socket: UdpSocket,
    /// How many frames may wait.
    frames: u32,
    /// What the kernel charges for frames of some lengths.
    charges: Vec<(usize, u32)>,
    /// Of which length the frames are that the send buffer is set for.
    length: usize,
}

impl RawSocket {
    /// A socket at an address, and at one device if that is named, with a ring of so many frames.
    pub fn bind(address: IpAddr, device: Option<&str>, frames: u32) -> io::Result<RawSocket> {
        let socket = UdpSocket::bind((address, 0))?;
        socket.set_nonblocking(true)?;
        if let Some(device) = device {
            set(&socket, libc::SOL_SOCKET, libc::SO_BINDTODEVICE, device.as_bytes())?;
        }
        let (level, discover, never, errors) = match address {
            IpAddr::V4(_) => {
                (libc::SOL_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_DO, libc::IP_RECVERR)
            }
            IpAddr::V6(_) => (
                libc::SOL_IPV6,
                libc::IPV6_MTU_DISCOVER,
                libc::IPV6_PMTUDISC_DO,
                libc::IPV6_RECVERR,
            ),
        };
        set_number(&socket, level, discover, never)?;
        // Without it the kernel does not tell that its queue dropped a frame.
        set_number(&socket, level, errors, 1)?;
        Ok(RawSocket { socket, frames, charges: Vec::new(), length: usize::MAX })
    }

    /// Asks for room for so many frames of a length that have come.
    pub fn make_room(&mut self, frames: u32, length: usize) -> io::Result<()> {
        let charge = self.charge(length)?;
        // The kernel doubles it.
        let half = (u64::from(frames) * u64::from(charge) / 2).min(i32::MAX as u64) as i32;
        if set_number(&self.socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, half).is_err() {
            set_number(&self.socket, libc::SOL_SOCKET, libc::SO_RCVBUF, half)?;
        }
        Ok(())
    }

    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// How many frames of a length the ring holds: fewer than were asked for where the system
    /// allows no more.
    pub fn ring(&mut self, length: usize) -> io::Result<Option<u32>> {
        let charge = self.set_ring(length)?;
        let mut buffer = [0; size_of::<libc::c_int>()];
        get(&self.socket, libc::SOL_SOCKET, libc::SO_SNDBUF, &mut buffer)?;
        let buffer = u32::try_from(i32::from_ne_bytes(buffer)).unwrap_or(0);
        // One is taken as long as anything is left.
        Ok(Some(buffer.div_ceil(charge)))
    }

    /// Sends a datagram; `false` if there is no room for it.
    pub fn send(&mut self, to: SocketAddr, bytes: &[u8]) -> io::Result<bool> {
        if bytes.len() != self.length {
            self.set_ring(bytes.len())?;
        }
        let mut again = 0;
        loop {
            let Err(error) = self.socket.send_to(bytes, to) else { return Ok(true) };
            match error.raw_os_error() {
                Some(libc::EAGAIN | libc::ENOBUFS) => return Ok(false),
                Some(libc::EINTR) => {}
                _ if again == AGAIN => return Err(error),
                // It may be what became of an earlier one, such as that nobody was there.
                _ => {
                    again += 1;
                    self.forget_errors();
                }
            }
        }
    }

    /// Takes a datagram in: its length, if there is one. What does not fit is cut off.
    pub fn receive(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        let mut again = 0;
        loop {
            let error = match self.socket.recv(into) {
                Ok(length) => return Ok(Some(length)),
                Err(error) => error,
            };
            match error.raw_os_error() {
                Some(libc::EAGAIN) => return Ok(None),
                Some(libc::EINTR) => {}
                _ if again == AGAIN => return Err(error),
                _ => {
                    again += 1;
                    self.forget_errors();
                }
            }
        }
    }

    /// Datagrams that found the receive queue full.
    pub fn overflow(&self) -> u64 {
        let mut numbers = [0u8; NUMBERS * size_of::<u32>()];
        let length = get(&self.socket, libc::SOL_SOCKET, libc::SO_MEMINFO, &mut numbers);
        let drops = &numbers[DROPS * size_of::<u32>()..];
        match (length, drops.try_into()) {
            (Ok(length), Ok(drops)) if length == numbers.len() => u32::from_ne_bytes(drops).into(),
            // A kernel that does not tell.
            _ => 0,
        }
    }

    /// Waits until something has come or a time has passed.
    pub fn wait(&self, time: std::time::Duration) {
        use nix::poll::{PollFd, PollFlags, ppoll};
        use std::os::fd::AsFd;
        let mut files = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        // Whatever ends it, somebody looks what there is.
        let _ = ppoll(&mut files, Some(time.into()), None);
    }

    /// Lets the send buffer hold as many frames of this length as the ring does; what one is
    /// charged.
    fn set_ring(&mut self, length: usize) -> io::Result<u32> {
        let charge = self.charge(length)?;
        let half = (u64::from(self.frames) * u64::from(charge)).div_ceil(2);
        let half = half.min(i32::MAX as u64) as i32;
        if set_number(&self.socket, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, half).is_err() {
            set_number(&self.socket, libc::SOL_SOCKET, libc::SO_SNDBUF, half)?;
        }
        self.length = length;
        Ok(charge)
    }

    fn charge(&mut self, length: usize) -> io::Result<u32> {
        if let Some(&(_, charge)) = self.charges.iter().find(|known| known.0 == length) {
            return Ok(charge);
        }
        let charge = charge(self.address()?.ip(), length)?;
        if self.charges.len() == LENGTHS {
            self.charges.clear();
        }
        self.charges.push((length, charge));
        Ok(charge)
    }

    /// Reads what became of earlier datagrams, which does not matter here.
    fn forget_errors(&self) {
        let mut bytes = [0u8; 64];
        let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
        for _ in 0..ERRORS {
            let (place, length) = (bytes.as_mut_ptr().cast(), bytes.len());
            // SAFETY: the bytes live until the call returns, and it writes no more than their
            // length.
            if unsafe { libc::recv(self.socket.as_raw_fd(), place, length, flags) } < 0 {
                break;
            }
        }
    }
}

/// What the kernel charges a socket for a datagram of a length while that waits to be sent.
///
/// One is held back on a socket of its own, to this host itself, and given up with the socket.
fn charge(address: IpAddr, length: usize) -> io::Result<u32> {
    let socket = UdpSocket::bind((address, 0))?;
    socket.connect(socket.local_addr()?)?;
    let bytes = vec![0u8; length];
    let flags = libc::MSG_MORE | libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: the bytes live until the call returns.
    if unsafe { libc::send(socket.as_raw_fd(), bytes.as_ptr().cast(), length, flags) } < 0 {
        return Err(io::Error::last_os_error());
    }
    let mut charge: libc::c_int = 0;
    // SAFETY: the call writes one number, which lives until it returns.
    if unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut charge) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // Never less than its bytes.
    Ok(u32::try_from(charge).unwrap_or(0).max(length as u32).max(1))
}

fn set_number(
    socket: &UdpSocket,
    level: libc::c_int,
    name: libc::c_int,
    number: libc::c_int,
) -> io::Result<()> {
    set(socket, level, name, &number.to_ne_bytes())
}

fn set(socket: &UdpSocket, level: libc::c_int, name: libc::c_int, value: &[u8]) -> io::Result<()> {
    let length = value.len() as libc::socklen_t;
    // SAFETY: the value lives until the call returns.
    let result =
        unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, value.as_ptr().cast(), length) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Reads an option; how many bytes it has.
fn get(
    socket: &UdpSocket,
    level: libc::c_int,
    name: libc::c_int,
    value: &mut [u8],
) -> io::Result<usize> {
    let mut length = value.len() as libc::socklen_t;
    let place = value.as_mut_ptr().cast();
    // SAFETY: value and length live until the call returns, and it writes no more than the length.
    let result =
        unsafe { libc::getsockopt(socket.as_raw_fd(), level, name, place, &raw mut length) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(length as usize) }
}

const _: () = assert!(mem::size_of::<libc::c_int>() == 4, "as the kernel has numbers");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_is_as_long_as_was_asked_for_whatever_the_frames() {
        let here = IpAddr::from([127, 0, 0, 1]);
        let mut socket = RawSocket::bind(here, None, 32).unwrap();
        for length in [25, 88, 536, 1048, 1472] {
            assert_eq!(socket.ring(length).unwrap(), Some(32), "{length}");
            let charge = socket.charge(length).unwrap() as usize;
            assert!(charge >= length && charge < length + 2048, "{charge} for {length}");
        }
    }

    #[test]
    fn nobody_there_is_no_error_and_what_is_too_long_is() {
        let here = IpAddr::from([127, 0, 0, 1]);
        let mut socket = RawSocket::bind(here, None, 8).unwrap();
        let nobody = {
            let gone = UdpSocket::bind((here, 0)).unwrap();
            gone.local_addr().unwrap()
        };
        for _ in 0..20 {
            assert!(socket.send(nobody, b"anybody?").unwrap());
            assert_eq!(socket.receive(&mut [0; 9]).unwrap(), None);
        }
        // The device of this host carries no more than 65,536 bytes.
        assert!(socket.send(nobody, &[0; 65_537]).is_err());
    }

    #[test]
    fn what_finds_no_room_is_counted() {
        let here = IpAddr::from([127, 0, 0, 1]);
        let mut socket = RawSocket::bind(here, None, 8).unwrap();
        socket.make_room(8, 1000).unwrap();
        let to = socket.address().unwrap();
        let other = UdpSocket::bind((here, 0)).unwrap();
        for _ in 0..200 {
            other.send_to(&[1; 1000], to).unwrap();
        }
        let mut came = 0;
        while socket.receive(&mut [0; 1001]).unwrap().is_some() {
            came += 1;
        }
        assert!((1..200).contains(&came), "{came}");
        assert_eq!(came + socket.overflow(), 200);
    }
}
