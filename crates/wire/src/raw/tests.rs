//! Endpoints of one process.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use super::*;

const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
const LONGEST: usize = 1000;

/// So many endpoints, with pools of so many frames.
fn company(size: usize, frames: usize) -> Vec<Endpoint> {
    let open = |_| Udp::bind("lo", HERE, None, LONGEST + HEAD).unwrap().with_ring(32).unwrap();
    let mut rails: Vec<Udp> = (0..size).map(open).collect();
    rails.iter_mut().for_each(|udp| udp.make_room(256, LONGEST + HEAD).unwrap());
    let all: Vec<SocketAddr> = rails.iter().map(|udp| udp.local().unwrap()).collect();
    let endpoint = |(rank, mut udp): (usize, Udp)| {
        let other = |(other, at): (usize, &SocketAddr)| (other != rank).then_some(*at);
        udp.reach(&all.iter().enumerate().map(other).collect::<Vec<_>>());
        let pool = Pool::new(frames, LONGEST + HEAD + 1);
        let beside = vec![true; size];
        let mut endpoint =
            Endpoint::new(rank, Key::new([9; 16]), udp, pool, LONGEST, Origin::now(), beside);
        endpoint.partner = if rank == 0 { 1 } else { 0 };
        endpoint
    };
    rails.into_iter().enumerate().map(endpoint).collect()
}

/// The bytes of the next frame from the partner, which is on its way.
fn next(endpoint: &mut Endpoint) -> Vec<u8> {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(20) {
        if let Some(frame) = endpoint.read().unwrap() {
            return frame.bytes.to_vec();
        }
    }
    panic!("nothing has come: {:?}", endpoint.count());
}

fn write(endpoint: &mut Endpoint, to: usize, bytes: &[u8]) {
    endpoint.bind(to).unwrap();
    assert_eq!(endpoint.write(bytes).unwrap(), Written::Taken);
}

#[test]
fn frames_come_in_order_from_the_partner_of_the_moment() {
    let mut all = company(3, 16);
    for number in 0..5 {
        write(&mut all[1], 0, &[1, number]);
        write(&mut all[2], 0, &[2, number]);
    }
    let first = &mut all[0];
    // Those of the other wait until it is the partner.
    for partner in [2, 1] {
        first.bind(partner).unwrap();
        assert_eq!(first.partner(), partner);
        for number in 0..5 {
            assert_eq!(next(first), [partner as u8, number]);
        }
        assert_eq!(first.read().unwrap(), None);
    }
    let count = first.count();
    assert_eq!((count.received, count.overflow(), count.lost()), (10, 0, 0));
    for (endpoint, partner) in [(0, 0), (0, 3), (2, 2)] {
        let said = all[endpoint].bind(partner).unwrap_err().to_string();
        assert!(said.contains("expected another rank from 0 to 2"), "{said}");
    }
    assert_eq!(all[0].partner(), 1);
}

#[test]
fn labels_tell_frames_apart() {
    let mut all = company(2, 16);
    for label in [7, 8, 7] {
        assert_eq!(all[1].write_labelled(label, &[label as u8]).unwrap(), Written::Taken);
    }
    let frame = all[0].read_of(None, Some(8)).unwrap().unwrap();
    assert_eq!(frame, Frame { from: 1, label: 8, bytes: &[8] });
    let labels = [7, 7].map(|_| all[0].read_of(None, None).unwrap().unwrap().label);
    assert_eq!(labels, [7, 7]);
}

#[test]
fn what_is_longer_than_a_frame_is_refused() {
    let mut all = company(2, 16);
    assert_eq!(all[0].longest(), LONGEST);
    let said = all[0].write(&[0; LONGEST + 1]).unwrap_err().to_string();
    assert!(said.contains("found 1001 bytes, expected at most 1000"), "{said}");
    write(&mut all[0], 1, &[3; LONGEST]);
    write(&mut all[0], 1, &[]);
    assert_eq!(next(&mut all[1]), [3; LONGEST]);
    assert!(next(&mut all[1]).is_empty());
}

#[test]
fn a_pool_that_is_full_keeps_the_first_and_counts_the_others() {
    let mut all = company(3, 8);
    for number in 0..20 {
        write(&mut all[1], 0, &[number]);
    }
    write(&mut all[2], 0, &[99]);
    // Nothing of rank 2 can be kept either.
    all[0].bind(2).unwrap();
    assert_eq!(all[0].read().unwrap(), None);
    let count = all[0].count();
    assert_eq!((count.received, count.pool_overflow, count.queue_overflow), (8, 13, 0));
    assert_eq!((count.missing, count.lost()), (0, 0));
    all[0].bind(1).unwrap();
    for number in 0..8 {
        assert_eq!(next(&mut all[0]), [number]);
    }
    write(&mut all[1], 0, &[20]);
    assert_eq!(next(&mut all[0]), [20]);
}

#[test]
fn a_queue_that_is_full_is_no_loss_in_the_network() {
    let mut all = company(2, 1024);
    let bytes = [5; LONGEST];
    for _ in 0..3000 {
        write(&mut all[1], 0, &bytes);
    }
    while all[0].read().unwrap().is_some() {}
    // What was dropped at the end is seen once another has come.
    write(&mut all[1], 0, &[1]);
    assert_eq!(next(&mut all[0]), [1]);
    let count = all[0].count();
    assert!(count.queue_overflow > 0, "{count:?}");
    assert_eq!(count.received + count.queue_overflow, 3001, "{count:?}");
    assert_eq!((count.missing, count.lost()), (count.queue_overflow, 0));
}

#[test]
fn numbers_that_are_missing_are_lost() {
    let mut all = company(2, 16);
    write(&mut all[0], 1, &[0]);
    all[0].numbers[1] = Seq(6);
    write(&mut all[0], 1, &[6]);
    assert_eq!((next(&mut all[1]), next(&mut all[1])), (vec![0], vec![6]));
    let count = all[1].count();
    assert_eq!((count.missing, count.lost(), count.overflow()), (5, 5, 0));
    // A replay is noticed.
    all[0].numbers[1] = Seq(6);
    write(&mut all[0], 1, &[6]);
    write(&mut all[0], 1, &[7]);
    assert_eq!(next(&mut all[1]), [7]);
    assert_eq!(all[1].count().repeated, 1);
}

#[test]
fn strangers_are_counted_and_ignored() {
    let mut all = company(2, 16);
    let to = all[0].udp.local().unwrap();
    let stranger = UdpSocket::bind((HERE, 0)).unwrap();
    let (mut key, here) = (Key::new([8; 16]), Course { to: 0, rail: RAIL });
    let raw = Body::Raw { number: Seq(0), label: 0 };
    let send = |key: &Key, course, from, body, load: &[u8]| {
        let front = Datagram { from, body }.encode(key, course, load);
        stranger.send_to(&[front.as_bytes(), load].concat(), to).unwrap();
    };
    stranger_bytes(&stranger, to);
    // Of another job; for another rank; changed so that it is too long.
    send(&key, here, 1, raw, b"other job");
    key = Key::new([9; 16]);
    send(&key, Course { to: 1, ..here }, 1, raw, b"for another");
    send(&key, here, 1, raw, &[0; LONGEST + 100]);
    // Of this job, and no frame; of nobody; of oneself.
    send(&key, here, 1, Body::Hello { nonce: 3 }, &[]);
    send(&key, here, 2, raw, b"nobody");
    send(&key, here, 0, raw, b"oneself");
    write(&mut all[1], 0, b"friend");
    assert_eq!(next(&mut all[0]), b"friend");
    let count = all[0].count();
    assert_eq!((count.strangers, count.odd, count.received), (6, 3, 1), "{count:?}");
}

/// Nothing, a little, and a lot.
fn stranger_bytes(stranger: &UdpSocket, to: SocketAddr) {
    for bytes in [&[][..], &[0x1a; 30], &[0xff; 9000]] {
        stranger.send_to(bytes, to).unwrap();
    }
}
