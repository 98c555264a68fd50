//! Two ranks over real sockets, with somebody between them who loses, repeats, holds back, changes,
//! cuts and lengthens what they send, and adds what is not theirs.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use crosstie_protocol::message::Tag;
use crosstie_protocol::{PolicyKind, Profile};
use crosstie_units::{Seed, Time};

use super::{Bare, BareRequest, BareSpec};
use crate::datagram::{Body, Datagram};
use crate::key::{Course, Key};
use crate::rail::udp::Udp;

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Passes on to a rank what another one sends, as it likes: from the socket that the receiver takes
/// for the other rank's.
fn meddle(way: UdpSocket, back: UdpSocket, to: SocketAddr, receiver: u16, done: Arc<AtomicBool>) {
    way.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let mut random = Seed(u64::from(receiver)).stream("meddler", 0);
    let (mut buffer, mut held) = (vec![0; 1 << 16], Vec::new());
    let old_job = Key::new([77; 16]);
    while !done.load(Relaxed) {
        let Ok(count) = way.recv(&mut buffer) else { continue };
        let mut datagram = buffer[..count].to_vec();
        let send = |datagram: &[u8]| _ = back.send_to(datagram, to);
        match random.below(40) {
            0 => continue,
            1 => send(&datagram),
            2 => {
                held = datagram;
                continue;
            }
            3 => {
                let bit = random.below(8 * count as u64) as usize;
                datagram[bit / 8] ^= 1 << (bit % 8);
            }
            4 => datagram.truncate(random.below(count as u64) as usize),
            5 => datagram.resize(count + 1 + random.below(4000) as usize, 0),
            6 => send(&held),
            7 => {
                let body = Body::Hello { nonce: random.below(1 << 60) };
                let course = Course { to: receiver, rail: 0 };
                let hello = Datagram { from: 1 - receiver, body }.encode(&old_job, course, &[]);
                send(hello.as_bytes());
            }
            8 => send(&[0x10; 60_000]),
            _ => {}
        }
        send(&datagram);
    }
}

#[test]
fn whatever_happens_on_the_way_messages_arrive_as_they_were_sent() {
    let mut rails: Vec<Udp> = (0..2).map(|_| Udp::bind("lo", HERE, None, 1472).unwrap()).collect();
    let addresses: Vec<SocketAddr> = rails.iter().map(|rail| rail.local().unwrap()).collect();
    let done = Arc::new(AtomicBool::new(false));
    let mut meddlers = Vec::new();
    let ways = [0, 1].map(|_| UdpSocket::bind((HERE, 0)).unwrap());
    for (rank, rail) in rails.iter_mut().enumerate() {
        let [way, back] = [rank, 1 - rank].map(|of| ways[of].try_clone().unwrap());
        let mut peers = [None, None];
        peers[1 - rank] = Some(way.local_addr().unwrap());
        rail.reach(&peers);
        let (to, done) = (addresses[1 - rank], Arc::clone(&done));
        meddlers.push(thread::spawn(move || meddle(way, back, to, 1 - rank as u16, done)));
    }
    let spec = |rank| BareSpec {
        rank,
        size: 2,
        secret: [5; 16],
        profile: Profile::live().with_eager(8192).giving_up(Time::from_ns(60_000_000_000)),
    };
    let policies = PolicyKind::Pull {}.policies(2, 1).unwrap();
    let mut ranks: Vec<Bare> = (0..)
        .zip(rails)
        .map(|(rank, rail)| Bare::new(spec(rank), &policies, vec![Box::new(rail)]).unwrap())
        .collect();
    let begin = Instant::now();
    let now = || Time::from_ns(begin.elapsed().as_nanos() as u64);
    let mut open: Vec<(usize, BareRequest, Option<Vec<u8>>)> = Vec::new();
    for number in 0..60usize {
        let (from, to) = (number % 2, 1 - number % 2);
        let size = [40, 3000, 8000, 100_000][number / 2 % 4];
        let bytes: Vec<u8> = (0..size).map(|at| (at * 31 + number) as u8).collect();
        let receive = ranks[to].receive(now(), Some(from as u16), Some(Tag(0)), size);
        open.push((from, ranks[from].send(now(), to as u16, Tag(0), &bytes), None));
        open.push((to, receive, Some(bytes)));
    }
    while !open.is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(50), "{} requests are open", open.len());
        let came = ranks.iter_mut().fold(false, |came, rank| came | rank.progress(now()));
        open.retain(|(rank, request, expected)| match ranks[*rank].outcome(*request) {
            None => true,
            Some(outcome) => {
                let (.., bytes) = outcome.expect("everybody is there");
                assert!(expected.as_ref().is_none_or(|expected| *expected == bytes));
                false
            }
        });
        if !came {
            thread::sleep(Duration::from_micros(50));
        }
    }
    done.store(true, Relaxed);
    meddlers.into_iter().for_each(|meddler| meddler.join().unwrap());
    for rank in &ranks {
        let count = rank.statistics()[0].count;
        assert!(count.strangers > 0 && count.received > 0, "{count:?}");
    }
}
