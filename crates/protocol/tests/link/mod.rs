//! Two ends of a channel, and a link between them that loses, repeats, delays, reorders and
//! garbles. Every step is watched.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crosstie_protocol::Machine;
use crosstie_protocol::channel::*;
use crosstie_units::{Seed, Stream, Time};

/// What the link does to a frame; chances in per cent.
#[derive(Debug, Clone, Copy)]
pub struct Faults {
    pub loss: u64,
    pub repetition: u64,
    pub garbling: u64,
    /// The longest delay, in nanoseconds: whatever is sent later may come earlier.
    pub delay: u64,
}

/// A link that only takes its time.
pub const NO_FAULTS: Faults = Faults { loss: 0, repetition: 0, garbling: 0, delay: 0 };

/// What comes, and to which end.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The application has this many packets to send.
    Send(u32),
    Bytes(Vec<u8>),
}

/// What is known of one end and of what it sends.
#[derive(Debug)]
pub struct End {
    pub machine: Endpoint<u32>,
    /// The numbers of its first packet, of its next new one, and the packets handed over to it,
    /// delivered at the other end and acknowledged.
    first: Seq,
    pub next: Seq,
    pub handed: u32,
    pub delivered: Packets,
    pub acknowledged: Packets,
    /// Nacks that it has sent since it last got a packet in order.
    nacks: u32,
}

/// A set of packets, the plainest there is.
#[derive(Debug, Default)]
pub struct Packets(Vec<bool>);

impl Packets {
    /// Adds one that must not be there; how many of the first there were before.
    fn insert(&mut self, packet: u32) -> u32 {
        let (first, place) = (self.first(), packet as usize);
        self.0.resize(self.0.len().max(place + 1), false);
        assert!(!std::mem::replace(&mut self.0[place], true), "once");
        first
    }

    pub fn has(&self, packet: u32) -> bool {
        self.0.get(packet as usize).copied().unwrap_or(false)
    }

    /// The first that is not there.
    pub fn first(&self) -> u32 {
        self.0.iter().take_while(|&&has| has).count() as u32
    }

    pub fn len(&self) -> u32 {
        self.0.iter().filter(|&&has| has).count() as u32
    }
}

pub struct Link {
    pub now: Time,
    spec: ChannelSpec,
    pub ends: [End; 2],
    faults: Faults,
    draws: Stream,
    agenda: BinaryHeap<Reverse<(Time, u64, usize, Event)>>,
    entries: u64,
    pub steps: u64,
    pub lost: u64,
}

impl Link {
    pub fn new(spec: ChannelSpec, firsts: [Seq; 2], faults: Faults, seed: u64) -> Link {
        let end = |this: usize| End {
            machine: Endpoint::starting_at(spec, firsts[this], firsts[1 - this])
                .expect("the test asks for a sound channel"),
            first: firsts[this],
            next: firsts[this],
            handed: 0,
            delivered: Packets::default(),
            acknowledged: Packets::default(),
            nacks: 0,
        };
        Link {
            now: Time::ZERO,
            spec,
            ends: [end(0), end(1)],
            faults,
            draws: Seed(seed).stream("link", 0),
            agenda: BinaryHeap::new(),
            entries: 0,
            steps: 0,
            lost: 0,
        }
    }

    /// Lets an end have packets to send, a few at a time.
    pub fn plan(&mut self, end: usize, mut packets: u32) {
        let mut at = self.now;
        while packets > 0 {
            let some = packets.min(1 + self.draws.below(20) as u32);
            self.schedule(at, end, Event::Send(some));
            at = at + Time::from_ns(self.draws.below(3_000));
            packets -= some;
        }
    }

    /// Goes on until nothing happens any more; after so many steps the link has no faults.
    pub fn run(&mut self, faulty: u64) {
        while self.step() {
            if self.steps > faulty {
                self.faults = Faults { loss: 0, garbling: 0, repetition: 0, ..self.faults };
            }
            assert!(self.steps < 100 * faulty + 1_000_000, "it does not end: {:?}", self.ends);
        }
    }

    /// Checks that everything has arrived and nothing is left to do.
    pub fn check_rest(&self) {
        for end in &self.ends {
            assert!(end.machine.is_idle(), "{end:?}");
            assert_eq!(end.machine.poll_timeout(), None, "{end:?}");
            let counts = (end.delivered.len(), end.acknowledged.len());
            assert_eq!(counts, (end.handed, end.handed), "{end:?}");
            let tally = end.machine.tally();
            assert_eq!((tally.first, tally.refused), (u64::from(end.handed), 0), "{end:?}");
        }
    }

    fn step(&mut self) -> bool {
        let timeouts = self.ends.each_ref().map(|end| end.machine.poll_timeout());
        let timeout = timeouts.into_iter().zip(0..).filter_map(|(at, end)| Some((at?, end))).min();
        let next = self.agenda.peek().map(|Reverse((time, ..))| *time);
        match (timeout, next) {
            (Some((time, end)), next) if next.is_none_or(|next| time < next) => {
                assert!(time >= self.now, "a time-out in the past");
                self.now = time;
                self.tell(end, None);
            }
            (_, Some(_)) => {
                let Reverse((time, _, end, event)) = self.agenda.pop().expect("there is one");
                self.now = time;
                match event {
                    Event::Bytes(bytes) => self.tell(end, Some(read(&bytes))),
                    Event::Send(packets) => {
                        for _ in 0..packets {
                            self.ends[end].handed += 1;
                            let packet = self.ends[end].handed - 1;
                            self.tell(
                                end,
                                Some(Input::Send { item: packet, bytes: 100, rides: true }),
                            );
                        }
                    }
                }
            }
            (_, None) => return false,
        }
        true
    }

    /// Tells an end of something, or that its time has come, and does what it wants.
    pub fn tell(&mut self, end: usize, input: Option<Input<u32>>) {
        self.steps += 1;
        let machine = &mut self.ends[end].machine;
        let stalled = machine.is_stalled();
        let in_order = matches!(self.spec, ChannelSpec::GoBackN(_));
        let may_resend = matches!(input, None | Some(Input::Frame(Frame::Nack(_))));
        let mut received = None;
        match input {
            // Every other time by the other door.
            Some(Input::Frame(Frame::Data { seq, ack, item }))
                if self.steps.is_multiple_of(2) && ack == machine.base() =>
            {
                received = machine.receive(self.now, seq).then_some(Action::Deliver(item));
            }
            Some(input) => machine.handle(self.now, input),
            None => machine.handle_timeout(self.now),
        }
        assert!(machine.outstanding() <= self.spec.widest() as usize, "{machine:?}");
        let stays = stalled && machine.is_stalled();
        while let Some(action) =
            received.take().or_else(|| self.ends[end].machine.poll_action(self.now))
        {
            match action {
                Action::Transmit(frame) => {
                    assert!(frame.item().is_none() || !stays || may_resend, "new data in Stall");
                    self.watch(end, &frame);
                    self.carry(1 - end, frame);
                }
                Action::Deliver(packet) => {
                    self.ends[end].nacks = 0;
                    let sender = &mut self.ends[1 - end];
                    let first = sender.delivered.insert(packet);
                    assert!(!in_order || packet == first, "in order");
                }
                Action::Acknowledged(packet) => {
                    let sender = &mut self.ends[end];
                    let first = sender.acknowledged.insert(packet);
                    assert!(!in_order || packet == first, "in order");
                    assert!(sender.delivered.has(packet), "acknowledged, not delivered");
                }
            }
        }
    }

    fn watch(&mut self, end: usize, frame: &Frame<u32>) {
        let in_order = matches!(self.spec, ChannelSpec::GoBackN(_));
        let (ours, other) = self.ends.split_at_mut(1);
        let [sender, other] =
            if end == 0 { [&mut ours[0], &mut other[0]] } else { [&mut other[0], &mut ours[0]] };
        match *frame {
            Frame::Data { seq, item, .. } => {
                assert_eq!(seq.since(sender.first), item, "a packet keeps its number");
                assert!(!sender.acknowledged.has(item), "what is acknowledged is not sent");
                let reach = if in_order { self.spec.widest() } else { SelectiveSpec::REACH };
                assert!(item < sender.acknowledged.first() + reach, "within the window");
                let new = seq == sender.next;
                assert!(new || seq.is_before(sender.next), "packets are sent in order");
                sender.next = sender.next.plus(u32::from(new));
            }
            Frame::Nack(_) => {
                sender.nacks += 1;
                assert_eq!(sender.nacks, 1, "one Nack, then silence");
                let with_nacks = matches!(self.spec, ChannelSpec::GoBackN(spec) if !spec.simple);
                assert!(with_nacks, "only some channels have Nacks");
            }
            Frame::Pack(_) => assert!(matches!(self.spec, ChannelSpec::GoBackN(_))),
            // It says what has been delivered here, no more and no less.
            Frame::Sack(sack) => {
                let first = other.delivered.first();
                assert_eq!(sack.expected.since(other.first), first, "what is expected");
                for ahead in 0..Arrivals::COUNT {
                    assert_eq!(
                        sack.came.has(ahead),
                        other.delivered.has(first + sack.skipped + ahead),
                        "{sack:?}"
                    );
                }
            }
        }
    }

    /// Carries a frame over the link, as well as it does.
    fn carry(&mut self, to: usize, frame: Frame<u32>) {
        let copies = match (self.chance(self.faults.loss), self.chance(self.faults.repetition)) {
            (true, _) => 0,
            (false, false) => 1,
            (false, true) => 2 + self.draws.below(2),
        };
        self.lost += u64::from(copies == 0);
        for _ in 0..copies {
            let mut bytes = Vec::with_capacity(HEADER + 4);
            frame.map(u32::to_be_bytes).encode(&mut bytes);
            if self.chance(self.faults.garbling) {
                self.garble(&mut bytes);
            }
            // Some come very late.
            let longest = self.faults.delay * if self.chance(3) { 10 } else { 1 };
            let delay = Time::from_ns(1 + self.draws.below(longest.max(1)));
            self.schedule(self.now + delay, to, Event::Bytes(bytes));
        }
    }

    /// Flips one to three bits, or cuts the end off.
    fn garble(&mut self, bytes: &mut Vec<u8>) {
        if self.chance(20) {
            bytes.truncate(self.draws.below(bytes.len() as u64) as usize);
            return;
        }
        for _ in 0..1 + self.draws.below(3) {
            let bit = self.draws.below(8 * bytes.len() as u64) as usize;
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.draws.below(100) < percent
    }

    fn schedule(&mut self, at: Time, end: usize, event: Event) {
        self.entries += 1;
        self.agenda.push(Reverse((at, self.entries, end, event)));
    }
}

/// Reads a frame of the link, as a driver does.
fn read(bytes: &[u8]) -> Input<u32> {
    match Frame::decode(bytes) {
        Ok(Frame::Data { seq, ack, item }) => match item.try_into() {
            Ok(item) => Input::Frame(Frame::Data { seq, ack, item: u32::from_be_bytes(item) }),
            Err(_) => Input::Corrupt,
        },
        Ok(Frame::Pack(ack)) => Input::Frame(Frame::Pack(ack)),
        Ok(Frame::Nack(ack)) => Input::Frame(Frame::Nack(ack)),
        Ok(Frame::Sack(sack)) => Input::Frame(Frame::Sack(sack)),
        Err(_) => Input::Corrupt,
    }
}
