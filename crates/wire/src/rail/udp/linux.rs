//! UDP with what Linux has for it: many datagrams in a call, and many in a packet (`UDP_SEGMENT`,
//! `UDP_GRO`).
#![allow(unsafe_code)] // sendmmsg and recvmmsg with buffers that outlive their calls; std has neither.

use std::io;
use std::mem;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use super::ring::{self, Ring};
use crate::rail::{Rail, Train};

/// Messages in one call, out and in.
const OUT: usize = 16;
const IN: usize = 16;

/// Datagrams up to this length are short ones.
const SHORT: usize = 512;

/// How often messages are taken in before somebody looks what to do about them.
const ROUNDS: usize = 16;

/// Messages from this length on are taken in one by one: each is looked at while it is still in the
/// cache.
const LARGE: usize = 16 << 10;

/// After so many short datagrams in a row the kernel need not put them together any more.
const QUIET: u32 = 64;

/// The longest message: several datagrams that the kernel cuts up or has put together.
const MESSAGE: usize = 65_535;

/// Bytes that a train may have, with all heads, and how many datagrams.
const TRAIN: (usize, usize) = (64, 65_000);

/// The room that is asked for before and behind the NIC. The system may have a lower limit.
const BUFFER: libc::c_int = 4 << 20;

/// A control message of 2 or 4 bytes, aligned as the kernel wants it.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Extra([u8; 32]);

/// An address as the kernel has it.
#[derive(Clone, Copy)]
struct Name {
    storage: libc::sockaddr_storage,
    length: libc::socklen_t,
}

/// Whether the kernel puts datagrams together. That helps with long ones only, and then it has to
/// be asked of which length they are: a short one that is waited for comes sooner without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coalescing {
    /// This kernel cannot.
    Never,
    Off,
    /// With so many short ones in a row since.
    On {
        short: u32,
    },
}

/// A rail over UDP.
pub struct Udp {
    name: String,
    socket: UdpSocket,
    peers: Vec<Option<Name>>,
    longest: usize,
    /// Whether the kernel cuts up messages.
    segments: bool,
    /// The only peer, if it is one: then the kernel does not have to look for the way to it each
    /// time.
    only: Option<u16>,
    coalescing: Coalescing,
    buffers: Vec<u8>,
    extras: [Extra; IN],
    /// What single frames wait in, instead of all that.
    ring: Option<Ring>,
}

/// A socket with an address that this host will have when a device comes up.
fn bind_ahead(address: IpAddr) -> io::Result<UdpSocket> {
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrStorage, bind, socket};

    let (family, level, option) = match address {
        IpAddr::V4(_) => (AddressFamily::Inet, libc::SOL_IP, libc::IP_FREEBIND),
        IpAddr::V6(_) => (AddressFamily::Inet6, libc::SOL_IPV6, libc::IPV6_FREEBIND),
    };
    let made = UdpSocket::from(socket(family, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?);
    set(&made, level, option, &1i32.to_ne_bytes())?;
    bind(made.as_raw_fd(), &SockaddrStorage::from(SocketAddr::new(address, 0)))?;
    Ok(made)
}

impl Udp {
    /// A rail from an address of this host, and by one device if that is named, for datagrams of up
    /// to `longest` bytes.
    pub fn bind(
        name: &str,
        address: IpAddr,
        device: Option<&str>,
        longest: usize,
    ) -> io::Result<Udp> {
        let (socket, down) = match UdpSocket::bind((address, 0)) {
            Ok(socket) => (socket, false),
            // The address is that of a device which is down.
            Err(error) if error.kind() == io::ErrorKind::AddrNotAvailable => {
                (bind_ahead(address)?, true)
            }
            Err(error) => return Err(error),
        };
        // Until its device is up, the address leads nowhere else.
        let device = device.or(down.then_some(name));
        socket.set_nonblocking(true)?;
        if let Some(device) = device {
            set(&socket, libc::SOL_SOCKET, libc::SO_BINDTODEVICE, device.as_bytes())?;
        }
        for (forced, asked) in
            [(libc::SO_RCVBUFFORCE, libc::SO_RCVBUF), (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF)]
        {
            if set(&socket, libc::SOL_SOCKET, forced, &BUFFER.to_ne_bytes()).is_err() {
                set(&socket, libc::SOL_SOCKET, asked, &BUFFER.to_ne_bytes())?;
            }
        }
        // A kernel without it gives datagrams one by one.
        let can = set(&socket, libc::SOL_UDP, libc::UDP_GRO, &0i32.to_ne_bytes()).is_ok();
        let coalescing = if can { Coalescing::Off } else { Coalescing::Never };
        Ok(Udp {
            name: name.to_owned(),
            socket,
            peers: Vec::new(),
            longest,
            segments: true,
            only: None,
            coalescing,
            buffers: vec![0; IN * MESSAGE],
            extras: [Extra([0; 32]); IN],
            ring: None,
        })
    }

    /// What it is called.
    pub(super) fn device(&self) -> &str {
        &self.name
    }

    /// Returns true if the system cuts up trains, and if it joins datagrams that come together.
    pub(super) fn offloads(&self) -> (bool, bool) {
        (self.segments, self.coalescing != Coalescing::Never)
    }

    /// Where others reach it.
    pub fn local(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Where ranks are reached. Datagrams to those that have no address are not sent.
    pub fn reach(&mut self, peers: &[Option<SocketAddr>]) {
        self.peers = peers.iter().map(|peer| peer.map(Name::new)).collect();
        if self.ring.is_some() {
            // A socket that is connected does not see strangers, which are counted.
            return;
        }
        let here = self.local().ok();
        let others = peers.iter().map(|peer| peer.filter(|&peer| Some(peer) != here));
        // Where there are more ranks, others may come later.
        if let [(rank, Some(peer))]
        | [(rank, Some(peer)), (_, None)]
        | [(_, None), (rank, Some(peer))] = (0u16..).zip(others).collect::<Vec<_>>()[..]
        {
            self.only = self.socket.connect(peer).is_ok().then_some(rank);
        }
    }

    /// Where a rank is, for the kernel; nowhere if it knows that.
    fn name(&self, rank: u16) -> Option<&Name> {
        let name = self.peers[usize::from(rank)].as_ref().expect("only those who have one");
        (self.only != Some(rank)).then_some(name)
    }

    /// Lets the kernel put datagrams together, or not.
    fn coalesce(&mut self, on: bool) {
        let value = i32::from(on).to_ne_bytes();
        if set(&self.socket, libc::SOL_UDP, libc::UDP_GRO, &value).is_ok() {
            self.coalescing = if on { Coalescing::On { short: 0 } } else { Coalescing::Off };
        }
    }

    /// Sends each datagram of a train as a message of its own. As with all datagrams, some may be
    /// lost.
    fn send_singly(&mut self, buffer: &[u8], train: &Train) -> io::Result<()> {
        let mut ring = self.ring.take();
        let name = self.name(train.to);
        let sent = train.datagrams(buffer).enumerate().try_for_each(|(place, datagram)| {
            let sent = match &mut ring {
                None => send(&self.socket, name, datagram),
                Some(ring) => {
                    ring.send(&self.socket, datagram.len(), || send(&self.socket, name, datagram))
                }
            };
            if place == 0 { sent } else { Ok(()) }
        });
        self.ring = ring;
        sent
    }

    fn send_together(&self, buffer: &[u8], trains: &[Train]) -> io::Result<usize> {
        if let [train] = trains
            && train.count() == 1
        {
            // For which a simple call is cheaper.
            let bytes = &buffer[train.bytes.clone()];
            return send(&self.socket, self.name(train.to), bytes).map(|()| 1);
        }
        let mut slices = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; OUT];
        let mut extras = [Extra([0; 32]); OUT];
        // SAFETY: a header of zeroes is one without address, bytes and extras.
        let mut headers: [libc::mmsghdr; OUT] = unsafe { mem::zeroed() };
        let count = trains.len().min(OUT);
        for (place, train) in trains.iter().enumerate().take(count) {
            let header = &mut headers[place].msg_hdr;
            if let Some(name) = self.name(train.to) {
                header.msg_name = (&raw const name.storage).cast_mut().cast();
                header.msg_namelen = name.length;
            }
            let bytes = &buffer[train.bytes.clone()];
            // The kernel only reads them.
            slices[place] =
                libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
            header.msg_iov = &raw mut slices[place];
            header.msg_iovlen = 1;
            if train.count() > 1 {
                header.msg_controllen = extras[place].segment(train.segment as u16) as _;
                header.msg_control = (&raw mut extras[place]).cast();
            }
        }
        let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
        // SAFETY: all that the headers point to (names, slices and what these point to, extras)
        // lives until the call returns.
        let sent = unsafe {
            libc::sendmmsg(
                self.socket.as_raw_fd(),
                headers.as_mut_ptr(),
                count as libc::c_uint,
                flags as _,
            )
        };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    }
}

impl Udp {
    /// Takes in several messages.
    fn receive_some(&mut self, each: &mut dyn FnMut(&[u8])) -> io::Result<Came> {
        // SAFETY: a header of zeroes is one without address, bytes and extras.
        let mut headers: [libc::mmsghdr; IN] = unsafe { mem::zeroed() };
        let mut slices = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; IN];
        let places = self.buffers.chunks_exact_mut(MESSAGE).zip(&mut self.extras);
        for (place, (buffer, extra)) in places.enumerate() {
            slices[place] =
                libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
            let header = &mut headers[place].msg_hdr;
            header.msg_iov = &raw mut slices[place];
            header.msg_iovlen = 1;
            header.msg_control = (&raw mut *extra).cast();
            header.msg_controllen = size_of::<Extra>() as _;
        }
        let (socket, flags) = (self.socket.as_raw_fd(), libc::MSG_DONTWAIT);
        // SAFETY: buffers, slices and extras live until the call returns, and each header has
        // buffers of its own.
        let count = unsafe {
            let none = std::ptr::null_mut();
            libc::recvmmsg(socket, headers.as_mut_ptr(), IN as libc::c_uint, flags as _, none)
        };
        let Ok(count) = usize::try_from(count) else {
            return nothing(io::Error::last_os_error());
        };
        let mut came = Came { messages: count, ..Came::default() };
        for (place, header) in headers.iter().enumerate().take(count) {
            let length = (header.msg_len as usize).min(MESSAGE);
            let message = &self.buffers[place * MESSAGE..][..length];
            // SAFETY: the kernel has filled in the header and its extras, which are still there.
            came.datagrams += hand_out(message, unsafe { segment_of(&header.msg_hdr) }, each);
            came.longest = came.longest.max(length);
        }
        Ok(came)
    }

    /// Takes in one message that may be several datagrams.
    fn receive_one(&mut self, each: &mut dyn FnMut(&[u8])) -> io::Result<Came> {
        let (buffer, extra) = (&mut self.buffers[..MESSAGE], &mut self.extras[0]);
        let mut slice = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: MESSAGE };
        // SAFETY: a header of zeroes is one without address, bytes and extras.
        let mut header: libc::msghdr = unsafe { mem::zeroed() };
        header.msg_iov = &raw mut slice;
        header.msg_iovlen = 1;
        header.msg_control = (&raw mut *extra).cast();
        header.msg_controllen = size_of::<Extra>() as _;
        let (socket, flags) = (self.socket.as_raw_fd(), libc::MSG_DONTWAIT);
        // SAFETY: buffer, slice and extra live until the call returns.
        let length = unsafe { libc::recvmsg(socket, &raw mut header, flags) };
        let Ok(length) = usize::try_from(length) else {
            return nothing(io::Error::last_os_error());
        };
        let message = &self.buffers[..length.min(MESSAGE)];
        // SAFETY: the kernel has filled in the header and its extras, which are still there.
        let datagrams = hand_out(message, unsafe { segment_of(&header) }, each);
        Ok(Came { messages: 1, datagrams, longest: length })
    }

    /// Takes in one datagram.
    fn receive_single(&mut self, each: &mut dyn FnMut(&[u8])) -> io::Result<Came> {
        let buffer = &mut self.buffers[..MESSAGE];
        let (socket, flags) = (self.socket.as_raw_fd(), libc::MSG_DONTWAIT);
        // Not by the function of libc, which is prepared for threads that are cancelled meanwhile:
        // a rank that spins calls little else. SAFETY: the buffer lives until the call
        // returns.
        let length = unsafe {
            let none = std::ptr::null_mut::<libc::c_void>();
            libc::syscall(
                libc::SYS_recvfrom,
                socket,
                buffer.as_mut_ptr(),
                MESSAGE,
                flags,
                none,
                none,
            )
        };
        let Ok(length) = usize::try_from(length) else {
            return nothing(io::Error::last_os_error());
        };
        each(&self.buffers[..length.min(MESSAGE)]);
        Ok(Came { messages: 1, datagrams: 1, longest: length })
    }

    /// Takes in a message that is not long, as most are. With the first long one it is others that
    /// follow.
    fn receive_short(&mut self, each: &mut dyn FnMut(&[u8])) -> io::Result<Came> {
        let Coalescing::On { short } = self.coalescing else {
            let came = self.receive_single(each)?;
            if came.is_long() && self.coalescing == Coalescing::Off {
                self.coalesce(true);
            }
            return Ok(came);
        };
        let came = self.receive_one(each)?;
        match came.messages {
            // What is put together between this and the next call would be taken for a datagram,
            // and lost. There is nothing to put together, though.
            0 if short >= QUIET => self.coalesce(false),
            0 => {}
            _ => {
                let short = if came.is_long() { 0 } else { short + 1 };
                self.coalescing = Coalescing::On { short };
            }
        }
        Ok(came)
    }
}

/// What a call has taken in: how many messages, how many datagrams in them, and the bytes of the
/// longest.
#[derive(Debug, Clone, Copy, Default)]
struct Came {
    messages: usize,
    datagrams: usize,
    longest: usize,
}

impl Came {
    fn is_long(&self) -> bool {
        self.longest > SHORT
    }
}

impl Rail for Udp {
    fn longest(&self) -> usize {
        self.longest
    }

    fn train(&self) -> (usize, usize) {
        TRAIN
    }

    fn send(&mut self, buffer: &mut Vec<u8>, trains: &[Train]) -> io::Result<usize> {
        let mut sent = 0;
        while let Some(train) = trains.get(sent) {
            let known =
                |train: &Train| self.peers.get(usize::from(train.to)).is_some_and(Option::is_some);
            let run = trains[sent..].iter().take_while(|train| known(train)).count();
            let result = match (run, self.segments) {
                (0, _) => Ok(1),
                (_, true) => self.send_together(buffer, &trains[sent..sent + run]),
                (_, false) => self.send_singly(buffer, train).map(|()| 1),
            };
            match result {
                Ok(count) => sent += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // Some devices cannot cut messages up.
                Err(error)
                    if self.segments
                        && train.count() > 1
                        && matches!(error.raw_os_error(), Some(libc::EIO | libc::EINVAL)) =>
                {
                    self.segments = false;
                }
                Err(error) if sent == 0 => return Err(error),
                Err(_) => break,
            }
        }
        Ok(sent)
    }

    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
        // Most often there is a short one or none, for which a simple call is cheaper.
        let mut came = self.receive_short(each)?;
        let mut datagrams = came.datagrams;
        if !came.is_long() {
            return Ok(datagrams);
        }
        for _ in 0..ROUNDS {
            let most = if came.longest < LARGE { IN } else { 1 };
            came = if most > 1 { self.receive_some(each)? } else { self.receive_one(each)? };
            datagrams += came.datagrams;
            if came.messages < most {
                break;
            }
        }
        Ok(datagrams)
    }

    fn waits_on(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.as_fd())
    }
}

/// Single frames, for raw endpoints.
impl Udp {
    /// From now on each datagram is a frame by itself, and this number of them may wait in front of
    /// the device: `WouldBlock` says that there are as many. Nothing is cut up or joined.
    pub(crate) fn with_ring(mut self, frames: u32) -> io::Result<Udp> {
        self.ring = Some(Ring::new(&self.socket, frames)?);
        (self.segments, self.coalescing) = (false, Coalescing::Never);
        Ok(self)
    }

    /// How many frames of a length may wait in front of the device, if it has a ring: fewer than
    /// were asked for where the system allows no more.
    pub(crate) fn ring(&mut self, length: usize) -> io::Result<Option<u32>> {
        self.ring.as_mut().map(|ring| ring.frames_of(&self.socket, length)).transpose()
    }

    /// Asks for room for this number of frames of a length that have come.
    pub(crate) fn make_room(&mut self, frames: u32, length: usize) -> io::Result<()> {
        match &mut self.ring {
            Some(ring) => ring.make_room(&self.socket, frames, length),
            None => Ok(()),
        }
    }

    /// Receives a datagram. Returns its length, if there is one. What does not fit is cut off.
    pub(crate) fn receive_into(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        ring::receive(&self.socket, into)
    }

    /// Datagrams that found no room.
    pub(crate) fn overflow(&self) -> u64 {
        ring::overflow(&self.socket)
    }

    /// Waits until something has come or a time has passed.
    pub(crate) fn wait(&self, time: std::time::Duration) {
        use nix::poll::{PollFd, PollFlags, ppoll};
        let mut files = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        // Whatever ends it, the caller looks for datagrams.
        let _ = ppoll(&mut files, Some(time.into()), None);
    }
}

impl Name {
    fn new(address: SocketAddr) -> Name {
        // SAFETY: an address of zeroes is one of no family.
        let mut storage: libc::sockaddr_storage = unsafe { mem::zeroed() };
        let length = match address {
            SocketAddr::V4(address) => {
                let name = libc::sockaddr_in {
                    sin_family: libc::AF_INET as _,
                    sin_port: address.port().to_be(),
                    sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(address.ip().octets()) },
                    sin_zero: [0; 8],
                };
                // SAFETY: the storage is made to hold it, and aligned for it.
                unsafe { (&raw mut storage).cast::<libc::sockaddr_in>().write(name) };
                size_of_val(&name)
            }
            SocketAddr::V6(address) => {
                let name = libc::sockaddr_in6 {
                    sin6_family: libc::AF_INET6 as _,
                    sin6_port: address.port().to_be(),
                    sin6_flowinfo: address.flowinfo(),
                    sin6_addr: libc::in6_addr { s6_addr: address.ip().octets() },
                    sin6_scope_id: address.scope_id(),
                };
                // SAFETY: as above.
                unsafe { (&raw mut storage).cast::<libc::sockaddr_in6>().write(name) };
                size_of_val(&name)
            }
        };
        Name { storage, length: length as libc::socklen_t }
    }
}

/// Sends a datagram to somebody, or to whom the socket is connected.
fn send(socket: &UdpSocket, to: Option<&Name>, bytes: &[u8]) -> io::Result<()> {
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    let (name, length) = match to {
        Some(name) => ((&raw const name.storage).cast(), name.length),
        None => (std::ptr::null(), 0),
    };
    // SAFETY: the bytes and the address live until the call returns.
    let sent = unsafe {
        libc::sendto(socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags, name, length)
    };
    if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

impl Extra {
    /// Says into pieces of which length a message is cut; the bytes that this takes.
    fn segment(&mut self, segment: u16) -> usize {
        // SAFETY: the buffer is aligned for a control message and longer than one of two bytes.
        unsafe {
            let length = libc::CMSG_LEN(size_of::<u16>() as _);
            let message = libc::cmsghdr {
                cmsg_len: length as _,
                cmsg_level: libc::SOL_UDP,
                cmsg_type: libc::UDP_SEGMENT,
            };
            let place = (&raw mut self.0).cast::<libc::cmsghdr>();
            place.write(message);
            libc::CMSG_DATA(place).cast::<u16>().write_unaligned(segment);
            libc::CMSG_SPACE(size_of::<u16>() as _) as usize
        }
    }
}

/// Gives each datagram of a message; how many there are.
fn hand_out(message: &[u8], segment: Option<usize>, each: &mut dyn FnMut(&[u8])) -> usize {
    let segment = segment.filter(|&segment| segment > 0 && segment < message.len());
    match segment {
        Some(segment) => message.chunks(segment).map(each).count(),
        None => {
            each(message);
            1
        }
    }
}

/// An error that only says that there is nothing is none.
fn nothing(error: io::Error) -> io::Result<Came> {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(Came::default()),
        _ => Err(error),
    }
}

/// Of which length the datagrams of a message are that the kernel has put together.
///
/// # Safety
/// The header must be as the kernel has left it, and its control messages be there.
unsafe fn segment_of(header: &libc::msghdr) -> Option<usize> {
    // SAFETY: promised by the caller.
    let mut message = unsafe { libc::CMSG_FIRSTHDR(header) };
    while !message.is_null() {
        // SAFETY: these give pointers to whole control messages within those of the header, or
        // none.
        unsafe {
            if (*message).cmsg_level == libc::SOL_UDP && (*message).cmsg_type == libc::UDP_GRO {
                let length = libc::CMSG_DATA(message).cast::<libc::c_int>().read_unaligned();
                return usize::try_from(length).ok();
            }
            message = libc::CMSG_NXTHDR(header, message);
        }
    }
    None
}

pub(super) fn set(
    socket: &UdpSocket,
    level: libc::c_int,
    name: libc::c_int,
    value: &[u8],
) -> io::Result<()> {
    // SAFETY: the value lives until the call returns.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            value.as_ptr().cast(),
            value.len() as libc::socklen_t,
        )
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn pair() -> (Udp, Udp) {
        let rail = |longest| Udp::bind("lo", IpAddr::from([127, 0, 0, 1]), None, longest).unwrap();
        let (mut a, mut b) = (rail(1472), rail(1400));
        let all = [Some(a.local().unwrap()), Some(b.local().unwrap()), None];
        a.reach(&all);
        b.reach(&all);
        (a, b)
    }

    /// What comes until there are so many, or nothing comes any more.
    fn all(rail: &mut Udp, count: usize) -> Vec<Vec<u8>> {
        let (mut datagrams, begin) = (Vec::new(), Instant::now());
        while datagrams.len() < count && begin.elapsed() < Duration::from_secs(5) {
            rail.receive(&mut |datagram| datagrams.push(datagram.to_vec())).unwrap();
        }
        datagrams
    }

    fn sends(a: &mut Udp, b: &mut Udp) {
        let bytes: Vec<u8> = (0..10_000).map(|byte| (byte % 251) as u8).collect();
        let mut buffer = [&bytes[..], b"short"].concat();
        let short = |to| Train::one(to, 10_000..10_005);
        let several = Train { to: 1, bytes: 0..10_000, segment: 1200 };
        let trains = [several, short(2), short(1), short(9), Train::one(1, 3..3)];
        assert_eq!(trains.each_ref().map(Train::count), [9, 1, 1, 1, 1]);
        assert_eq!(a.send(&mut buffer, &trains).unwrap(), 5);
        let came = all(b, 11);
        assert_eq!(came.len(), 11);
        assert_eq!(came[..9].concat(), bytes);
        assert_eq!((came[0].len(), came[8].len()), (1200, 400));
        assert_eq!((&came[9][..], &came[10][..]), (&b"short"[..], &b""[..]));
        assert_eq!(b.receive(&mut |_| ()).unwrap(), 0);
    }

    #[test]
    fn trains_arrive_as_datagrams() {
        let (mut a, mut b) = pair();
        assert_eq!((a.longest(), b.longest()), (1472, 1400));
        sends(&mut a, &mut b);
        // And where the kernel does not cut them up.
        a.segments = false;
        sends(&mut a, &mut b);
    }

    #[test]
    fn what_does_not_fit_is_an_error_of_that_train() {
        let (mut a, _b) = pair();
        assert!(a.send(&mut vec![0; 70_000], &[Train::one(1, 0..70_000)]).is_err());
    }
}
