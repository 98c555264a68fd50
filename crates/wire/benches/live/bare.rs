//! The same without messages: what sockets, shared memory and copies give at best.
#![allow(unsafe_code)] // Memory that two processes share.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crosstie_wire::Comm;
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use nix::sys::socket::{setsockopt, sockopt};

use crate::rank::{Failed, print_halves};

/// Datagrams between two ranks that spin.
pub struct Ping {
    socket: UdpSocket,
    to: SocketAddr,
    begins: bool,
    bytes: usize,
}

impl Ping {
    /// Both ranks have to come here.
    pub fn open(comm: &Comm, bytes: usize) -> Result<Ping, Failed> {
        let socket = UdpSocket::bind(("0.0.0.0", 7777))?;
        socket.set_nonblocking(true)?;
        comm.barrier()?;
        let to = SocketAddr::from(([10, 0, 0, 2 - comm.rank() as u8], 7777));
        Ok(Ping { socket, to, begins: comm.rank() == 0, bytes })
    }

    /// So many round trips.
    pub fn round_trips(&self, times: usize) -> Result<Vec<Duration>, Failed> {
        let (out, mut message) = (vec![0u8; self.bytes], vec![0u8; self.bytes]);
        let mut receive = || while self.socket.recv_from(&mut message).is_err() {};
        let mut all = Vec::with_capacity(times);
        for _ in 0..times {
            let begin = Instant::now();
            if self.begins {
                self.socket.send_to(&out, self.to)?;
                receive();
            } else {
                receive();
                self.socket.send_to(&out, self.to)?;
            }
            all.push(begin.elapsed());
        }
        Ok(all)
    }
}

/// Datagrams of full frames from rank 0 to rank 1 on all rails for so many seconds, as many in a
/// call as the kernel takes: bits in a second that have come.
pub fn stream(seconds: usize) -> Result<(), Failed> {
    const DATAGRAM: usize = 1472;
    let comm = Comm::init()?;
    let here = comm.rank() as u8 + 1;
    // As many as there are addresses for.
    let sockets: Vec<UdpSocket> = (0..=255)
        .map_while(|rail| UdpSocket::bind((IpAddr::from([10, rail, 0, here]), 7777)).ok())
        .collect();
    for socket in &sockets {
        let _ = setsockopt(socket, sockopt::SndBuf, &200_000);
        let _ = setsockopt(socket, sockopt::RcvBuf, &(4 << 20));
        let _ = setsockopt(socket, sockopt::UdpGsoSegment, &(DATAGRAM as i32));
        let _ = setsockopt(socket, sockopt::UdpGroSegment, &true);
        socket.set_read_timeout(Some(Duration::from_millis(100)))?;
    }
    comm.barrier()?;
    let begin = Instant::now();
    let lasts = Duration::from_secs(seconds as u64);
    let send = |rail: usize, socket: &UdpSocket| {
        let to = SocketAddr::from((Ipv4Addr::new(10, rail as u8, 0, 2), 7777));
        let out = vec![1u8; 44 * DATAGRAM];
        while begin.elapsed() < lasts {
            let _ = socket.send_to(&out, to);
        }
        0
    };
    let receive = |socket: &UdpSocket| {
        let (mut into, mut came) = (vec![0u8; 65_536], 0);
        while begin.elapsed() < lasts {
            came += socket.recv(&mut into).unwrap_or(0);
        }
        came
    };
    let came: usize = std::thread::scope(|threads| {
        let rails = sockets.iter().enumerate().map(|(rail, socket)| {
            threads.spawn(move || match here {
                1 => send(rail, socket),
                _ => receive(socket),
            })
        });
        let rails: Vec<_> = rails.collect();
        rails.into_iter().map(|rail| rail.join().expect("it does not panic")).sum()
    });
    let mut bits = [8.0 * came as f64 / begin.elapsed().as_secs_f64()];
    comm.broadcast(1, &mut bits)?;
    if comm.rank() == 0 {
        println!("{}", bits[0]);
    }
    comm.finish()?;
    Ok(())
}

/// Half the round trip of a flag in shared memory, in microseconds.
pub fn flag(times: usize) -> Result<(), Failed> {
    const BYTES: usize = 4096;
    let comm = Comm::init()?;
    let mut job = [u64::from(std::process::id())];
    comm.broadcast(0, &mut job)?;
    let path = format!("/dev/shm/crosstie-bench-{}", job[0]);
    let file = std::fs::OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&path)?;
    file.set_len(BYTES as u64)?;
    comm.barrier()?;
    if comm.rank() == 0 {
        std::fs::remove_file(&path)?;
    }
    let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
    let length = BYTES.try_into().expect("there are some");
    // SAFETY: a mapping at a place that the kernel chooses.
    let mapping = unsafe { mmap(None, length, access, MapFlags::MAP_SHARED, &file, 0)? };
    // SAFETY: it is as long and aligned to a page; all access is atomic.
    let flags = unsafe { std::slice::from_raw_parts(mapping.as_ptr().cast::<AtomicU64>(), 64) };
    let (mine, others) = match comm.rank() {
        0 => (&flags[0], &flags[32]),
        _ => (&flags[32], &flags[0]),
    };
    let receive = |number| while others.load(Ordering::Acquire) != number {};
    let mut all = Vec::with_capacity(times);
    for number in 1..=times as u64 {
        let begin = Instant::now();
        if comm.rank() == 0 {
            mine.store(number, Ordering::Release);
            receive(number);
        } else {
            receive(number);
            mine.store(number, Ordering::Release);
        }
        all.push(begin.elapsed());
    }
    if comm.rank() == 0 {
        print_halves(&mut all);
    }
    // SAFETY: nobody looks at the flags any more.
    unsafe { munmap(mapping, BYTES)? };
    comm.finish()?;
    Ok(())
}

/// A copy from here to so many places in turn within one process: bits in a second.
pub fn copy(bytes: usize, places: usize) -> Result<(), Failed> {
    let comm = Comm::init()?;
    if comm.rank() == 0 {
        let from = vec![1u8; bytes];
        let mut into = vec![vec![0u8; bytes]; places];
        let (begin, mut rounds) = (Instant::now(), 0);
        while begin.elapsed() < Duration::from_secs(1) {
            into.iter_mut().for_each(|into| std::hint::black_box(into).copy_from_slice(&from));
            rounds += 1;
        }
        let bits = 8.0 * (places * rounds * bytes) as f64;
        println!("{}", bits / begin.elapsed().as_secs_f64());
    }
    comm.finish()?;
    Ok(())
}
