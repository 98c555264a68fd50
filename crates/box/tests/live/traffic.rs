//! Streams of UDP: one who sends as fast as it may, and one who counts what is on the wire.

use std::io::{IoSlice, IoSliceMut};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::{AsRawFd, RawFd};
use std::time::{Duration, Instant};

use crosstie_box::Cluster;
use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, MultiHeaders, SockaddrIn, recvmmsg, sendmmsg, setsockopt,
    sockopt,
};

use crate::parts::{self, part, say};
use crate::stage::{Running, start};

/// What fits into a frame of 1,500 bytes after the headers of IP and UDP.
pub const PAYLOAD: usize = 1472;

/// The headers of Ethernet, IP and UDP.
pub const HEADERS: usize = 42;

/// How frames are handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handing {
    /// One by one.
    Frames,
    /// Many in one piece, which is cut up on the way (`UDP_SEGMENT`).
    Segments,
}

/// Frames in a piece.
pub const SEGMENTS: usize = 44;

/// Frames in one call.
const BATCH: usize = 32;

/// A part: sends full frames to an address and a port for a time, as fast as the rail takes them.
pub fn send(words: &[&str]) -> i32 {
    let &[to, port, handing, time] = words else { panic!("{words:?}") };
    let to = (to.parse::<Ipv4Addr>().unwrap(), port.parse::<u16>().unwrap());
    let end = Instant::now() + Duration::from_millis(time.parse().unwrap());
    let segments = handing == "segments";
    // As much as fits into a queue of 1.5 MB, so that senders sleep rather than lose: memory is
    // counted, and a frame takes 2,304 bytes of it. What one socket may not have, others have.
    let most: usize = if segments { 1_400_000 } else { 2_000_000 };
    std::thread::scope(|scope| {
        let mut charged = 0;
        while charged < most {
            let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
            setsockopt(&socket, sockopt::SndBuf, &((most - charged) / 2)).unwrap();
            charged += nix::sys::socket::getsockopt(&socket, sockopt::SndBuf).unwrap();
            if segments {
                setsockopt(&socket, sockopt::UdpGsoSegment, &(PAYLOAD as i32)).unwrap();
            }
            socket.connect(to).unwrap();
            scope.spawn(move || {
                let mut batch = Batch::new();
                while Instant::now() < end {
                    let sent = match segments {
                        true => socket.send(&[0; SEGMENTS * PAYLOAD]).map(drop),
                        false => batch.send(socket.as_raw_fd()).map_err(Into::into),
                    };
                    if sent.is_err() {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                }
            });
        }
    });
    0
}

/// Frames that are sent by one call.
struct Batch {
    headers: MultiHeaders<SockaddrIn>,
}

impl Batch {
    fn new() -> Batch {
        Batch { headers: MultiHeaders::preallocate(BATCH, None) }
    }

    fn send(&mut self, socket: RawFd) -> nix::Result<()> {
        let bytes = [0; PAYLOAD];
        let frames = [[IoSlice::new(&bytes)]; BATCH];
        let to = [None; BATCH];
        sendmmsg(socket, &mut self.headers, &frames, to, [], MsgFlags::empty()).map(drop)
    }
}

/// What passed in windows, one after the other.
#[derive(Debug, Clone, Default)]
pub struct Passed {
    /// Bytes per second on the wire, by window.
    pub rates: Vec<f64>,
    /// Datagrams that found no room in the memory of the socket. They were on the wire.
    pub overflowed: u32,
}

/// Something that arrived: when, in nanoseconds of the kernel's clock, so that it does not matter
/// when it is read; how long it was on the wire; how many before it found no room in the memory of
/// the socket.
struct Arrival {
    time: u64,
    bytes: usize,
    overflowed: u32,
}

/// Reads what arrives at a port until somebody has heard enough.
fn listen(port: &str, mut enough: impl FnMut(Arrival) -> bool) {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port.parse().unwrap())).unwrap();
    setsockopt(&socket, sockopt::RcvBuf, &4_000_000).unwrap();
    setsockopt(&socket, sockopt::ReceiveTimestampns, &true).unwrap();
    setsockopt(&socket, sockopt::RxqOvfl, &1).unwrap();
    setsockopt(&socket, sockopt::UdpGroSegment, &true).unwrap();
    say("ready");
    let mut memory = vec![0u8; BATCH << 16];
    loop {
        let mut frames: Vec<_> = memory.chunks_mut(1 << 16).map(|m| [IoSliceMut::new(m)]).collect();
        let flags = MsgFlags::MSG_WAITFORONE;
        // The kernel notes in the headers how much room it took, so each call has its own.
        let room = nix::cmsg_space!(nix::sys::time::TimeSpec, u32, i32);
        let mut headers = MultiHeaders::<()>::preallocate(BATCH, Some(room));
        let messages =
            match recvmmsg(socket.as_raw_fd(), &mut headers, frames.iter_mut(), flags, None) {
                Err(Errno::EINTR) => continue,
                messages => messages.unwrap(),
            };
        for message in messages {
            let (mut time, mut overflowed, mut segment) = (0, 0, message.bytes);
            for part in message.cmsgs().unwrap() {
                match part {
                    ControlMessageOwned::ScmTimestampns(at) => {
                        time = at.tv_sec() as u64 * 1_000_000_000 + at.tv_nsec() as u64;
                    }
                    ControlMessageOwned::RxqOvfl(count) => overflowed = count,
                    ControlMessageOwned::UdpGroSegments(size) => segment = size as usize,
                    _ => {}
                }
            }
            let frames = message.bytes.div_ceil(segment.max(1));
            if enough(Arrival { time, bytes: message.bytes + HEADERS * frames, overflowed }) {
                return;
            }
        }
    }
}

/// A part: counts what arrives at a port, from some milliseconds after the first datagram on, for
/// some windows.
pub fn receive(words: &[&str]) -> i32 {
    let &[port, warm, windows] = words else { panic!("{words:?}") };
    let mut meter = Meter::new(warm.parse().unwrap(), windows.parse().unwrap());
    listen(port, |arrival| meter.arrived(arrival));
    let Passed { rates, overflowed } = meter.passed;
    let rates: Vec<String> = rates.iter().map(f64::to_string).collect();
    say(format!("{overflowed} {}", rates.join(" ")));
    0
}

/// A part: says how long some bytes on the wire took to arrive, in microseconds.
pub fn clock(words: &[&str]) -> i32 {
    let &[port, bytes] = words else { panic!("{words:?}") };
    let (mut left, mut first, mut last) = (bytes.parse::<usize>().unwrap(), None, 0);
    listen(port, |arrival| {
        left = left.saturating_sub(arrival.bytes);
        first.get_or_insert(arrival.time);
        last = arrival.time;
        left == 0
    });
    say(last.saturating_sub(first.unwrap_or(last)) / 1000);
    0
}

/// A part: sends so many pieces of 44 frames at once.
pub fn volley(words: &[&str]) -> i32 {
    let &[to, port, pieces] = words else { panic!("{words:?}") };
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    socket.connect((to.parse::<Ipv4Addr>().unwrap(), port.parse::<u16>().unwrap())).unwrap();
    setsockopt(&socket, sockopt::SndBuf, &1_000_000).unwrap();
    setsockopt(&socket, sockopt::UdpGsoSegment, &(PAYLOAD as i32)).unwrap();
    for _ in 0..pieces.parse().unwrap() {
        socket.send(&[0; SEGMENTS * PAYLOAD]).unwrap();
    }
    0
}

/// Counts by window.
struct Meter {
    warm: Duration,
    windows: usize,
    /// When the first came, and when the window began, in nanoseconds.
    first: Option<u64>,
    begin: Option<u64>,
    bytes: usize,
    datagrams: u32,
    overflowed: u32,
    passed: Passed,
}

/// How long a window is, in nanoseconds.
pub const WINDOW: u64 = 60_000_000;

impl Meter {
    fn new(warm: u64, windows: usize) -> Meter {
        Meter {
            warm: Duration::from_millis(warm),
            windows,
            first: None,
            begin: None,
            bytes: 0,
            datagrams: 0,
            overflowed: 0,
            passed: Passed::default(),
        }
    }

    /// Something arrived; whether all windows are over with it.
    fn arrived(&mut self, arrival: Arrival) -> bool {
        let Arrival { time: now, bytes, overflowed } = arrival;
        let first = *self.first.get_or_insert(now);
        let Some(begin) = self.begin else {
            if now >= first + self.warm.as_nanos() as u64 {
                (self.begin, self.overflowed) = (Some(now), overflowed);
            }
            return false;
        };
        self.bytes += bytes;
        self.datagrams += 1;
        if now >= begin + WINDOW {
            let lost = overflowed.wrapping_sub(self.overflowed);
            // Those that were lost were as long as the others.
            let whole = self.bytes as f64 * (1.0 + f64::from(lost) / f64::from(self.datagrams));
            self.passed.rates.push(whole / (now - begin) as f64 * 1e9);
            self.passed.overflowed += lost;
            (self.begin, self.overflowed) = (Some(now), overflowed);
            (self.bytes, self.datagrams) = (0, 0);
        }
        self.passed.rates.len() == self.windows
    }
}

/// Streams from host 0 to host 1 and back on some rails, all at once; what passed on each, after a
/// while, in some windows.
pub fn both_ways(
    cluster: &Cluster,
    rails: &[usize],
    handing: Handing,
    windows: usize,
) -> Vec<Passed> {
    const WARM: u64 = 150;
    let ways: Vec<_> = rails.iter().flat_map(|rail| [(*rail, 0, 1), (*rail, 1, 0)]).collect();
    let receivers: Vec<Running> = ways
        .iter()
        .map(|(rail, _, to)| {
            let mut receiver =
                start(cluster, *to, part("receive", &[&(7000 + rail), &WARM, &windows]));
            receiver.until("ready");
            receiver
        })
        .collect();
    let handing = match handing {
        Handing::Frames => "frames",
        Handing::Segments => "segments",
    };
    let senders = ways.iter().map(|(rail, from, to)| {
        let address = cluster.spec().address(*rail, *to);
        let command = part("send", &[&address, &(7000 + rail), &handing, &60_000]);
        start(cluster, *from, command)
    });
    let senders: Vec<Running> = senders.collect();
    let passed = receivers.into_iter().map(|receiver| {
        let text = receiver.end().well();
        let mut numbers = parts::line(&text).split(' ').map(|number| number.parse().unwrap());
        let overflowed = numbers.next().map_or(0, |number: f64| number as u32);
        Passed { rates: numbers.collect(), overflowed }
    });
    let passed = passed.collect();
    drop(senders);
    passed
}
