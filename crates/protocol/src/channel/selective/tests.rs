//! What the two ends do, step by step; `tests/windows.rs` shows what comes of it on networks.

mod acknowledging;
mod losing;
mod sending;

use crosstie_units::Time;

use crate::Machine;
use crate::channel::*;

/// The first number: the next but two is 0.
const FIRST: Seq = Seq(u32::MAX - 1);

const SPEC: SelectiveSpec =
    SelectiveSpec { least: us(5_000), ahead: us(1_000), after: us(100), ..SelectiveSpec::LIVE };

const fn us(us: u64) -> Time {
    Time::from_ns(1_000 * us)
}

fn end() -> Endpoint<u32> {
    Endpoint::starting_at(SPEC, FIRST, FIRST).expect("a sound channel")
}

fn send(item: u32) -> Input<u32> {
    Input::Send { item, bytes: 1_000, rides: true }
}

/// A packet of a peer that has received nothing.
fn data(item: u32) -> Frame<u32> {
    Frame::Data { seq: FIRST.plus(item), ack: FIRST, item }
}

/// A Sack that arrives as soon as it is sent, of somebody with the same clock; the packet that came
/// last took so long.
fn sack(expected: u32, came: &[u32], last: u32, at: Time) -> Sack {
    let mut sack = Sack {
        expected: FIRST.plus(expected),
        last: FIRST.plus(last),
        at: (at.ps() / 1_000) as u32,
        held: 0,
        repeated: 0,
        skipped: 0,
        came: Arrivals::default(),
    };
    came.iter().for_each(|packet| sack.came.insert(packet - expected));
    sack
}

/// What an end wants done.
#[derive(Debug, Default, PartialEq)]
struct Done {
    data: Vec<u32>,
    sacks: Vec<Sack>,
    delivered: Vec<u32>,
    acknowledged: Vec<u32>,
}

fn done(end: &mut Endpoint<u32>, now: Time) -> Done {
    let mut done = Done::default();
    while let Some(action) = end.poll_action(now) {
        match action {
            Action::Transmit(Frame::Data { item, .. }) => done.data.push(item),
            Action::Transmit(Frame::Sack(sack)) => done.sacks.push(sack),
            Action::Transmit(frame) => panic!("{frame:?}"),
            Action::Deliver(item) => done.delivered.push(item),
            Action::Acknowledged(item) => done.acknowledged.push(item),
        }
    }
    done
}

fn hear(end: &mut Endpoint<u32>, now: Time, frame: Frame<u32>) -> Done {
    end.handle(now, Input::Frame(frame));
    done(end, now)
}

fn wait(end: &mut Endpoint<u32>, now: Time) -> Done {
    end.handle_timeout(now);
    done(end, now)
}

/// An end that has sent packets from 0 on, so many at time 0.
fn sender(packets: u32) -> Endpoint<u32> {
    let mut end = end();
    (0..packets).for_each(|packet| end.handle(Time::ZERO, send(packet)));
    assert_eq!(done(&mut end, Time::ZERO).data.len() as u32, packets.min(10), "the first window");
    end
}
