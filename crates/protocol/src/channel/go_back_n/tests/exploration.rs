//! Everything that can happen to a few packets: any frame ever sent may come at any time, as often
//! as it likes or never, and any timer may expire at any time.

use std::collections::{BTreeSet, VecDeque};

use crosstie_units::Time;

use crate::channel::go_back_n::acknowledgement::Acknowledgement;
use crate::channel::go_back_n::output::Output;
use crate::channel::go_back_n::receiver::Receiver;
use crate::channel::go_back_n::sender::Sender;
use crate::channel::go_back_n::table::*;
use crate::channel::{Action, Frame, GoBackNSpec, Seq, Tally};

const NOW: Time = Time::ZERO;

/// One packet wraps.
const FIRST: Seq = Seq(u32::MAX);

/// Two ends, of which one sends, and what it takes to tell their states apart.
#[derive(Clone)]
struct World {
    sender: Sender<u32>,
    receiver: Receiver,
    /// Of the sender and of the receiver.
    outputs: [Output<u32>; 2],
    delivered: u32,
    nacks: u32,
}

impl World {
    fn new(spec: &GoBackNSpec, packets: u32) -> World {
        let output = || {
            let acknowledgement = Acknowledgement::new(spec, FIRST);
            Output { wanted: VecDeque::new(), tally: Tally::default(), acknowledgement }
        };
        let outputs = [output(), output()];
        let (sender, receiver) = (Sender::new(spec, FIRST), Receiver::new(spec));
        let mut world = World { sender, receiver, outputs, delivered: 0, nacks: 0 };
        (0..packets).for_each(|packet| world.sender.send(NOW, packet, true, &mut world.outputs[0]));
        world
    }

    fn key(&self, sent: u64) -> (u8, u32, usize, u8, u32, u64) {
        let (sender, receiver) = (self.sender.state() as u8, self.receiver.state() as u8);
        let (base, outstanding) = (self.sender.base().since(FIRST), self.sender.outstanding());
        (sender, base, outstanding, receiver, self.delivered, sent)
    }

    /// What comes of a frame that arrives, and what it was to the sender, in which state.
    fn arrive(&mut self, frame: Frame<u32>) -> Option<(SenderState, SenderEvent)> {
        let (number, event) = match frame {
            Frame::Data { seq, item, .. } => {
                let deliver = |output: &mut Output<u32>| output.deliver(item);
                self.receiver.data(NOW, seq, false, &mut self.outputs[1], deliver);
                return None;
            }
            Frame::Pack(n) => (n, self.sender.pack(n)),
            Frame::Nack(e) => (e, self.sender.nack(e)),
            Frame::Sack(_) => panic!("nobody sends any"),
        };
        let state = self.sender.state();
        self.sender.act(NOW, event, number, &mut self.outputs[0]);
        Some((state, event))
    }

    fn expire(&mut self, ahead: usize) {
        let packet = self.sender.base().plus(ahead as u32);
        self.sender.act(NOW, SenderEvent::Timeout, packet, &mut self.outputs[0]);
    }

    /// What the ends have sent since the last time; what must always hold is checked.
    fn sent(&mut self, spec: &GoBackNSpec) -> Vec<Frame<u32>> {
        let mut frames = Vec::new();
        let actions =
            self.outputs.iter_mut().flat_map(|output| output.wanted.drain(..).map(Action::from));
        for action in actions.collect::<Vec<_>>() {
            match action {
                Action::Transmit(frame) => {
                    self.nacks += u32::from(matches!(frame, Frame::Nack(_)));
                    frames.push(frame);
                }
                Action::Deliver(packet) => {
                    assert_eq!(packet, self.delivered, "in order and once");
                    (self.delivered, self.nacks) = (self.delivered + 1, 0);
                }
                Action::Acknowledged(packet) => assert!(packet < self.delivered),
            }
        }
        assert!(self.nacks <= 1, "one Nack, then silence");
        let (outstanding, window) = (self.sender.outstanding(), spec.window as usize);
        assert!(outstanding <= window);
        assert!(self.sender.state() != SenderState::Stall || outstanding > 0, "stalled for ever");
        assert!(outstanding > 0 || self.sender.queued() == 0, "waiting for nothing");
        frames
    }

    /// Whether everything arrives over a link that has become quiet, by time-outs alone.
    fn ends(mut self, spec: &GoBackNSpec) -> bool {
        // A few rounds for each packet are more than enough.
        for _ in 0..20 {
            let mut flight = VecDeque::new();
            for ahead in 0..self.sender.outstanding() {
                self.expire(ahead);
            }
            flight.extend(self.sent(spec));
            while let Some(frame) = flight.pop_front() {
                self.arrive(frame);
                flight.extend(self.sent(spec));
            }
        }
        self.sender.outstanding() + self.sender.queued() == 0
    }
}

/// All frames of one direction, each with its place in a set of bits.
fn frames(packets: u32) -> Vec<Frame<u32>> {
    let number = |packet| FIRST.plus(packet);
    let data = (0..packets).map(|item| Frame::Data { seq: number(item), ack: FIRST, item });
    let packs = (0..=packets).map(|n| Frame::Pack(number(n)));
    data.chain(packs).chain((0..packets).map(|e| Frame::Nack(number(e)))).collect()
}

/// How many states there are, and which events the sender meets in which state.
fn explore(window: u32, packets: u32, simple: bool) -> (usize, BTreeSet<String>) {
    let spec = GoBackNSpec { window, timeout: Time::from_ns(1), every: 1, after: NOW, simple };
    let frames = frames(packets);
    let place = |frame: &Frame<u32>| frames.iter().position(|other| other == frame);
    let bits = |sent: Vec<Frame<u32>>| {
        sent.iter().fold(0, |bits, frame| bits | 1 << place(frame).expect("a frame that can be"))
    };
    let mut world = World::new(&spec, packets);
    let sent: u64 = bits(world.sent(&spec));
    let mut known = BTreeSet::from([world.key(sent)]);
    let (mut open, mut met) = (vec![(world, sent)], BTreeSet::new());
    while let Some((world, sent)) = open.pop() {
        assert!(world.clone().ends(&spec), "{:?}", world.sender);
        let arrivals = (0..frames.len()).filter(|place| sent >> place & 1 == 1);
        let mut next: Vec<World> = Vec::new();
        for place in arrivals {
            let mut world = world.clone();
            let event = world.arrive(frames[place]);
            met.extend(event.map(|(state, event)| format!("{state}: {event}")));
            next.push(world);
        }
        for ahead in 0..world.sender.outstanding() {
            let mut world = world.clone();
            world.expire(ahead);
            next.push(world);
        }
        for mut world in next {
            let sent = sent | bits(world.sent(&spec));
            if known.insert(world.key(sent)) {
                open.push((world, sent));
            }
        }
    }
    (known.len(), met)
}

#[test]
fn whatever_happens_everything_arrives_once_the_link_is_quiet() {
    // Fewer states would mean that something was not tried.
    for (simple, expected) in [(false, [11, 183, 285, 365]), (true, [11, 15, 18, 20])] {
        let found = [1, 2, 3, 4].map(|window| explore(window, 5, simple).0);
        assert_eq!(found, expected, "simple: {simple}");
    }
}

#[test]
fn without_forgery_nobody_hears_of_packets_that_were_not_sent() {
    let (_, met) = explore(4, 6, false);
    let expected = [
        "NORMAL: Nack(e), base < e < next",
        "NORMAL: Nack(e), e < base or base = next",
        "NORMAL: Nack(e), e = base < next",
        "NORMAL: Pack(n), base < n <= next",
        "NORMAL: Pack(n), n <= base",
        "STALL: Nack(e), base < e < next",
        "STALL: Nack(e), e < base or base = next",
        "STALL: Nack(e), e = base < next",
        "STALL: Pack(n), base < n <= next",
        "STALL: Pack(n), n <= base",
    ];
    assert!(met.iter().eq(&expected), "{met:#?}");
}
