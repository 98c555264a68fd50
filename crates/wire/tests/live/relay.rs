//! A relay between two hosts of a box: a cable that delays, drops, corrupts, repeats, reorders and
//! throttles what it carries.
//!
//! Linux has `netem` for this, but not every kernel has that. Here each host gets a TUN device for
//! each cable, and whatever it sends there comes to a thread of the test, which passes it on to the
//! other host as well as it is told. Ranks use these devices like any other rail, if
//! `CROSSTIE_RAILS` names them.
#![allow(unsafe_code)] // Devices are made by ioctl, for which neither std nor nix has safe functions.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{File, OpenOptions};
use std::io::{IoSlice, IoSliceMut, Read, Write};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crosstie_box::{Cluster, Command};
use crosstie_units::{Seed, Stream};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::socket::{
    AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType, recvmsg,
    sendmsg, socketpair,
};
use nix::sys::time::TimeSpec;

use crate::parts;

/// What a cable does to packets in one direction. Chances are in parts of a million.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Faults {
    /// How long packets take.
    pub delay: Duration,
    /// How much longer at most, without overtaking others.
    pub jitter: Duration,
    /// Packets that are lost, one by one.
    pub loss: u32,
    /// Packets with which a burst of losses begins, and its length in packets.
    pub burst: (u32, u32),
    pub corruption: u32,
    pub repetition: u32,
    /// How much later some packets come at most, overtaken by others.
    pub late: (u32, Duration),
    /// Bytes per second, and bytes that wait at most.
    pub rate: Option<(u64, u64)>,
    /// The longest packet that passes, with the headers of IP and UDP.
    pub longest: usize,
    /// Nothing passes.
    pub down: bool,
}

impl Faults {
    /// A healthy cable of 1 Gbit/s.
    pub const NONE: Faults = Faults {
        delay: Duration::ZERO,
        jitter: Duration::ZERO,
        loss: 0,
        burst: (0, 0),
        corruption: 0,
        repetition: 0,
        late: (0, Duration::ZERO),
        rate: Some((125_000_000, 500_000)),
        longest: usize::MAX,
        down: false,
    };

    pub const DOWN: Faults = Faults { down: true, ..Faults::NONE };
}

/// The cables between hosts 0 and 1 of a box. They are gone when it is dropped.
pub struct Relay {
    faults: Arc<Mutex<Vec<[Faults; 2]>>>,
    carried: Arc<AtomicU64>,
    /// The longest time for which it got no core, in milliseconds.
    starved: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    cables: usize,
}

impl Relay {
    /// So many cables, healthy at first. What is left to chance depends on the seed.
    pub fn new(cluster: &Cluster, cables: usize, seed: u64) -> Relay {
        let ends = |cable| [0, 1].map(|host| end(cluster, host, cable));
        let ends: Vec<[File; 2]> = (0..cables).map(ends).collect();
        let faults = Arc::new(Mutex::new(vec![[Faults::NONE; 2]; cables]));
        let (carried, starved) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let stop = Arc::new(AtomicBool::new(false));
        let wires = Wires::new(ends, seed);
        let thread = {
            let (faults, stop) = (faults.clone(), stop.clone());
            let (carried, starved) = (carried.clone(), starved.clone());
            std::thread::spawn(move || wires.carry(&faults, [&carried, &starved], &stop))
        };
        Relay { faults, carried, starved, stop, thread: Some(thread), cables }
    }

    /// The value of `CROSSTIE_RAILS`.
    pub fn rails(&self) -> String {
        (0..self.cables).map(device).collect::<Vec<_>>().join(",")
    }

    /// From now on a cable does this, both ways.
    pub fn set(&self, cable: usize, faults: Faults) {
        self.faults.lock().unwrap()[cable] = [faults; 2];
    }

    /// From now on a cable does this to what a host sends.
    pub fn set_from(&self, host: usize, cable: usize, faults: Faults) {
        self.faults.lock().unwrap()[cable][host] = faults;
    }

    /// The longest time for which this machine kept the relay waiting for a core: ranks waited
    /// likewise.
    pub fn starved(&self) -> Duration {
        Duration::from_millis(self.starved.load(Ordering::Relaxed))
    }

    /// Packets that were passed on.
    pub fn carried(&self) -> u64 {
        self.carried.load(Ordering::Relaxed)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// One direction of a cable.
struct Direction {
    draws: Stream,
    /// When the packet before has left, and when it comes.
    free: Instant,
    last: Instant,
    /// Packets of a burst that are still to be lost.
    burst: u32,
}

/// Packets that are on their way: when they come, in which order they were sent, where, and their
/// bytes.
type Underway = BinaryHeap<Reverse<(Instant, u64, (usize, usize), Vec<u8>)>>;

struct Wires {
    /// Of each cable, the devices of both hosts.
    ends: Vec<[File; 2]>,
    directions: Vec<[Direction; 2]>,
    under_way: Underway,
    count: u64,
}

impl Wires {
    fn new(ends: Vec<[File; 2]>, seed: u64) -> Wires {
        let now = Instant::now();
        let direction = |number| Direction {
            draws: Seed(seed).stream("relay", number),
            free: now,
            last: now,
            burst: 0,
        };
        let directions = (0..ends.len() as u64)
            .map(|cable| [direction(2 * cable), direction(2 * cable + 1)])
            .collect();
        Wires { ends, directions, under_way: BinaryHeap::new(), count: 0 }
    }

    /// Passes packets on until it is told to stop.
    fn carry(
        mut self,
        faults: &Mutex<Vec<[Faults; 2]>>,
        [carried, starved]: [&AtomicU64; 2],
        stop: &AtomicBool,
    ) {
        let (mut buffer, mut before) = (vec![0; 1 << 16], Instant::now());
        while !stop.load(Ordering::Relaxed) {
            let now = Instant::now();
            // It waits for two milliseconds at most, and what it does takes less.
            starved.fetch_max((now - before).as_millis() as u64, Ordering::Relaxed);
            before = now;
            while let Some(Reverse((at, ..))) = self.under_way.peek()
                && *at <= now
            {
                let Some(Reverse((.., (cable, host), bytes))) = self.under_way.pop() else { break };
                // A device that has no room drops it, as NICs do.
                if (&self.ends[cable][host]).write(&bytes).is_ok() {
                    carried.fetch_add(1, Ordering::Relaxed);
                }
            }
            let next = self.under_way.peek().map(|Reverse((at, ..))| *at);
            self.wait(next);
            let faults = faults.lock().unwrap().clone();
            for (cable, faults) in faults.iter().enumerate() {
                for (host, faults) in faults.iter().enumerate() {
                    for _ in 0..64 {
                        let Ok(length) = (&self.ends[cable][host]).read(&mut buffer) else { break };
                        self.take(cable, host, &buffer[..length], faults);
                    }
                }
            }
        }
    }

    /// Waits until a packet comes or is to be passed on, but not for long.
    fn wait(&self, next: Option<Instant>) {
        let most = Duration::from_millis(2);
        let wait = next.map_or(most, |at| at.saturating_duration_since(Instant::now()).min(most));
        let files = self.ends.iter().flatten();
        let mut files: Vec<PollFd<'_>> =
            files.map(|file| PollFd::new(file.as_fd(), PollFlags::POLLIN)).collect();
        let _ = ppoll(&mut files, Some(TimeSpec::from_duration(wait)), None);
    }

    /// A host has sent a packet.
    fn take(&mut self, cable: usize, host: usize, bytes: &[u8], faults: &Faults) {
        let now = Instant::now();
        let direction = &mut self.directions[cable][host];
        let mut chance = |millionths: u32| {
            millionths > 0 && direction.draws.below(1_000_000) < u64::from(millionths)
        };
        let begins = chance(faults.burst.0);
        let (lost, corrupt) = (chance(faults.loss), chance(faults.corruption));
        let (repeated, late) = (chance(faults.repetition), chance(faults.late.0));
        if begins {
            direction.burst = faults.burst.1;
        }
        // A burst ends with the fault: on a cable that is almost silent it would last for ever.
        let in_burst = direction.burst > 0 && faults.burst.0 > 0;
        direction.burst = direction.burst.saturating_sub(1);
        if faults.down || bytes.len() > faults.longest {
            return;
        }
        let begin = direction.free.max(now);
        if let Some((rate, room)) = faults.rate {
            // Also what is lost later takes its time, with the header of Ethernet.
            let waits = (begin - now).as_secs_f64() * rate as f64;
            if waits > room as f64 {
                return;
            }
            direction.free =
                begin + Duration::from_secs_f64((bytes.len() + 14) as f64 / rate as f64);
        }
        if lost || in_burst {
            return;
        }
        let mut below = |time: Duration| {
            Duration::from_nanos(direction.draws.below(1 + time.as_nanos() as u64))
        };
        let (jitter, later) = (below(faults.jitter), below(faults.late.1));
        direction.last = direction.last.max(direction.free.max(now) + faults.delay + jitter);
        let at = if late { direction.last + later } else { direction.last };
        let mut bytes = bytes.to_vec();
        if corrupt {
            self.corrupt(cable, host, &mut bytes);
        }
        for _ in 0..1 + u32::from(repeated) {
            self.count += 1;
            self.under_way.push(Reverse((at, self.count, (cable, 1 - host), bytes.clone())));
        }
    }

    /// Changes a byte behind the headers of IP and UDP, and takes the checksum away that would
    /// tell.
    fn corrupt(&mut self, cable: usize, host: usize, bytes: &mut [u8]) {
        const HEADERS: u64 = 28;
        let Some(room) = (bytes.len() as u64).checked_sub(HEADERS).filter(|&room| room > 0) else {
            return;
        };
        let draws = &mut self.directions[cable][host].draws;
        bytes[(HEADERS + draws.below(room)) as usize] ^= 1 << draws.below(8);
        bytes[26..28].fill(0);
    }
}

/// The device of a cable.
fn device(cable: usize) -> String {
    format!("cable{cable}")
}

/// The end of a cable at a host: a program there makes the device, and hands it over.
fn end(cluster: &Cluster, host: usize, cable: usize) -> File {
    let (ours, theirs) =
        socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC).unwrap();
    let command = Command::new(parts::words())
        .env(parts::PART, format!("cable {cable} {host}"))
        .stdin(theirs);
    let program = cluster.spawn(host, &command).unwrap();
    drop(command);
    let (mut word, mut control) = ([0; 1], nix::cmsg_space!([RawFd; 1]));
    let mut words = [IoSliceMut::new(&mut word)];
    let flags = MsgFlags::MSG_CMSG_CLOEXEC;
    let message = recvmsg::<()>(ours.as_raw_fd(), &mut words, Some(&mut control), flags).unwrap();
    let file = message.cmsgs().unwrap().find_map(|part| match part {
        ControlMessageOwned::ScmRights(files) => files.first().copied(),
        _ => None,
    });
    assert!(program.wait().unwrap().success(), "host {host} has no device for cable {cable}");
    // SAFETY: the kernel has just opened it for this process, and nobody else knows it.
    let file = unsafe { OwnedFd::from_raw_fd(file.expect("a device")) };
    file.into()
}

/// A request to the kernel about a device.
#[repr(C)]
struct Request {
    name: [u8; 16],
    value: [u8; 24],
}

impl Request {
    fn new(name: &str) -> Request {
        let mut request = Request { name: [0; 16], value: [0; 24] };
        request.name[..name.len()].copy_from_slice(name.as_bytes());
        request
    }

    fn with(name: &str, value: &[u8]) -> Request {
        let mut request = Request::new(name);
        request.value[..value.len()].copy_from_slice(value);
        request
    }

    fn address(name: &str, address: Ipv4Addr) -> Request {
        let family = (libc::AF_INET as u16).to_ne_bytes();
        Request::with(name, &[&family[..], &[0, 0], &address.octets()].concat())
    }

    fn make(&mut self, file: &impl AsRawFd, request: libc::Ioctl) {
        // SAFETY: these requests read and write a struct of this size and layout, which outlives
        // the call.
        let done = unsafe { libc::ioctl(file.as_raw_fd(), request, &raw mut *self) };
        assert_eq!(done, 0, "{request:#x}: {}", std::io::Error::last_os_error());
    }
}

/// On a host: makes the device of a cable, and hands it to the process at the other end of the
/// standard input.
pub fn part(cable: usize, host: usize) {
    const TUNSETIFF: libc::Ioctl = 0x4004_54ca;
    const IFF_TUN_NO_PI: i16 = 0x1001;
    let name = device(cable);
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun");
    let file = file.unwrap();
    Request::with(&name, &IFF_TUN_NO_PI.to_ne_bytes()).make(&file, TUNSETIFF);
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    let set = |mut request: Request, number| request.make(&socket, number);
    let address = Ipv4Addr::new(10, 99, cable as u8, 1 + host as u8);
    set(Request::address(&name, address), libc::SIOCSIFADDR as libc::Ioctl);
    set(
        Request::address(&name, Ipv4Addr::new(255, 255, 255, 0)),
        libc::SIOCSIFNETMASK as libc::Ioctl,
    );
    let flags = (libc::IFF_UP | libc::IFF_RUNNING) as i16;
    set(Request::with(&name, &flags.to_ne_bytes()), libc::SIOCSIFFLAGS as libc::Ioctl);
    let files = [file.as_raw_fd()];
    let rights = [ControlMessage::ScmRights(&files)];
    sendmsg::<()>(0, &[IoSlice::new(b"0")], &rights, MsgFlags::MSG_NOSIGNAL, None).unwrap();
}
