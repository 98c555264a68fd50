//! Datagrams of strangers are counted and ignored.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use crosstie_protocol::channel::Seq;
use crosstie_wire::datagram::{Body, Data, Datagram, Part, Serial};
use crosstie_wire::key::{Course, Key};
use crosstie_wire::{Comm, CommError};

use crate::parts::{content, say};
use crate::stage::here;

/// Ranks pass on messages in a ring on a rail of this machine while rank 0 also floods all with
/// what is not theirs. Between two ranks alone the system would keep strangers away.
pub fn listen() -> Result<(), CommError> {
    let comm = Comm::init()?;
    let (rank, size) = (comm.rank(), comm.size());
    let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
    // All ports that are in use here, ours among them.
    let ports: Vec<u16> = std::fs::read_to_string("/proc/net/udp")
        .unwrap_or_default()
        .lines()
        .filter_map(|line| {
            u16::from_str_radix(line.split_whitespace().nth(1)?.split(':').nth(1)?, 16).ok()
        })
        .collect();
    let stranger = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
    comm.barrier()?;
    let begin = Instant::now();
    let (mut round, mut seed) = (0u64, 1u64);
    while begin.elapsed() < Duration::from_millis(600) {
        if rank == 0 {
            for &port in &ports {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let length = (seed >> 33) as usize % 1500;
                let mut datagram: Vec<u8> =
                    (0..length).map(|at| (seed >> (at % 57)) as u8).collect();
                if let Some(first) = datagram.first_mut() {
                    // Of our version, as far as that goes.
                    *first = 0x10 | *first & 0xf;
                }
                if seed >> 61 == 0 {
                    datagram.resize(30_000, 0x11);
                }
                let _ = stranger.send_to(&datagram, ("127.0.0.1", port));
                // What is left of an earlier job: all in order, but for the secret.
                let old = of_another_job(rank as u16, seed);
                let _ = stranger.send_to(&old, ("127.0.0.1", port));
            }
        }
        let mut go_on = [u8::from(begin.elapsed() < Duration::from_millis(500))];
        comm.broadcast(0, &mut go_on)?;
        let bytes = (round * 7919 % 60_000) as usize;
        let (out, mut into) = (content(rank, next, round, bytes), vec![0; bytes]);
        comm.scope(|scope| {
            scope.recv(previous, 0, &mut into)?;
            scope.send(next, 0, &out)?;
            Ok(())
        })?;
        assert_eq!(into, content(previous, rank, round, bytes));
        round += 1;
        if go_on[0] == 0 {
            break;
        }
    }
    let strangers: u64 = comm.statistics().iter().map(|rail| rail.count.strangers).sum();
    say(format!("{}", strangers > 0));
    comm.finish()
}

/// A datagram of a job with another secret, for one of the first two ranks.
fn of_another_job(rank: u16, seed: u64) -> Vec<u8> {
    let (seq, load) = (Seq(seed as u32 & 0xff), [7; 200]);
    let serial = Serial::of(seed);
    let body = match seed >> 62 {
        0 => Body::Hello { nonce: seed },
        1 => Body::Pack(seq),
        2 => Body::Whole { seq, ack: Seq(0), serial },
        _ => Body::Data(Data { part: Part::whole(seq), serial, receive: 0, offset: 0 }),
    };
    let load = if seed >> 62 < 2 { &load[..0] } else { &load[..] };
    let course = Course { to: (seed >> 40) as u16 & 1, rail: 0 };
    let front = Datagram { from: rank, body }.encode(&Key::new([66; 16]), course, load);
    [front.as_bytes(), load].concat()
}

#[test]
fn they_are_counted_and_change_nothing() {
    let variables = [("CROSSTIE_MEMORY", "off"), ("CROSSTIE_RAILS", "lo")];
    assert_eq!(here(3, "listen", &variables), ["true", "true", "true"]);
}
