//! A closed-loop application on nodes and a network, until it is done.

mod inbox;

use super::ChannelUse;
use crate::network::{Blueprint, ChannelTally, Network};
use crate::node::{Audience, Letter, Listener, Nodes, NodesSpec, Receipt};
use crosstie_protocol::{NodeId, PeId};
use crosstie_units::Time;
use crosstie_work::{Action, Application, Input, Rank, Tag};
use inbox::Inbox;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::ControlFlow;

/// A network, its nodes, and how long they may take.
#[derive(Clone, Copy)]
pub struct Play<'a> {
    /// The network.
    pub blueprint: &'a dyn Blueprint,
    /// The nodes. A rank is the first processing element of the node of its number.
    pub nodes: &'a NodesSpec,
    /// When it is given up.
    pub limit: Time,
}

/// What became of an application.
#[derive(Debug, Clone, PartialEq)]
pub struct Played {
    /// Why it failed; `None` if every rank has finished.
    pub failure: Option<String>,
    /// What the iterations took, in the order in which they ended.
    pub iterations: Vec<Time>,
    /// When each rank finished, of those that did.
    pub finished: BTreeMap<Rank, Time>,
    /// How long it took in all.
    pub time: Time,
    /// Payload that an iteration moves.
    pub bytes_per_iteration: u64,
    /// The use of every channel over that time.
    pub channels: Vec<ChannelUse>,
}

/// How often somebody is asked whether to go on, in things that happen.
const WATCHED: u32 = 4096;

impl Play<'_> {
    /// Lets an application run to its end. `watch` is told now and then how much time has been simulated, and
    /// may break off; the answer is then `None`.
    ///
    /// # Panics
    /// If the policy does not fit the network; [`Nodes::new`] tells beforehand.
    pub fn run(
        &self,
        application: &mut dyn Application,
        watch: &mut dyn FnMut(Time) -> ControlFlow<()>,
    ) -> Option<Played> {
        let nodes = Nodes::new(self.nodes, self.blueprint.hosts(), Audience::Replies)
            .expect("the policy fits the network");
        let network = self.blueprint.build(nodes.interest());
        let stage = Stage::default();
        let mut run = Run { network, nodes, stage, application };
        let failure = run.play(self, watch)?;
        assert_eq!(run.nodes.violations(), 0, "nothing that a network does breaks the protocol");
        let time = run.network.now();
        let ticks = run.network.grain().ticks(time).max(1);
        let none = ChannelTally::default();
        let channels = run.network.channels();
        let channels = channels.iter().map(|tally| ChannelUse::between(&none, tally, ticks));
        Some(Played {
            failure,
            iterations: run.stage.iterations,
            finished: run.stage.finished,
            time,
            bytes_per_iteration: run.application.bytes_per_iteration(),
            channels: channels.collect(),
        })
    }
}

/// An application under way.
struct Run<'a> {
    network: Box<dyn Network + 'a>,
    nodes: Nodes,
    stage: Stage,
    application: &'a mut dyn Application,
}

/// What has happened to the ranks and is to be told to them.
#[derive(Default)]
struct Stage {
    inbox: Inbox,
    told: Vec<Input>,
    /// Ranks that compute, and until when.
    computing: BinaryHeap<Reverse<(Time, Rank)>>,
    iterations: Vec<Time>,
    finished: BTreeMap<Rank, Time>,
}

impl Listener for Stage {
    fn delivered(&mut self, receipt: &Receipt) {
        let Letter { from, to, bytes, tag, .. } = receipt.letter;
        self.told.extend(self.inbox.arrive(Rank(to.0), Rank(from.0), Tag(tag), bytes));
    }

    fn completed(&mut self, letter: &Letter) {
        let (rank, to, tag) = (Rank(letter.from.0), Rank(letter.to.0), Tag(letter.tag));
        self.told.push(Input::Completed { rank, to, tag });
    }
}

impl Run<'_> {
    /// Plays to the end; why it failed, if it did. `None` if it was broken off.
    #[expect(clippy::option_option, reason = "broken off, or ended well or not")]
    fn play(
        &mut self,
        play: &Play<'_>,
        watch: &mut dyn FnMut(Time) -> ControlFlow<()>,
    ) -> Option<Option<String>> {
        let ranks = self.application.ranks();
        self.stage.told.extend(ranks.iter().map(|&rank| Input::Begin { rank }));
        self.react();
        let mut steps = 0u32;
        while self.stage.finished.len() < ranks.len() {
            steps = steps.wrapping_add(1);
            if steps.is_multiple_of(WATCHED) && watch(self.network.now()).is_break() {
                return None;
            }
            let now = self.network.now();
            if now >= play.limit {
                let done = self.stage.iterations.len();
                return Some(Some(format!(
                    "not done at the limit of {}, after {done} iterations",
                    play.limit
                )));
            }
            let computed = self.stage.computing.peek().map(|&Reverse((at, _))| at);
            if computed.is_some_and(|at| at <= now) {
                let Reverse((_, rank)) = self.stage.computing.pop().expect("one is due");
                self.stage.told.push(Input::Computed { rank });
            } else if computed.is_none() && !self.nodes.expects(&*self.network) {
                return Some(Some(self.standstill(&ranks, play.blueprint)));
            } else {
                let until = computed.map_or(play.limit, |at| at.min(play.limit));
                self.nodes.step(&mut *self.network, until, &mut self.stage);
            }
            self.react();
        }
        Some(None)
    }

    /// Tells the application what has happened, and does what it wants.
    fn react(&mut self) {
        let now = self.network.now();
        let mut next = 0;
        // Sending may complete something, which is told as well.
        while let Some(&input) = self.stage.told.get(next) {
            next += 1;
            self.application.handle(now, input);
            while let Some(action) = self.application.poll_action(now) {
                self.act(now, action);
            }
        }
        self.stage.told.clear();
    }

    fn act(&mut self, now: Time, action: Action) {
        let stage = &mut self.stage;
        match action {
            Action::Send { rank, to, tag, bytes } => {
                let (from, to, pe) = (NodeId(rank.0), NodeId(to.0), PeId(0));
                let letter = Letter { from, pe, to, bytes, tag: tag.0 };
                self.nodes.send(&mut *self.network, letter, stage);
            }
            Action::Receive { rank, from, tag } => {
                stage.told.extend(stage.inbox.post(rank, from, tag));
            }
            Action::Compute { rank, time } => stage.computing.push(Reverse((now + time, rank))),
            Action::Iteration { took, .. } => stage.iterations.push(took),
            Action::Finish { rank } => {
                stage.finished.entry(rank).or_insert(now);
            }
        }
    }

    /// Why nothing can happen any more.
    fn standstill(&self, ranks: &[Rank], blueprint: &dyn Blueprint) -> String {
        let done = self.stage.iterations.len();
        if let Some(deadlock) = self.network.deadlock() {
            let circle: Vec<_> =
                deadlock.circle.iter().map(|&channel| blueprint.channel_name(channel)).collect();
            return format!(
                "deadlock after {done} iterations: packets wait for each other along {}, and back to \
                 the first ({} buffers stuck in all)",
                circle.join(", then "),
                deadlock.stuck
            );
        }
        let waiting = ranks.iter().filter(|rank| !self.stage.finished.contains_key(rank));
        let waiting: Vec<_> = waiting
            .map(|rank| match self.stage.inbox.awaited(*rank) {
                Some((from, tag)) => {
                    format!("rank {} waits for tag {} from rank {}", rank.0, tag.0, from.0)
                }
                None => format!("rank {} waits for nothing", rank.0),
            })
            .collect();
        format!("nothing can happen after {done} iterations: {}", waiting.join(", "))
    }
}
