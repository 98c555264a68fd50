//! Hosts on the ideal network against the LogGOPS machine as LogGOPSim runs it: one list of
//! entries.

use super::schedules::{LIMIT, finish};
use super::*;
use crate::host::Overhead;
use crate::ideal::IdealSpec;
use crate::network::Pace;
use crosstie_collective::{Builder, Need, Op, OpId, Rank, Schedule, Step, Tag, When};
use crosstie_work::Player;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// L, o, g, G, O in nanoseconds, and S in bytes.
#[derive(Debug, Clone, Copy)]
struct Parameters {
    latency: u64,
    overhead: u64,
    gap: u64,
    byte_gap: u64,
    byte_overhead: u64,
    eager: u32,
}

/// The list of entries, operations that are ready and messages under way: the one with the smallest
/// time and number is taken; if its processor or NIC is busy, it goes back with a later time.
mod reference {
    use super::*;

    #[derive(Clone, Copy)]
    enum Entry {
        Operation(usize),
        Message(usize),
    }

    #[derive(Clone, Copy)]
    struct Message {
        send: usize,
        to: usize,
        from: Rank,
        tag: Tag,
        bytes: u64,
        /// When the sender's processor is free again, and when the message has been received.
        sent: u64,
        received: u64,
    }

    struct Machine<'a> {
        schedule: &'a Schedule,
        parameters: Parameters,
        rank: Vec<usize>,
        list: BTreeMap<(u64, u64), Entry>,
        numbers: u64,
        cpus: BTreeMap<(usize, u16), u64>,
        out: BTreeMap<(usize, u16), u64>,
        into: BTreeMap<(usize, u16), u64>,
        /// Of each operation: how many needs are not met, when the others were, when it was done.
        missing: Vec<usize>,
        ready: Vec<u64>,
        done: Vec<Option<u64>>,
        messages: Vec<Message>,
        /// Receives without a message, and messages without a receive.
        posted: Vec<usize>,
        unexpected: Vec<usize>,
        /// Operations that the entry at hand has freed.
        freed: Vec<usize>,
    }

    fn at(times: &BTreeMap<(usize, u16), u64>, key: (usize, u16)) -> u64 {
        times.get(&key).copied().unwrap_or(0)
    }

    /// When each rank has done everything; `None` if it never has.
    pub fn finish(schedule: &Schedule, parameters: Parameters) -> Vec<Option<u64>> {
        let places = |rank: u32| schedule.places(Rank(rank));
        let count = schedule.all().len();
        let owners =
            (0..schedule.ranks()).flat_map(|rank| places(rank).map(move |_| rank as usize));
        let mut machine = Machine {
            schedule,
            parameters,
            rank: owners.collect(),
            list: BTreeMap::new(),
            numbers: 0,
            cpus: BTreeMap::new(),
            out: BTreeMap::new(),
            into: BTreeMap::new(),
            missing: (0..count).map(|place| schedule.needs(place).len()).collect(),
            ready: vec![0; count],
            done: vec![None; count],
            messages: Vec::new(),
            posted: Vec::new(),
            unexpected: Vec::new(),
            freed: (0..count).filter(|&place| schedule.needs(place).is_empty()).collect(),
        };
        machine.enter_freed();
        while let Some(((now, number), entry)) = machine.list.pop_first() {
            machine.take(now, number, entry);
            machine.enter_freed();
        }
        let last = |rank| {
            let mut done = machine.done[places(rank)].iter().copied();
            done.try_fold(0, |last, done| Some(done?.max(last)))
        };
        (0..schedule.ranks()).map(last).collect()
    }

    impl Machine<'_> {
        fn op(&self, place: usize) -> (usize, u16, u16, Step) {
            let Op { step, cpu, nic } = self.schedule.all()[place];
            (self.rank[place], cpu, nic.unwrap_or(0), step)
        }

        fn enter(&mut self, time: u64, entry: Entry) {
            self.list.insert((time, self.numbers), entry);
            self.numbers += 1;
        }

        /// Rank by rank; sends, then receives, then computations.
        fn enter_freed(&mut self) {
            let mut freed = std::mem::take(&mut self.freed);
            freed.sort_by_key(|&place| match self.op(place) {
                (rank, .., Step::Send { .. }) => (rank, 0),
                (rank, .., Step::Receive { .. }) => (rank, 1),
                (rank, .., Step::Compute { .. }) => (rank, 2),
                (.., Step::Get { .. }) => unreachable!("LogGOPS has no gets"),
            });
            for place in freed {
                let (rank, cpu, nic, step) = self.op(place);
                let mut time = self.ready[place].max(at(&self.cpus, (rank, cpu)));
                if let Step::Send { .. } = step {
                    time = time.max(at(&self.out, (rank, nic)));
                }
                self.enter(time, Entry::Operation(place));
            }
        }

        /// Something happens at a time that others may wait for.
        fn tell(&mut self, place: usize, when: When, time: u64) {
            if when == When::Done {
                self.done[place] = Some(time);
            }
            let first = self.schedule.places(Rank(self.rank[place] as u32)).start;
            for need in self.schedule.dependents(place).iter().filter(|need| need.when == when) {
                let other = first + need.op.0 as usize;
                self.ready[other] = self.ready[other].max(time);
                self.missing[other] -= 1;
                if self.missing[other] == 0 {
                    self.freed.push(other);
                }
            }
        }

        fn take(&mut self, now: u64, number: u64, entry: Entry) {
            let Parameters { latency, overhead, gap, byte_gap, byte_overhead, eager } =
                self.parameters;
            match entry {
                Entry::Operation(place) => {
                    let (rank, cpu, nic, step) = self.op(place);
                    match step {
                        Step::Get { .. } => unreachable!("LogGOPS has no gets"),
                        Step::Compute { time } => {
                            let free = at(&self.cpus, (rank, cpu));
                            if free > now {
                                self.list.insert((free, number), entry);
                                return;
                            }
                            let end = now + time.ps() / 1000;
                            self.cpus.insert((rank, cpu), end);
                            self.tell(place, When::Started, now);
                            self.tell(place, When::Done, end);
                        }
                        Step::Send { to, tag, bytes } => {
                            let free = at(&self.cpus, (rank, cpu)).max(at(&self.out, (rank, nic)));
                            if free > now {
                                self.list.insert((free, number), entry);
                                return;
                            }
                            let behind = u64::from(bytes.max(1) - 1);
                            let sent = now + overhead + behind * byte_overhead;
                            self.cpus.insert((rank, cpu), sent);
                            self.out.insert((rank, nic), now + gap + behind * byte_gap);
                            self.enter(
                                now + overhead + latency,
                                Entry::Message(self.messages.len()),
                            );
                            self.messages.push(Message {
                                send: place,
                                to: to.0 as usize,
                                from: Rank(rank as u32),
                                tag,
                                bytes: bytes.max(1).into(),
                                sent,
                                received: 0,
                            });
                            self.tell(place, When::Started, now);
                            if bytes <= eager {
                                self.tell(place, When::Done, sent);
                            }
                        }
                        Step::Receive { .. } => {
                            self.tell(place, When::Started, now);
                            let fits = |number: &usize| self.fits(place, *number);
                            match self.unexpected.iter().position(fits) {
                                None => self.posted.push(place),
                                Some(found) => {
                                    let message = self.unexpected.remove(found);
                                    self.meet(now, place, message);
                                }
                            }
                        }
                    }
                }
                Entry::Message(number_of) => {
                    let Message { send, to, bytes, .. } = self.messages[number_of];
                    let (_, cpu, nic, _) = self.op(send);
                    let free = at(&self.cpus, (to, cpu)).max(at(&self.into, (to, nic)));
                    if free > now {
                        self.list.insert((free, number), entry);
                        return;
                    }
                    let received = now + overhead + (bytes - 1) * byte_overhead.max(byte_gap);
                    self.messages[number_of].received = received;
                    self.cpus.insert((to, cpu), received);
                    self.into.insert((to, nic), now + gap + (bytes - 1) * byte_gap);
                    match self.posted.iter().position(|&place| self.fits(place, number_of)) {
                        None => self.unexpected.push(number_of),
                        Some(found) => {
                            let place = self.posted.remove(found);
                            self.meet(now, place, number_of);
                        }
                    }
                }
            }
        }

        fn fits(&self, receive: usize, number: usize) -> bool {
            let (message, (rank, .., step)) = (&self.messages[number], self.op(receive));
            let Step::Receive { from, tag, .. } = step else { return false };
            rank == message.to
                && from.is_none_or(|from| from == message.from)
                && tag.is_none_or(|tag| tag == message.tag)
        }

        /// A receive and its message have met.
        fn meet(&mut self, now: u64, receive: usize, number: usize) {
            let Message { send, bytes, sent, received, .. } = self.messages[number];
            if bytes > self.parameters.eager.into() {
                let (rank, cpu, nic, _) = self.op(send);
                for side in [self.cpus.entry((rank, cpu)), self.out.entry((rank, nic))] {
                    let free = side.or_insert(0);
                    *free = now.max(*free);
                }
                self.tell(send, When::Done, now.max(sent));
            }
            self.tell(receive, When::Done, now.max(received));
        }
    }
}

/// When each rank that finishes does so on hosts and the ideal network, in nanoseconds.
fn simulated(schedule: &Schedule, parameters: Parameters) -> Vec<Option<u64>> {
    let Parameters { latency, overhead, gap, byte_gap, byte_overhead, eager } = parameters;
    let ns = Time::from_ns;
    let blueprint = IdealSpec {
        hosts: schedule.ranks(),
        rails: 2,
        pace: Pace { time: ns(byte_gap), bytes: 1 },
        latency: ns(latency),
        gap: ns(gap),
        cycle: ns(1),
    };
    let overhead = Overhead { message: ns(overhead), byte: ns(byte_overhead), eager: Some(eager) };
    let play = Play {
        blueprint: &blueprint,
        nodes: &plain_nodes(2, WHOLE),
        messaging: None,
        overhead: Some(overhead),
        limit: LIMIT,
        records: false,
    };
    let mut player = Player::new(Arc::new(schedule.clone()), 1);
    let played = play.run(&mut player, &mut |_| ControlFlow::Continue(())).unwrap();
    let at = |rank| played.finished.get(&Rank(rank)).map(|at| at.ps() / 1000);
    (0..schedule.ranks()).map(at).collect()
}

/// LogGOPSim's defaults; and small numbers, with which much happens at once.
fn parameters() -> impl Strategy<Value = Parameters> {
    let small = (0..4u64, 0..4u64, 0..4u64, 0..3u64, 0..3u64, prop_oneof![Just(1), 1..4u32]);
    let small = small.prop_map(|(latency, overhead, gap, byte_gap, byte_overhead, eager)| {
        Parameters { latency, overhead, gap, byte_gap, byte_overhead, eager }
    });
    let usual = Parameters {
        latency: 2500,
        overhead: 1500,
        gap: 1000,
        byte_gap: 6,
        byte_overhead: 0,
        eager: 65_535,
    };
    prop_oneof![2 => Just(usual), 3 => small]
}

/// An operation, or a message with both of its operations, and what those wait for.
#[derive(Debug, Clone)]
struct Drawn {
    rank: u32,
    what: What,
    cpu: u16,
    nic: u16,
    needs: [Vec<(prop::sample::Index, bool)>; 2],
}

#[derive(Debug, Clone)]
enum What {
    Compute(u64),
    /// How much further the other rank is; a receive that leaves the sender or the tag open.
    Message {
        step: u32,
        tag: u32,
        bytes: u32,
        any: (bool, bool),
        receive_cpu: u16,
    },
}

fn drawn(wildcards: bool) -> impl Strategy<Value = Vec<Drawn>> {
    let time = prop_oneof![0..4u64, prop_oneof![Just(1000), Just(1500), Just(2500), Just(4000)]];
    let bytes = prop_oneof![4 => 0..5u32, 2 => 100..300u32, 1 => 65_534..65_538u32];
    let open = if wildcards {
        (prop::bool::weighted(0.2), prop::bool::weighted(0.2)).boxed()
    } else {
        Just((false, false)).boxed()
    };
    let what = prop_oneof![
        time.prop_map(What::Compute),
        (1..4u32, 0..2u32, bytes, open, 0..2u16).prop_map(
            |(step, tag, bytes, any, receive_cpu)| {
                What::Message { step, tag, bytes, any, receive_cpu }
            }
        ),
    ];
    let needs = || prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..3);
    let drawn = (0..4u32, what, 0..2u16, 0..2u16, [needs(), needs()]);
    let drawn =
        drawn.prop_map(|(rank, what, cpu, nic, needs)| Drawn { rank, what, cpu, nic, needs });
    prop::collection::vec(drawn, 1..40)
}

/// A schedule. It may lock up: a receive may wait for what is behind its own message.
fn schedule(drawn: &[Drawn], cpus: u16) -> Schedule {
    let mut builder = Builder::new(4);
    let mut counts = [0u32; 4];
    let mut add = |rank: Rank, op: Op, needs: &[(prop::sample::Index, bool)]| {
        let op = builder.add(rank, op);
        let earlier = &mut counts[rank.0 as usize];
        for (index, started) in needs.iter().filter(|_| *earlier > 0) {
            let other = OpId(index.index(*earlier as usize) as u32);
            let when = if *started { When::Started } else { When::Done };
            builder.need(rank, op, Need { op: other, when });
        }
        *earlier += 1;
    };
    for Drawn { rank, what, cpu, nic, needs } in drawn {
        let (rank, nic) = (Rank(*rank), Some(*nic));
        match *what {
            What::Compute(ns) => {
                let step = Step::Compute { time: Time::from_ns(ns) };
                add(rank, Op { step, cpu: cpu % cpus, nic: None }, &needs[0]);
            }
            What::Message { step, tag, bytes, any, receive_cpu } => {
                let (to, tag) = (Rank((rank.0 + step) % 4), Tag(tag));
                let send = Step::Send { to, tag, bytes };
                add(rank, Op { step: send, cpu: cpu % cpus, nic }, &needs[0]);
                let (from, tag) = ((!any.0).then_some(rank), (!any.1).then_some(tag));
                let receive = Step::Receive { from, tag, bytes };
                add(to, Op { step: receive, cpu: receive_cpu % cpus, nic }, &needs[1]);
            }
        }
    }
    builder.finish().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Every rank finishes when it does on the list, or never on both.
    #[test]
    fn hosts_keep_the_list(
        parameters in parameters(),
        drawn in any::<bool>().prop_flat_map(drawn),
        cpus in 1..3u16,
    ) {
        let schedule = schedule(&drawn, cpus);
        let expected = reference::finish(&schedule, parameters);
        let stuck = crosstie_collective::stuck(&schedule, Some(parameters.eager));
        prop_assert!(stuck.is_none() || expected.contains(&None), "{:?}", stuck);
        prop_assert_eq!(simulated(&schedule, parameters), expected);
    }
}

/// A long send before a handshake: the processor serves others until anybody receives it.
#[test]
fn a_long_send_may_come_before_a_handshake() {
    let mut builder = Builder::new(2);
    let [one, two] = [Rank(0), Rank(1)];
    builder.send(one, two, Tag(1), 100_000);
    let received = builder.receive(one, two, Tag(2), 8);
    let sent = builder.send(one, two, Tag(3), 8);
    builder.after(one, sent, received);
    builder.send(two, one, Tag(2), 8);
    let received = builder.receive(two, one, Tag(3), 8);
    let long = builder.receive(two, one, Tag(1), 100_000);
    builder.after(two, long, received);
    assert_eq!(finish(&builder.finish().unwrap()), [607_036, 607_036]);
}

/// The send was freed when the computation began, before the send of the message began: it goes
/// first when both can.
#[test]
fn who_is_freed_first_goes_first() {
    let mut builder = Builder::new(2);
    let [one, two] = [Rank(0), Rank(1)];
    let computed = builder.compute(one, Time::from_ns(4001));
    let sent = builder.send(one, two, Tag(0), 1);
    builder.after(one, sent, computed);
    builder.receive(one, two, Tag(0), 1);
    let computed = builder.compute(two, Time::from_ns(1));
    let sent = builder.send(two, one, Tag(0), 1);
    builder.after(two, sent, computed);
    builder.receive(two, one, Tag(0), 1);
    // The message comes at 4001, too, and waits until 5501.
    assert_eq!(finish(&builder.finish().unwrap()), [7001, 9501]);
}
