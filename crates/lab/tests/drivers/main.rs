//! The simulated world and real rails are two drivers of the same machines: on the same inputs,
//! both make them do the same.
//!
//! Ranks exchange messages over real rails' driver first, on lines of known length and rate in
//! place of sockets. Whatever their nodes were given to send is then given to the nodes of the
//! simulator at the same times, over the same lines. Every node must be told the same at
//! the same picosecond, and want the same: packets, control packets, deliveries, in the same order.
//!
//! Both have nodes of the same [`NodeSpec`]. Where drivers differ by intention:
//!
//! - A simulated network without channels acknowledges at the instant of arrival; real rails have a
//!   channel always, whose acknowledgements then take no time here.
//! - The simulator can tell that a packet begins to arrive; sockets cannot, and these lines do not.
//! - Ranks greet each other on a rail before they send data there; here all have done so before the
//!   first message.
//! - Only a datagram that is a whole message carries the acknowledgement that all data of a channel
//!   carries in the simulator, and real rails tell a node last what it was acknowledged. Where
//!   go-back-N acknowledges each packet at once, as here, data has nothing to say. Selective
//!   recovery counts on data. And it finds that nobody has anything to send when it is asked for
//!   more in vain, which the simulator does after each packet, and real rails after all that a node
//!   wants at once. So it is compared where data goes one way, one packet after the other: short
//!   messages, from lower ranks to higher ones, of which only what is sent again meets others.
//! - Real rails ask for numbers by which repetitions are noticed, whatever the network, and keep
//!   something ahead of rails, in packets that grow; the simulator has neither.
//!
//! What is left out of the comparison besides is said in [`tape`].

mod lines;
mod live;
mod simulated;
mod tape;

use crosstie_protocol::channel::{ChannelSpec, GoBackNSpec, SelectiveSpec};
use crosstie_protocol::record::{Entry, Noted};
use crosstie_protocol::{Input, NodeId, NodeSpec, Packing, PolicyKind, StripingRatio};
use crosstie_sim::node::{Audience, NodesSpec};
use crosstie_units::{Seed, Stream, Time};

use lines::Lines;
use live::{Message, Ranks};
use simulated::Submission;

/// What a datagram carries, and the rest of it.
const PACKING: Packing = Packing { payload: Some(1448), overhead: 24 };

/// All kinds that real ranks can have.
fn policies() -> Vec<PolicyKind> {
    let striping = [StripingRatio::ONE, StripingRatio::ALL];
    let local = striping.map(|striping| PolicyKind::LocalDynamic { striping });
    PolicyKind::live().chain(local).collect()
}

/// A cluster, and what is sent in it.
struct Scene {
    policy: PolicyKind,
    nodes: u32,
    rails: u32,
    blocking: bool,
    eager: u64,
    messages: Vec<Message>,
}

impl Scene {
    fn draw(policy: PolicyKind, random: &mut Stream) -> Scene {
        let nodes = 2 + random.below(3) as u32;
        let least = if policy.name() == "static" { 4 } else { 1 };
        let rails = least + random.below(5 - u64::from(least)) as u32;
        let mut at = Time::ZERO;
        let message = |number: u32, random: &mut Stream| {
            // Now and then several at once, now and then a pause.
            let pause = [200_000, 30_000_000][random.below(2) as usize] * random.below(10);
            at = lines::tick(at + Time::from_ps(1 + pause), lines::PROGRAM);
            let size = match random.below(4) {
                0 => random.below(100),
                1 => random.below(1500),
                2 => 1000 + random.below(20_000),
                _ => 20_000 + random.below(150_000),
            };
            let from = random.below(nodes.into()) as u16;
            let to = (from + 1 + random.below(u64::from(nodes) - 1) as u16) % nodes as u16;
            let bytes = (0..size).map(|byte| (byte as u32 * 31 + number) as u8).collect();
            Message { at, from, to, tag: random.below(3) as u32, bytes }
        };
        let mut message = message;
        let messages = (0..24).map(|number| message(number, random)).collect();
        let eager = [0, 1000, 8192][random.below(3) as usize];
        Scene { policy, nodes, rails, blocking: random.below(2) == 0, eager, messages }
    }

    /// The same with messages of one packet only, one after the other, none of which is answered.
    fn one_way(mut self) -> Scene {
        self.eager = 8192;
        for (number, message) in (0..).zip(&mut self.messages) {
            message.at = lines::tick(message.at + Time::from_ns(60_000) * number, lines::PROGRAM);
            message.bytes.truncate(1300);
            (message.from, message.to) =
                (message.from.min(message.to), message.from.max(message.to));
        }
        self
    }

    fn spec(&self, channel: Option<ChannelSpec>) -> NodesSpec {
        NodesSpec {
            policy: self.policy,
            pes: 1,
            blocking: self.blocking,
            rails: self.rails,
            transfers: 2,
            window: Some(6),
            packing: PACKING,
            control: 20,
            response: Time::ZERO,
            channel,
            ahead: None,
            exchange: None,
            patience: None,
            rates: Vec::new(),
            station: None,
            puts: false,
            injection: Default::default(),
            seed: Seed(1),
        }
    }

    /// Plays it with both drivers and compares what machines were told and wanted; how many inputs
    /// there were.
    fn compare(
        &self,
        channel: ChannelSpec,
        simulated: Option<ChannelSpec>,
        lines: &dyn Fn() -> Lines,
    ) -> usize {
        let spec = self.spec(simulated);
        let node = |rank: u16| NodeSpec {
            repeats: true,
            ..spec.node(NodeId(rank.into()), Audience::Follows)
        };
        let ranks = Ranks {
            count: self.nodes as u16,
            rails: self.rails,
            policy: self.policy,
            channel,
            eager: self.eager,
            node: &node,
        };
        let (live, end) = live::play(&ranks, lines(), &self.messages);
        let submissions: Vec<Submission> = live.iter().filter_map(submission).collect();
        assert!(submissions.len() >= self.messages.len());
        let simulated = simulated::play(&spec, self.nodes, lines(), &submissions, end);
        let tapes = |entries: &[Entry]| {
            let mut tapes = tape::tapes(entries, self.nodes);
            if spec.channel.is_some() {
                tapes.iter_mut().for_each(tape::Tape::sort_departures);
            }
            tapes
        };
        let (live, simulated) = (tapes(&live), tapes(&simulated));
        let mut count = 0;
        for (node, (live, simulated)) in live.iter().zip(&simulated).enumerate() {
            self.same("told", node, &live.told, &simulated.told);
            self.same("wanted", node, &live.wanted, &simulated.wanted);
            count += live.told.len();
        }
        count
    }

    /// Both lists are the same; if not, where they part.
    fn same<T: PartialEq + std::fmt::Debug>(
        &self,
        what: &str,
        node: usize,
        live: &[T],
        simulated: &[T],
    ) {
        let parts = live.iter().zip(simulated).position(|(live, simulated)| live != simulated);
        let parts =
            parts.or((live.len() != simulated.len()).then_some(live.len().min(simulated.len())));
        if let Some(place) = parts {
            let near = |list: &[T]| {
                let range = place.saturating_sub(3)..(place + 3).min(list.len());
                list[range.start.min(range.end)..range.end]
                    .iter()
                    .map(|entry| format!("    {entry:?}\n"))
                    .collect::<String>()
            };
            panic!(
                "{} on {} nodes with {} rails: node {node} is {what} something else from number {place} on:\n  real rails\n{}  simulator\n{}",
                self.policy.name(),
                self.nodes,
                self.rails,
                near(live),
                near(simulated),
            );
        }
    }
}

/// A message that a node was given.
fn submission(entry: &Entry) -> Option<Submission> {
    let Noted::Told(Input::Send { to, bytes, rail, whole, .. }) = entry.what else { return None };
    Some(Submission { at: entry.at, from: entry.node, to, bytes, rail, whole })
}

fn go_back_n(window: u32, timeout: Time) -> GoBackNSpec {
    GoBackNSpec { window, timeout, every: 1, after: Time::ZERO, simple: false }
}

/// The scenes of a policy.
fn scenes(policy: PolicyKind, count: u64) -> impl Iterator<Item = Scene> {
    let mut random = Seed(7).stream(policy.name(), 0);
    (0..count).map(move |_| Scene::draw(policy, &mut random))
}

#[test]
fn every_policy_does_the_same_where_nothing_is_lost() {
    for policy in policies() {
        // No packet ever waits for a window or goes again.
        let channel = go_back_n(GoBackNSpec::WIDEST, Time::from_ns(100_000_000_000)).into();
        for scene in scenes(policy, 12) {
            let count = scene.compare(channel, None, &|| Lines::new(Time::ZERO, 0));
            assert!(count > 100, "{count}");
        }
    }
}

#[test]
fn every_policy_does_the_same_over_channels_that_make_losses_good() {
    for policy in policies() {
        let channel = ChannelSpec::from(go_back_n(8, Time::from_ps(400_000_192)));
        for scene in scenes(policy, 12) {
            let lines = || Lines::new(Time::from_ns(2000), 40);
            let count = scene.compare(channel, Some(channel), &lines);
            assert!(count > 100, "{count}");
        }
    }
}

#[test]
fn every_policy_does_the_same_over_channels_that_send_again_what_is_missing() {
    for policy in policies() {
        let (least, after) = (Time::from_ps(400_000_192), Time::from_ps(5_000_128));
        let channel =
            SelectiveSpec { least, ahead: Time::from_ns(20_000), after, ..SelectiveSpec::LIVE }
                .into();
        for scene in scenes(policy, 24) {
            let lines = || Lines::new(Time::from_ns(2000), 40);
            let count = scene.one_way().compare(channel, Some(channel), &lines);
            assert!(count > 70, "{count}");
        }
    }
}
