//! Any operations in any order on two ends, with frames that somebody makes up among them: nothing
//! panics, and neither window nor memory is exceeded. Without forgery every packet is delivered
//! once, by go-back-N in order, whatever the order of operations.

mod channels;

use std::collections::VecDeque;

use channels::{firsts, specs};
use crosstie_protocol::Machine;
use crosstie_protocol::channel::*;
use crosstie_units::Time;
use proptest::prelude::*;

/// Something that is done to one of the ends.
#[derive(Debug, Clone)]
enum Operation {
    Send,
    /// A frame under way arrives, any of them.
    Arrive(prop::sample::Index),
    /// A frame under way arrives, and will again.
    Repeat(prop::sample::Index),
    Lose(prop::sample::Index),
    /// Time passes, and nobody looks at timers.
    Pass(u64),
    /// The time-out is handled, whether its time has come or not.
    Timeout,
    Corrupt,
    Forge(Forgery),
}

/// A frame that was never sent: its numbers are so far from those of the last frame under way, or
/// just any.
#[derive(Debug, Clone)]
struct Forgery {
    kind: u8,
    near: bool,
    seq: u32,
    ack: u32,
    came: [u64; 8],
    repeated: u32,
}

fn operations(forged: bool) -> impl Strategy<Value = (usize, Operation)> {
    let index = any::<prop::sample::Index>;
    let near = || (0u32..200).prop_map(|offset| offset.wrapping_sub(100));
    let numbers = prop_oneof![
        4 => (Just(true), near(), near()),
        1 => (Just(false), any::<u32>(), any::<u32>()),
    ];
    // Few bits, else hardly any could be.
    let word = || prop_oneof![8 => Just(0u64), 2 => (0u32..64).prop_map(|bit| 1 << bit), 1 => any::<u64>()];
    let said = (prop::array::uniform8(word()), 0u32..3);
    let forge = (0u8..4, numbers, said).prop_map(|(kind, (near, seq, ack), (came, repeated))| {
        Operation::Forge(Forgery { kind, near, seq, ack, came, repeated })
    });
    let pass = prop_oneof![9 => 0u64..20_000_000, 1 => Just(u64::MAX)];
    let operation = prop_oneof![
        10 => Just(Operation::Send),
        20 => index().prop_map(Operation::Arrive),
        2 => index().prop_map(Operation::Repeat),
        2 => index().prop_map(Operation::Lose),
        3 => pass.prop_map(Operation::Pass),
        3 => Just(Operation::Timeout),
        1 => Just(Operation::Corrupt),
        if forged { 4 } else { 0 } => forge,
    ];
    (0usize..2, operation)
}

struct Pair {
    now: Time,
    ends: [Endpoint<u32>; 2],
    /// By receiver.
    flight: [VecDeque<Frame<u32>>; 2],
    handed: [u32; 2],
    /// By receiver.
    delivered: [Vec<u32>; 2],
    acknowledged: [Vec<u32>; 2],
    spec: ChannelSpec,
}

impl Pair {
    fn new(spec: ChannelSpec, firsts: [Seq; 2]) -> Pair {
        let end = |this: usize| {
            Endpoint::starting_at(spec, firsts[this], firsts[1 - this]).expect("a sound channel")
        };
        Pair {
            now: Time::ZERO,
            ends: [end(0), end(1)],
            flight: Default::default(),
            handed: [0; 2],
            delivered: Default::default(),
            acknowledged: Default::default(),
            spec,
        }
    }

    fn apply(&mut self, end: usize, operation: &Operation) {
        let chosen = |flight: &VecDeque<_>, index: &prop::sample::Index| {
            (!flight.is_empty()).then(|| index.index(flight.len()))
        };
        let flight = &mut self.flight[end];
        match operation {
            Operation::Send => {
                self.handed[end] += 1;
                self.ends[end].handle(
                    self.now,
                    Input::Send { item: self.handed[end] - 1, bytes: 100, rides: true },
                );
            }
            Operation::Arrive(index) => {
                if let Some(frame) = chosen(flight, index).and_then(|place| flight.remove(place)) {
                    self.ends[end].handle(self.now, Input::Frame(frame));
                }
            }
            Operation::Repeat(index) => {
                if let Some(place) = chosen(flight, index) {
                    self.ends[end].handle(self.now, Input::Frame(flight[place]));
                }
            }
            Operation::Lose(index) => {
                if let Some(place) = chosen(flight, index) {
                    flight.remove(place);
                }
            }
            Operation::Pass(time) => self.now = self.now + Time::from_ps(*time),
            Operation::Timeout => self.ends[end].handle_timeout(self.now),
            Operation::Corrupt => self.ends[end].handle(self.now, Input::Corrupt),
            Operation::Forge(forgery) => {
                let frame = forgery.frame(flight.back());
                self.ends[end].handle(self.now, Input::Frame(frame));
            }
        }
        self.serve(end);
    }

    fn serve(&mut self, end: usize) {
        while let Some(action) = self.ends[end].poll_action(self.now) {
            match action {
                // So many that it takes a while, yet not without end.
                Action::Transmit(frame) if self.flight[1 - end].len() < 500 => {
                    self.flight[1 - end].push_back(frame);
                }
                Action::Transmit(_) => {}
                Action::Deliver(packet) => self.delivered[end].push(packet),
                Action::Acknowledged(packet) => self.acknowledged[end].push(packet),
            }
        }
        let machine = &self.ends[end];
        let kept = self.acknowledged[end].len() + machine.outstanding() + machine.queued();
        assert_eq!(kept, self.handed[end] as usize, "what is handed over is kept or acknowledged");
        assert!(machine.outstanding() <= self.spec.widest() as usize);
        let waits_for_nothing = machine.outstanding() == 0 && machine.queued() > 0;
        assert!(!waits_for_nothing, "{machine:?}");
        assert!(machine.outstanding() == 0 || machine.poll_timeout().is_some(), "{machine:?}");
    }

    /// Lets a link without faults carry everything.
    fn finish(&mut self) {
        for _ in 0..1_000_000 {
            if let Some(end) = (0..2).find(|&end| !self.flight[end].is_empty()) {
                let frame = self.flight[end].pop_front().expect("there is one");
                self.ends[end].handle(self.now, Input::Frame(frame));
                self.serve(end);
            } else if let Some((time, end)) =
                (0..2).filter_map(|end| Some((self.ends[end].poll_timeout()?, end))).min()
            {
                self.now = self.now.max(time);
                self.ends[end].handle_timeout(self.now);
                self.serve(end);
            } else {
                return;
            }
        }
        panic!("it does not end: {:?}", self.ends);
    }
}

impl Forgery {
    fn frame(&self, last: Option<&Frame<u32>>) -> Frame<u32> {
        let (seq, ack) = match (self.near, last) {
            (true, Some(&Frame::Data { seq, ack, .. })) => (seq, ack),
            (true, Some(&(Frame::Pack(ack) | Frame::Nack(ack)))) => (ack, ack),
            (true, Some(&Frame::Sack(sack))) => (sack.expected, sack.expected),
            _ => (Seq(0), Seq(0)),
        };
        let (seq, ack) = (seq.plus(self.seq), ack.plus(self.ack));
        match self.kind {
            0 => Frame::Data { seq, ack, item: u32::MAX },
            1 => Frame::Pack(ack),
            2 => Frame::Nack(ack),
            _ => {
                let (expected, last, at, held) = (ack, seq, self.ack, self.seq);
                let (repeated, came) = (self.repeated, Arrivals::from_words(self.came));
                let skipped = if self.near { self.seq % 3 } else { self.repeated };
                Frame::Sack(Sack { expected, last, at, held, repeated, skipped, came })
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn forged_frames_break_nothing(
        spec in specs(), firsts in firsts(), operations in prop::collection::vec(operations(true), 0..1_000),
    ) {
        let mut pair = Pair::new(spec, firsts);
        for (end, operation) in &operations {
            pair.apply(*end, operation);
        }
    }

    #[test]
    fn without_forgery_every_order_of_operations_ends_well(
        spec in specs(), firsts in firsts(), operations in prop::collection::vec(operations(false), 0..1_000),
    ) {
        let mut pair = Pair::new(spec, firsts);
        for (end, operation) in &operations {
            pair.apply(*end, operation);
        }
        pair.finish();
        for end in 0..2 {
            prop_assert!(pair.ends[end].is_idle(), "{:?}", pair.ends[end]);
            prop_assert_eq!(pair.ends[end].tally().refused, 0);
            let sent: Vec<u32> = (0..pair.handed[end]).collect();
            for (found, order) in [
                (&mut pair.delivered[1 - end], "delivered"),
                (&mut pair.acknowledged[end], "acknowledged"),
            ] {
                if matches!(spec, ChannelSpec::Selective(_)) {
                    found.sort_unstable();
                }
                prop_assert_eq!(&*found, &sent, "{}", order);
            }
        }
    }
}
