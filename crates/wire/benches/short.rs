//! What a short message costs in the ranks that send and receive it, without sockets: to be counted
//! in instructions.
//!
//! ```sh
//! cargo bench -p crosstie-wire --features bare --bench short --no-run  # prints PROGRAM's path
//! valgrind --tool=callgrind --callgrind-out-file=short.out PROGRAM rails 20000
//! callgrind_annotate --inclusive=yes short.out | grep 'Bare::'
//! ```
//!
//! `memory` instead of `rails` counts two ranks of a machine, `comm` what `Comm` adds to a rank
//! that sends to itself: the lock, above all.

use std::sync::{Arc, Mutex};

use crosstie_protocol::message::Tag;
use crosstie_protocol::{PolicyKind, Profile};
use crosstie_units::Time;
use crosstie_wire::Comm;
use crosstie_wire::bare::wing::{Air, Flights, wings};
use crosstie_wire::bare::{Bare, BareSpec};
use crosstie_wire::memory::Memory;

/// What is sent is there at once.
#[derive(Default)]
struct Calm(Flights);

impl Air for Calm {
    fn flights(&mut self) -> &mut Flights {
        &mut self.0
    }

    fn send(&mut self, _: u16, to: u16, rail: u8, datagram: &[u8]) {
        let now = self.0.now;
        self.0.put(now, to, rail, datagram.to_vec());
    }
}

const TAG: Tag = Tag(1);

fn spec(rank: u16) -> BareSpec {
    BareSpec { rank, size: 2, secret: [7; 16], profile: Profile::live() }
}

/// Sends 8 bytes there and back.
fn round_trips(ranks: &mut [Bare; 2], mut pass: impl FnMut() -> Time, count: u64) {
    let message = [1; 8];
    for round in 0..2 * count {
        let (from, to) = ((round % 2) as usize, 1 - (round % 2) as usize);
        let receive = ranks[to].receive(pass(), Some(from as u16), Some(TAG), 8);
        let send = ranks[from].send(pass(), to as u16, TAG, &message);
        let mut outcomes = [None, None];
        while outcomes.iter().any(Option::is_none) {
            let now = pass();
            for (rank, request) in [(from, send), (to, receive)] {
                ranks[rank].progress(now);
                let outcome = &mut outcomes[usize::from(rank == to)];
                *outcome = outcome.take().or_else(|| ranks[rank].outcome(request));
            }
        }
        assert!(outcomes.into_iter().flatten().all(|outcome| outcome.is_ok()));
    }
}

/// Sends 8 bytes to itself.
fn alone(count: u64) {
    let comm = Comm::init().expect("it is alone");
    let mut message = [1; 8];
    for _ in 0..count {
        comm.send(0, 1, &message).expect("it is there");
        comm.recv(0, 1, &mut message).expect("it is there");
    }
    comm.finish().expect("nothing is left");
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let which = arguments.next().unwrap_or("both".to_owned());
    let count = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(10_000);
    if which == "comm" {
        return alone(count);
    }
    let policies = PolicyKind::Pull {}.policies(2, 1).expect("it fits");
    if which != "memory" {
        let air = Arc::new(Mutex::new(Calm::default()));
        let rank = |rank| Bare::new(spec(rank), &policies, wings(&air, rank, 1)).expect("sound");
        let mut ranks = [rank(0), rank(1)];
        let pass = || {
            let flights = &mut air.lock().expect("nobody panics").0;
            flights.now = flights.now + Time::from_ns(3_000);
            flights.now
        };
        round_trips(&mut ranks, pass, count);
    }
    if which != "rails" {
        let mut memory = [0, 1].map(|rank| Memory::create(rank, 2).expect("there is memory"));
        let names = [0, 1].map(|rank| memory[rank].name().to_owned());
        memory[0].connect(1, &names[1]).expect("it is there");
        memory[1].connect(0, &names[0]).expect("it is there");
        let mut number = 0;
        let mut ranks = memory.map(|memory| {
            number += 1;
            Bare::beside(spec(number - 1), &policies, memory).expect("sound")
        });
        let mut now = Time::ZERO;
        let pass = || {
            now = now + Time::from_ns(300);
            now
        };
        round_trips(&mut ranks, pass, count);
    }
}
