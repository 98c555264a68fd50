//! A closed-loop application on hosts, until it is done.

use super::ChannelUse;
use crate::host::{
    Envelopes, Episode, Hosting, Hosts, Messaging, MessagingSpec, Overhead, Ways, Wires,
};
use crate::network::{Blueprint, BufferTally, ChannelTally, Network};
use crate::node::{Audience, Nodes, NodesSpec, Overflows};
use crate::premises::Carried;
use crosstie_protocol::channel::{History, Tally};
use crosstie_units::Time;
use crosstie_work::{Action, Application, Input, Note, Rank, Turn};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// A network, its nodes and hosts, and how long they may take.
#[derive(Clone, Copy)]
pub struct Play<'a> {
    /// The network.
    pub blueprint: &'a dyn Blueprint,
    /// The nodes. A rank is a processing element: the first are those of the first node.
    pub nodes: &'a NodesSpec,
    /// How ranks exchange messages; `None`: a message is handed to the node as it is, which then
    /// is one rank.
    pub messaging: Option<MessagingSpec>,
    /// What hosts take for sending and receiving; `None`: no time.
    pub overhead: Option<Overhead>,
    /// When it is given up.
    pub limit: Time,
    /// Whether to keep what messages and computations went through.
    pub records: bool,
}

/// What became of an application.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Played {
    /// Why it failed; `None` if every rank has finished.
    pub failure: Option<String>,
    /// What the iterations took, one after the other: each as long as for the rank for which it
    /// took longest.
    pub iterations: Vec<Time>,
    /// What else ranks have measured, in the order in which they did.
    pub notes: Vec<(Rank, Note)>,
    /// When each rank finished, of those that did.
    pub finished: BTreeMap<Rank, Time>,
    /// How long it took in all.
    pub time: Time,
    /// Payload that an iteration moves.
    pub bytes_per_iteration: u64,
    /// The use of every channel over that time.
    pub channels: Vec<ChannelUse>,
    /// What the memories of switches have done.
    pub buffers: Vec<BufferTally>,
    /// What became of packets on their way.
    pub delivery: Delivery,
    /// What was recorded, in the order in which it ended.
    pub episodes: Vec<Episode>,
}

/// What became of packets on their way, where some may be lost.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Delivery {
    /// Packets that the network has lost.
    pub lost: u64,
    /// Packets that commodity nodes had no room for.
    pub overflows: Overflows,
    /// How often a rail to a node was taken for dead, where nodes outlive their rails.
    pub deaths: Option<u64>,
    /// What channels have sent and received.
    pub channels: Option<Tally>,
    /// What each of their senders has been through.
    pub histories: Vec<History>,
    /// What each competitor has got across.
    pub carried: Vec<Carried>,
    /// Envelopes between ranks, where there are any.
    pub envelopes: Option<Envelopes>,
}

impl Delivery {
    fn of(nodes: &Nodes, network: &dyn Network, envelopes: Option<Envelopes>) -> Delivery {
        Delivery {
            lost: nodes.lost(),
            overflows: nodes.overflows(),
            deaths: nodes.deaths(),
            channels: nodes.channel_tally(),
            histories: nodes.histories().cloned().collect(),
            carried: network.carried(),
            envelopes,
        }
    }
}

/// How often somebody is asked whether to go on, in things that happen.
const WATCHED: u32 = 4096;

impl<'a> Play<'a> {
    /// Lets an application run to its end. `watch` is told now and then how much time has been
    /// simulated, and may break off; the answer is then `None`.
    ///
    /// # Panics
    /// If the policy does not fit the network; [`Nodes::new`] tells beforehand.
    pub fn run(
        &self,
        application: &mut dyn Application,
        watch: &mut dyn FnMut(Time) -> ControlFlow<()>,
    ) -> Option<Played> {
        let Some(messaging) = self.messaging else {
            return self.run_on(self.hosts(self.ways()), application, watch);
        };
        let (hosts, pes) = (self.blueprint.hosts(), self.nodes.pes);
        let cluster = self.cluster(Audience::Follows);
        let overhead = self.overhead;
        let ranks = Messaging::new(messaging, cluster, (hosts, pes), overhead, self.records);
        self.run_on(ranks, application, watch)
    }

    /// Hosts that hand messages to their nodes as they are.
    pub(super) fn hosts(&self, ways: Ways<'a>) -> Hosts<'a> {
        let size = (self.blueprint.hosts(), self.nodes.rails);
        Hosts::new(ways, size, self.overhead, self.records)
    }

    /// The nodes and the network between them.
    fn cluster(&self, audience: Audience) -> (Nodes, Box<dyn Network + 'a>) {
        let nodes = Nodes::new(self.nodes, self.blueprint.hosts(), audience)
            .expect("the policy fits the network");
        let network = self.blueprint.build(nodes.interest());
        (nodes, network)
    }

    /// How messages get from host to host: over plain wires, where nodes and network do nothing
    /// else.
    fn ways(&self) -> Ways<'a> {
        let packing = self.nodes.packing;
        match self.blueprint.wires() {
            Some(spec)
                if packing.payload.is_none()
                    && !self.nodes.paces()
                    && self.nodes.is_plain()
                    && self.nodes.injection.is_plain() =>
            {
                Ways::Wires(Wires::new(spec, packing.overhead))
            }
            _ => self.through_nodes(),
        }
    }

    /// Through nodes and network, whatever these do.
    pub(super) fn through_nodes(&self) -> Ways<'a> {
        let audience = match self.overhead {
            None => Audience::Replies,
            Some(_) => Audience::Receives,
        };
        let (nodes, network) = self.cluster(audience);
        Ways::Nodes { nodes: Box::new(nodes), network, pace: self.blueprint.pace() }
    }

    pub(super) fn run_on(
        &self,
        hosts: impl Hosting,
        application: &mut dyn Application,
        watch: &mut dyn FnMut(Time) -> ControlFlow<()>,
    ) -> Option<Played> {
        let mut run = Run { hosts, application, told: Vec::new(), notes: Notes::default() };
        let failure = run.play(self, watch)?;
        let Run { mut hosts, notes, .. } = run;
        let time = hosts.now();
        assert_eq!(hosts.violations(), 0, "nothing that a network does breaks the protocol");
        let (mut channels, mut buffers, mut delivery) = Default::default();
        let envelopes = hosts.envelopes();
        if let Some((nodes, network)) = hosts.network() {
            assert_eq!(nodes.violations(), 0, "nothing that a network does breaks the protocol");
            let ticks = network.grain().ticks(time).max(1);
            let none = ChannelTally::default();
            let tallies = network.channels();
            channels = tallies.iter().map(|t| ChannelUse::between(&none, t, ticks)).collect();
            buffers = network.buffers();
            delivery = Delivery::of(nodes, network, envelopes);
        }
        Some(Played {
            failure,
            iterations: notes.iterations(&application.timekeepers()),
            notes: notes.noted,
            finished: notes.finished,
            time,
            bytes_per_iteration: application.bytes_per_iteration(),
            channels,
            buffers,
            delivery,
            episodes: hosts.take_episodes(),
        })
    }
}

/// What ranks have written down.
#[derive(Default)]
struct Notes {
    took: BTreeMap<Rank, Vec<Time>>,
    noted: Vec<(Rank, Note)>,
    finished: BTreeMap<Rank, Time>,
}

impl Notes {
    /// Iterations that are over for all who keep time.
    fn over(&self, timekeepers: &[Rank]) -> usize {
        let over = |rank| self.took.get(rank).map_or(0, Vec::len);
        timekeepers.iter().map(over).min().unwrap_or(0)
    }

    fn iterations(&self, timekeepers: &[Rank]) -> Vec<Time> {
        let longest = |number: usize| self.took.values().map(|took| took[number]).max();
        (0..self.over(timekeepers)).filter_map(longest).collect()
    }
}

/// An application under way.
struct Run<'a, H> {
    hosts: H,
    application: &'a mut dyn Application,
    told: Vec<Input>,
    notes: Notes,
}

impl<H: Hosting> Run<'_, H> {
    /// Plays to the end; why it failed, if it did. `None` if it was broken off.
    #[expect(clippy::option_option, reason = "broken off, or ended well or not")]
    fn play(
        &mut self,
        play: &Play<'_>,
        watch: &mut dyn FnMut(Time) -> ControlFlow<()>,
    ) -> Option<Option<String>> {
        let ranks = self.application.ranks();
        self.told.extend(ranks.iter().map(|&rank| Input::Begin { rank }));
        self.react();
        let mut steps = 0u32;
        while self.notes.finished.len() < ranks.len() {
            steps = steps.wrapping_add(1);
            if steps.is_multiple_of(WATCHED) && watch(self.hosts.now()).is_break() {
                return None;
            }
            if self.hosts.now() >= play.limit {
                let done = self.notes.over(&self.application.timekeepers());
                return Some(Some(format!(
                    "not done at the limit of {}, after {done} iterations",
                    play.limit
                )));
            }
            let timeout = self.application.poll_timeout();
            if timeout.is_some_and(|at| at <= self.hosts.now()) {
                self.application.handle_timeout(self.hosts.now());
                self.serve(Turn::LAST);
                self.react();
                continue;
            }
            if timeout.is_none() && !self.hosts.expects() {
                return Some(Some(self.standstill(&ranks, play.blueprint)));
            }
            let until = timeout.map_or(play.limit, |at| at.min(play.limit));
            if !self.hosts.step(until) && watch(self.hosts.now()).is_break() {
                return None;
            }
            self.hosts.take_told(&mut self.told);
            if let Some(pair) = self.hosts.cut_off() {
                return Some(Some(self.unreachable(pair, play)));
            }
            self.react();
        }
        Some(None)
    }

    /// Tells the application what has happened, and does what it wants.
    fn react(&mut self) {
        let mut next = 0;
        // What begins may be done at once, which is told as well.
        while let Some(&input) = self.told.get(next) {
            next += 1;
            self.application.handle(self.hosts.now(), input);
            self.serve(input.turn());
        }
        self.told.clear();
    }

    /// Does what the application wants, which waited for something of this turn at least.
    fn serve(&mut self, earliest: Turn) {
        let now = self.hosts.now();
        while let Some(action) = self.application.poll_action(now) {
            match action {
                Action::Begin { rank, request, op, watched, turn } => {
                    self.hosts.begin(rank, request, op, watched, turn.max(earliest));
                    self.hosts.take_told(&mut self.told);
                }
                Action::Iteration { rank, took } => {
                    self.notes.took.entry(rank).or_default().push(took);
                }
                Action::Note { rank, note } => self.notes.noted.push((rank, note)),
                Action::Finish { rank } => {
                    self.notes.finished.entry(rank).or_insert(now);
                }
            }
        }
    }

    /// Why the work cannot go on: a rank has something for another and finds no way to it.
    fn unreachable(&self, (rank, peer): (Rank, Rank), play: &Play<'_>) -> String {
        let done = self.notes.over(&self.application.timekeepers());
        let patience = play.nodes.patience.map_or(Time::ZERO, |patience| patience.give_up);
        format!(
            "rank {} is unreachable after {done} iterations: rank {} has found no rail to it for {patience}",
            peer.0, rank.0
        )
    }

    /// Why nothing can happen any more.
    fn standstill(&mut self, ranks: &[Rank], blueprint: &dyn Blueprint) -> String {
        let done = self.notes.over(&self.application.timekeepers());
        let deadlock = self.hosts.network().and_then(|(_, network)| network.deadlock());
        if let Some(deadlock) = deadlock {
            let circle: Vec<_> =
                deadlock.circle.iter().map(|&channel| blueprint.channel_name(channel)).collect();
            return format!(
                "deadlock after {done} iterations: packets wait for each other along {}, and back to \
                 the first ({} buffers stuck in all)",
                circle.join(", then "),
                deadlock.stuck
            );
        }
        let waiting = ranks.iter().filter(|rank| !self.notes.finished.contains_key(rank));
        let waiting: Vec<_> = waiting.map(|rank| self.waiting(*rank)).collect();
        let lost = self.hosts.network().map_or(0, |(nodes, _)| {
            let Overflows { ring, pool } = nodes.overflows();
            nodes.lost() + ring + pool
        });
        let lost = match lost {
            0 => String::new(),
            lost => format!("; {lost} packets were lost, and nobody sends them again"),
        };
        format!("nothing can happen after {done} iterations: {}{lost}", listed(&waiting))
    }

    /// What a rank waits for, in words.
    fn waiting(&self, rank: Rank) -> String {
        let Some((from, tag, request)) = self.hosts.awaited(rank) else {
            return format!("rank {} waits for nothing", rank.0);
        };
        let tag = tag.map_or("any tag".to_owned(), |tag| format!("tag {}", tag.0));
        let from = from.map_or("any rank".to_owned(), |from| format!("rank {}", from.0));
        let op = self.application.describe(rank, request);
        let op = op.map_or(String::new(), |op| format!(" ({op})"));
        format!("rank {} waits for {tag} from {from}{op}", rank.0)
    }
}

/// The first few of many.
fn listed(all: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = all[..all.len().min(SHOWN)].join(", ");
    if all.len() > SHOWN {
        text += &format!(" and {} more", all.len() - SHOWN);
    }
    text
}
