//! A transmit ring of a stated length, and room for what comes, as Linux has them for a socket.
//!
//! The kernel charges the memory of a frame to its socket until the device has sent it, and refuses
//! more when the charge has come to the socket's send buffer: that is the ring.
#![allow(unsafe_code)] // getsockopt, ioctl, sends and receives with flags: std has none of them.

use std::io;
use std::net::{IpAddr, UdpSocket};
use std::os::fd::AsRawFd;

use super::linux::set;

/// The most lengths of frames whose charge is known at once.
const LENGTHS: usize = 32;

/// How often a send or receive is tried again that told of something else.
const AGAIN: usize = 3;

/// How many errors of earlier datagrams are read at once.
const ERRORS: usize = 64;

/// Which of the numbers of `SO_MEMINFO` counts datagrams without room, and how many there are.
const DROPS: usize = 8;
const NUMBERS: usize = 9;

/// How many frames may wait in front of the device.
#[derive(Debug)]
pub(super) struct Ring {
    frames: u32,
    /// What the kernel charges for frames of some lengths.
    charges: Vec<(usize, u32)>,
    /// Of which length the frames are that the send buffer is set for.
    length: usize,
}

impl Ring {
    /// A ring of this number of frames in front of a socket that sends nothing in pieces.
    pub fn new(socket: &UdpSocket, frames: u32) -> io::Result<Ring> {
        let (level, discover, never, errors) = match socket.local_addr()?.ip() {
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
        set_number(socket, level, discover, never)?;
        // Without it the kernel does not tell that its queue dropped a frame.
        set_number(socket, level, errors, 1)?;
        Ok(Ring { frames, charges: Vec::new(), length: usize::MAX })
    }

    /// Asks for room for this number of frames of a length that have come.
    pub fn make_room(&mut self, socket: &UdpSocket, frames: u32, length: usize) -> io::Result<()> {
        let charge = self.charge(socket, length)?;
        // The kernel doubles it.
        let half = (u64::from(frames) * u64::from(charge) / 2).min(i32::MAX as u64) as i32;
        force(socket, (libc::SO_RCVBUFFORCE, libc::SO_RCVBUF), half)
    }

    /// How many frames of a length it holds: fewer than were asked for where the system allows no
    /// more.
    pub fn frames_of(&mut self, socket: &UdpSocket, length: usize) -> io::Result<u32> {
        let charge = self.set_to(socket, length)?;
        let mut buffer = [0; size_of::<libc::c_int>()];
        get(socket, libc::SOL_SOCKET, libc::SO_SNDBUF, &mut buffer)?;
        let buffer = u32::try_from(i32::from_ne_bytes(buffer)).unwrap_or(0);
        // One is taken as long as anything is left.
        Ok(buffer.div_ceil(charge))
    }

    /// Has a frame of a length sent by `send`; `WouldBlock` if the ring is full.
    pub fn send(
        &mut self,
        socket: &UdpSocket,
        length: usize,
        send: impl Fn() -> io::Result<()>,
    ) -> io::Result<()> {
        if length != self.length {
            self.set_to(socket, length)?;
        }
        // A queue that drops what it has no room for is full, too.
        let is_full = |error: &io::Error| error.raw_os_error() == Some(libc::ENOBUFS);
        persist(socket, || {
            send().map_err(
                |error| {
                    if is_full(&error) { io::ErrorKind::WouldBlock.into() } else { error }
                },
            )
        })
    }

    /// Lets the send buffer hold as many frames of this length as the ring does. Returns what one
    /// is charged.
    fn set_to(&mut self, socket: &UdpSocket, length: usize) -> io::Result<u32> {
        let charge = self.charge(socket, length)?;
        let half = (u64::from(self.frames) * u64::from(charge)).div_ceil(2);
        let half = half.min(i32::MAX as u64) as i32;
        force(socket, (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF), half)?;
        self.length = length;
        Ok(charge)
    }

    fn charge(&mut self, socket: &UdpSocket, length: usize) -> io::Result<u32> {
        if let Some(&(_, charge)) = self.charges.iter().find(|known| known.0 == length) {
            return Ok(charge);
        }
        let charge = charge(socket.local_addr()?.ip(), length)?;
        if self.charges.len() == LENGTHS {
            self.charges.clear();
        }
        self.charges.push((length, charge));
        Ok(charge)
    }
}

/// Receives a datagram. Returns its length, if there is one. What does not fit is cut off.
pub(super) fn receive(socket: &UdpSocket, into: &mut [u8]) -> io::Result<Option<usize>> {
    match persist(socket, || socket.recv(into)) {
        Ok(length) => Ok(Some(length)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

/// Datagrams that found the receive queue full.
pub(super) fn overflow(socket: &UdpSocket) -> u64 {
    let mut numbers = [0u8; NUMBERS * size_of::<u32>()];
    let length = get(socket, libc::SOL_SOCKET, libc::SO_MEMINFO, &mut numbers);
    let drops = &numbers[DROPS * size_of::<u32>()..];
    match (length, drops.try_into()) {
        (Ok(length), Ok(drops)) if length == numbers.len() => u32::from_ne_bytes(drops).into(),
        // A kernel that does not tell.
        _ => 0,
    }
}

/// Tries something until it works or there is no room or nothing to receive. Other errors may be
/// what became of an earlier datagram, such as that no socket was there.
fn persist<R>(socket: &UdpSocket, mut attempt: impl FnMut() -> io::Result<R>) -> io::Result<R> {
    use io::ErrorKind::{Interrupted, WouldBlock};
    let mut again = 0;
    loop {
        match attempt() {
            Err(error) if error.kind() == Interrupted => {}
            Err(error) if error.kind() != WouldBlock && again < AGAIN => {
                again += 1;
                forget_errors(socket);
            }
            done => return done,
        }
    }
}

/// Reads what became of earlier datagrams, which does not matter here.
fn forget_errors(socket: &UdpSocket) {
    let mut bytes = [0u8; 64];
    let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
    for _ in 0..ERRORS {
        let (place, length) = (bytes.as_mut_ptr().cast(), bytes.len());
        // SAFETY: the bytes live until the call returns, and it writes no more than their length.
        if unsafe { libc::recv(socket.as_raw_fd(), place, length, flags) } < 0 {
            break;
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

/// Sets a buffer to twice this number of bytes, or to as many as the system allows.
fn force(
    socket: &UdpSocket,
    (forced, asked): (libc::c_int, libc::c_int),
    half: libc::c_int,
) -> io::Result<()> {
    set_number(socket, libc::SOL_SOCKET, forced, half)
        .or_else(|_| set_number(socket, libc::SOL_SOCKET, asked, half))
}

fn set_number(
    socket: &UdpSocket,
    level: libc::c_int,
    name: libc::c_int,
    number: libc::c_int,
) -> io::Result<()> {
    set(socket, level, name, &number.to_ne_bytes())
}

/// Reads an option. Returns how many bytes it has.
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

const _: () = assert!(size_of::<libc::c_int>() == 4, "as the kernel has numbers");

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, SocketAddr, UdpSocket};

    use crate::rail::udp::Udp;
    use crate::rail::{Rail, Train};

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    /// A rail for single frames, of which 8 may wait, that reaches another address.
    fn frames(to: SocketAddr) -> Udp {
        let mut rail = Udp::bind("lo", HERE, None, 65_000).unwrap().with_ring(8).unwrap();
        rail.reach(&[Some(to)]);
        rail
    }

    #[test]
    fn the_ring_is_as_long_as_was_asked_for_whatever_the_frames() {
        let mut rail = Udp::bind("lo", HERE, None, 1472).unwrap().with_ring(32).unwrap();
        for length in [25, 88, 536, 1048, 1472] {
            assert_eq!(rail.ring(length).unwrap(), Some(32), "{length}");
            let charge = super::charge(HERE, length).unwrap() as usize;
            assert!(charge >= length && charge < length + 2048, "{charge} for {length}");
        }
        assert_eq!(Udp::bind("lo", HERE, None, 1472).unwrap().ring(100).unwrap(), None);
    }

    #[test]
    fn nobody_there_is_no_error_and_what_is_too_long_is() {
        let nobody = UdpSocket::bind((HERE, 0)).unwrap().local_addr().unwrap();
        let mut rail = frames(nobody);
        for _ in 0..20 {
            let mut buffer = b"anybody?".to_vec();
            assert_eq!(rail.send(&mut buffer, &[Train::one(0, 0..8)]).unwrap(), 1);
            assert_eq!(rail.receive_into(&mut [0; 9]).unwrap(), None);
        }
        // The device of this host carries no more than 65,536 bytes.
        assert!(rail.send(&mut vec![0; 65_537], &[Train::one(0, 0..65_537)]).is_err());
    }

    #[test]
    fn what_finds_no_room_is_counted() {
        let other = UdpSocket::bind((HERE, 0)).unwrap();
        let mut rail = frames(other.local_addr().unwrap());
        rail.make_room(8, 1000).unwrap();
        for _ in 0..200 {
            other.send_to(&[1; 1000], rail.local().unwrap()).unwrap();
        }
        let mut came = 0;
        while rail.receive_into(&mut [0; 1001]).unwrap().is_some() {
            came += 1;
        }
        assert!((1..200).contains(&came), "{came}");
        assert_eq!(came + rail.overflow(), 200);
    }
}
