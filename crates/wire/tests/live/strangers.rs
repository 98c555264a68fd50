//! Datagrams of strangers are counted and ignored.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use crosstie_wire::{Comm, CommError};

use crate::parts::{content, say};
use crate::stage::here;

/// Two ranks exchange messages on a rail of this machine while rank 0 also floods both with what is not theirs.
pub fn listen() -> Result<(), CommError> {
    let comm = Comm::init()?;
    let (rank, other) = (comm.rank(), 1 - comm.rank());
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
                let _ = stranger.send_to(&datagram, ("127.0.0.1", port));
            }
        }
        let mut go_on = [u8::from(begin.elapsed() < Duration::from_millis(500))];
        comm.broadcast(0, &mut go_on)?;
        let bytes = (round * 7919 % 60_000) as usize;
        let (out, mut into) = (content(rank, other, round, bytes), vec![0; bytes]);
        comm.scope(|scope| {
            scope.recv(other, 0, &mut into)?;
            scope.send(other, 0, &out)?;
            Ok(())
        })?;
        assert_eq!(into, content(other, rank, round, bytes));
        round += 1;
        if go_on[0] == 0 {
            break;
        }
    }
    let strangers: u64 = comm.statistics().iter().map(|rail| rail.count.strangers).sum();
    say(format!("{}", strangers > 0));
    comm.finish()
}

#[test]
fn they_are_counted_and_change_nothing() {
    let variables = [("CROSSTIE_MEMORY", "off"), ("CROSSTIE_RAILS", "lo")];
    assert_eq!(here(2, "listen", &variables), ["true", "true"]);
}
