//! A panic at every input of the engine in turn: from then on every call fails, and no code touches
//! memory that was lent, in this rank or in its peer.
#![allow(unsafe_code)] // It lends memory to a worker.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use crosstie_units::Time;

use super::*;
use crate::bare::wing::{Air, Flights, wings};
use crate::bare::{Bare, BareRequest, BareSpec};
use crate::rank::fault::injected;

/// What is sent is there at once.
#[derive(Default)]
struct Calm(Flights);

impl Air for Calm {
    fn flights(&mut self) -> &mut Flights {
        &mut self.0
    }

    fn send(&mut self, _: u16, to: u16, rail: u8, datagram: &[u8]) {
        self.0.put(Time::ZERO, to, rail, datagram.to_vec());
    }
}

/// A worker, and a peer that has no thread of its own.
fn pair(rails: bool) -> (Worker, Bare) {
    let policies = PolicyKind::Pull {}.policies(2, 1).unwrap();
    let profile = Profile::live();
    let peer = BareSpec { rank: 1, size: 2, secret: SECRET, profile };
    let (rank, peer) = if rails {
        let air = Arc::new(Mutex::new(Calm::default()));
        let key = Key::new(SECRET);
        let spec = RankSpec { rank: 0, size: 2, key, profile, injection: Default::default() };
        let rank = Rank::new(spec, &policies, wings(&air, 0, 1), None).unwrap();
        (rank, Bare::new(peer, &policies, wings(&air, 1, 1)).unwrap())
    } else {
        let [memory, other] = memories();
        (engine(0, memory), Bare::beside(peer, &policies, other).unwrap())
    };
    (Worker::new(rank, nobody(), (0, 2), 1).unwrap(), peer)
}

/// What fills memory that was given back.
const GONE: u8 = 0xee;

/// What the worker lends. It stays where it is until it is given back.
struct Loans {
    long: Box<[u8]>,
    short: Box<[u8]>,
    rooms: [Box<[u8]>; 3],
}

impl Loans {
    fn new() -> Loans {
        let room = |bytes| vec![0u8; bytes].into_boxed_slice();
        Loans {
            long: content(1, 150_000).into(),
            short: content(2, 100).into(),
            rooms: [room(120_000), room(100), room(120_000)],
        }
    }

    /// They are the caller's again.
    fn give_back(mut self) {
        self.long.fill(GONE);
        self.short.fill(GONE);
        self.rooms.iter_mut().for_each(|room| room.fill(GONE));
    }
}

/// The peer, what it has begun and what it has received.
struct Peer {
    rank: Bare,
    now: Time,
    begun: Vec<BareRequest>,
    received: Vec<Vec<u8>>,
}

impl Peer {
    fn go_on(&mut self) {
        injected::without(|| {
            self.now = self.now + Time::from_ns(10_000);
            self.rank.progress(self.now);
            let Peer { rank, begun, received, .. } = self;
            begun.retain(|&request| match rank.outcome(request) {
                Some(outcome) => {
                    received.extend(outcome.map(|(.., message)| message));
                    false
                }
                None => true,
            });
        });
    }
}

/// Everything a program can ask of a worker, one after another, with a peer that answers. Ends at
/// the first panic.
fn play(worker: &Worker, loans: &mut Loans, peer: &mut Peer) -> Result<(), CommError> {
    injected::without(|| {
        for (tag, bytes) in [(10, 100), (11, 120_000), (12, 50), (13, 60)] {
            let sent = peer.rank.send(peer.now, 0, Tag(tag), &content(tag.into(), bytes));
            peer.begun.push(sent);
        }
        for _ in 0..4 {
            peer.begun.push(peer.rank.receive(peer.now, Some(0), None, 200_000));
        }
    });
    let [room, short_room, other_room] = &mut loans.rooms;
    let mut open = Vec::new();
    // SAFETY: all of it is kept until the worker is done with it, or fails with a panic.
    unsafe {
        open.push(worker.receive_lent(&from(0, 1, 11), &raw mut **room)?);
        open.push(worker.send_lent(&to(0, 1, 1), &raw const *loans.long, false)?);
        open.push(worker.send_lent(&to(0, 1, 2), &raw const *loans.short, false)?);
        open.push(worker.send_lent(&to(0, 1, 3), &raw const *loans.short, true)?);
        open.push(worker.receive_lent(&from(0, 1, 10), &raw mut **short_room)?);
    }
    // SAFETY: as above.
    let never = unsafe { worker.receive_lent(&from(7, 1, None), &raw mut **other_room)? };
    let released = worker.send(&to(0, 1, 4), content(4, 130_000))?;
    worker.release(released)?;
    let mut claim = None;
    let mut rounds = 0;
    while !open.is_empty() || claim.is_none() {
        rounds += 1;
        assert!(rounds < 20_000, "{} are under way", open.len());
        peer.go_on();
        claim = claim.or(worker.try_claim(&from(0, 1, 12))?);
        let mut left = Vec::new();
        for request in open {
            if worker.test(request)?.is_none() {
                left.push(request);
            }
        }
        open = left;
    }
    assert_eq!(loans.rooms[0][..], content(11, 120_000));
    let claimed = worker.receive_claimed(claim.expect("it has come"), vec![0; 50])?;
    while worker.test(claimed)?.is_none() {
        peer.go_on();
    }
    assert!(worker.cancel(never)?);
    drop(worker.claim(&from(0, 1, 13))?);
    let last = worker.receive(&from(0, 1, 13), vec![0; 60])?;
    assert!(worker.test(last)?.is_some());
    worker.take_back(&[never]);
    while !peer.begun.is_empty() {
        worker.progress()?;
        peer.go_on();
    }
    Ok(())
}

/// Every call fails.
fn fails(worker: &Worker, request: Request) {
    let panicked = |error: CommError| assert!(matches!(error, CommError::Panicked), "{error}");
    panicked(worker.send(&to(0, 1, 1), vec![1]).unwrap_err());
    panicked(worker.send_synchronous(&to(0, 1, 1), vec![1]).unwrap_err());
    panicked(worker.receive(&from(0, None, None), vec![1]).unwrap_err());
    panicked(worker.probe(&from(0, None, None)).unwrap_err());
    panicked(worker.try_probe(&from(0, None, None)).unwrap_err());
    panicked(worker.claim(&from(0, None, None)).unwrap_err());
    panicked(worker.try_claim(&from(0, None, None)).unwrap_err());
    panicked(worker.test(request).unwrap_err());
    panicked(worker.wait(request).unwrap_err());
    panicked(worker.wait_for(request, Duration::from_secs(9)).unwrap_err());
    panicked(worker.cancel(request).unwrap_err());
    panicked(worker.release(request).unwrap_err());
    panicked(worker.begin_set().unwrap_err());
    panicked(worker.progress().unwrap_err());
    panicked(worker.finish().unwrap_err());
    assert!(worker.take_back(&[request]).is_empty() && worker.statistics().is_empty());
}

/// Panics at an input. Returns false if there are fewer.
fn panics_at(input: u64, rails: bool) -> bool {
    let (worker, rank) = pair(rails);
    let (now, begun, received) = (Time::ZERO, Vec::new(), Vec::new());
    let mut peer = Peer { rank, now, begun, received };
    let mut loans = Loans::new();
    injected::after(input);
    let played = catch_unwind(AssertUnwindSafe(|| play(&worker, &mut loans, &mut peer)));
    let all_played = injected::disarm();
    match played {
        Ok(done) => {
            assert!(all_played && done.is_ok(), "{done:?}");
            // The peer says nothing more.
            worker.desert(true);
        }
        Err(panic) => {
            let said = panic.downcast_ref::<String>().map_or("", |said| said);
            let said = panic.downcast_ref::<&str>().map_or(said, |said| said);
            assert!(said.contains(injected::WORD), "{said}");
            fails(&worker, Request::from_number(1 << 32 | 1));
            loans.give_back();
            (0..20).for_each(|_| peer.go_on());
        }
    }
    for message in &peer.received {
        let known = [(1, 150_000), (2, 100), (4, 130_000), (10, 100), (11, 120_000)];
        let is_one =
            |&(of, bytes): &(u64, usize)| message.len() == bytes && *message == content(of, bytes);
        assert!(message.is_empty() || known.iter().any(is_one), "{} bytes", message.len());
    }
    !all_played
}

/// Panics at each input in turn.
fn everywhere(rails: bool) {
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let said = info.payload_as_str().unwrap_or_default();
        if !said.contains(injected::WORD) {
            quiet(info);
        }
    }));
    let inputs = (0..).take_while(|&input| panics_at(input, rails)).count();
    let _ = std::panic::take_hook();
    assert!(inputs > 50, "found {inputs} inputs");
}

#[test]
fn after_a_panic_at_any_input_beside_memory_nobody_touches_what_was_lent() {
    everywhere(false);
}

#[test]
fn after_a_panic_at_any_input_beside_rails_nobody_touches_what_was_lent() {
    everywhere(true);
}
