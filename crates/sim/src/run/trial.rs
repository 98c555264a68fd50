//! One network under one open-loop traffic, until its means are steady.
//!
//! A [`Trial`] joins what is kept apart elsewhere: it hands the messages of a [`Traffic`] to
//! [`Nodes`] on a [`Network`], feeds [`Steady`] window by window and stops when that is satisfied,
//! when the limit comes, or when the network is deadlocked.
//!
//! **Loads.** All processing elements of a node follow its destination pattern, and share its load
//! evenly. Loads count per rail, in flits, and whole packets, overhead included, so that 1 is a
//! full link. A message's latency runs from the cycle it is handed over to the delivery of its last
//! flit.
//!
//! **Time.** Cycles, counted from 0.
//!
//! **Windows.** A sixty-fourth of the least number of cycles, so that the first judgement comes
//! when these are over. The least number of cycles is rounded up to windows where the greatest
//! allows it, which is rounded down.
//!
//! **Deadlock.** Once per window: if some header has waited for 1000 cycles, all buffers are
//! examined, and again when its wait has doubled; and always at the end. A wait of 20,000 cycles
//! and of a hundred packets of the greatest length that is no deadlock is reported as
//! [`Starvation`](super::Starvation).

use super::ledger::{Ledger, Totals};
use super::marks::Marks;
use super::patience::Patience;
use super::{ChannelUse, Ending, Findings, Measured};
use crate::network::{Blueprint, Deadlock, Network};
use crate::node::{Audience, Letter, Nodes, NodesSpec};
use crosstie_measure::{Aim, Estimate, Means, Steady, SteadySpec, Verdict};
use crosstie_protocol::{NodeId, PeId};
use crosstie_units::Seed;
use crosstie_work::Workload;
use crosstie_work::traffic::{Message, Traffic, TrafficError};
use std::ops::ControlFlow;

/// A network and what its nodes send, ready to be tried at any load.
#[derive(Clone, Copy)]
pub struct Trial<'a> {
    /// The network.
    pub blueprint: &'a dyn Blueprint,
    /// The nodes.
    pub nodes: &'a NodesSpec,
    /// What their processing elements send.
    pub workload: &'a Workload,
    /// Where all randomness comes from.
    pub seed: Seed,
    /// How long to run.
    pub effort: Effort,
}

/// How long a run lasts, and how exact it has to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Largest relative half-width of the means' intervals.
    pub precision: f64,
    /// Confidence of these intervals.
    pub confidence: f64,
    /// Cycles simulated at least, unless the network deadlocks.
    pub min_cycles: u64,
    /// Cycles simulated at most.
    pub max_cycles: u64,
}

/// Cycles after which somebody is asked whether to go on, where windows are longer.
const PAUSE: usize = 4096;

/// Windows before the first judgement of [`Steady`].
const FIRST_JUDGEMENT: u64 = 64;

impl Effort {
    /// Cycles per window.
    fn window(&self) -> u64 {
        self.min_cycles.div_ceil(FIRST_JUDGEMENT).min(self.max_cycles / FIRST_JUDGEMENT).max(1)
    }
}

impl Trial<'_> {
    /// What the processing elements of each number send at a load, on all nodes.
    pub fn traffic(&self, load: f64) -> Result<Vec<Traffic>, TrafficError> {
        let (hosts, rails) = (self.blueprint.hosts(), self.blueprint.rails());
        assert_eq!(self.workload.pattern.hosts(), hosts, "the pattern is one of this network");
        let pes = self.nodes.pes;
        let traffic = |pe: u32| {
            let seed = if pe == 0 { self.seed } else { self.seed.child("pe", u64::from(pe)) };
            self.workload.traffic(seed, rails, load / f64::from(pes))
        };
        (0..pes).map(traffic).collect()
    }

    /// Runs the network at a load, in flits per cycle, rail and sending host.
    ///
    /// `watch` is told now and then how many cycles have been simulated, and may break off;
    /// the answer is then `None`. The result depends on nothing but the trial and the load.
    ///
    /// # Panics
    /// If the policy does not fit the network; [`Nodes::new`] tells beforehand.
    pub fn run(
        &self,
        load: f64,
        watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Option<Findings>, TrafficError> {
        let ended = self.run_for(Aim::Means, load, None, watch)?;
        Ok(ended.map(|ended| ended.findings(load)))
    }

    /// Runs the network at a load for an aim, and breaks off when it has done this much work.
    pub(super) fn run_for(
        &self,
        aim: Aim,
        load: f64,
        budget: Option<u64>,
        watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Option<Ended<'_>>, TrafficError> {
        let mut run = Run::new(self, self.traffic(load)?);
        let window = self.effort.window();
        let mut steady = Steady::new(SteadySpec {
            aim,
            window,
            precision: self.effort.precision,
            confidence: self.effort.confidence,
            messages: self.workload.least_messages(),
            lump: self.workload.lump(),
            sources: run.traffic.iter().map(|traffic| u64::from(traffic.senders())).sum(),
            limit: self.effort.max_cycles,
        });
        let mut patience = Patience::new();
        loop {
            let cycles = steady.cycles();
            run.marks.pass(cycles, &mut *run.network, run.ledger.totals);
            let before = run.ledger.totals;
            for pause in (cycles..cycles + window).step_by(PAUSE).skip(1) {
                run.advance(pause);
                if watch(pause).is_break() {
                    return Ok(None);
                }
            }
            run.advance(cycles + window);
            let finished = steady.observe(run.ledger.window(&before)).is_final();
            let deadlock =
                if finished { run.network.deadlock() } else { patience.look(&*run.network) };
            let is_spent = budget.is_some_and(|budget| run.work() >= budget);
            if finished || deadlock.is_some() || is_spent {
                return Ok(Some(Ended { run, steady, deadlock }));
            }
            if watch(steady.cycles()).is_break() {
                return Ok(None);
            }
        }
    }
}

/// A run at its end.
pub(super) struct Ended<'a> {
    run: Run<'a>,
    pub steady: Steady,
    pub deadlock: Option<Deadlock>,
}

impl Ended<'_> {
    /// What the run has cost.
    pub fn work(&self) -> u64 {
        self.run.work()
    }

    /// What was handed over, in flits per cycle, rail and sending host.
    pub fn offered(&self) -> f64 {
        let generated = self.run.ledger.totals.generated as f64;
        generated / self.steady.cycles() as f64 / self.run.senders()
    }

    /// What may be said of a run for means, or of one that deadlocked.
    pub fn findings(mut self, load: f64) -> Findings {
        let cycles = self.steady.cycles();
        match self.deadlock {
            None => self.run.conclude(load, self.steady.verdict()),
            Some(deadlock) => {
                let ending = Ending::Deadlocked(deadlock);
                Findings { load, ending, cycles, measured: None, starving: None }
            }
        }
    }
}

/// A trial in motion.
struct Run<'a> {
    trial: &'a Trial<'a>,
    network: Box<dyn Network + 'a>,
    nodes: Nodes,
    /// What the processing elements of one number send, on all nodes.
    traffic: Vec<Traffic>,
    ledger: Ledger,
    marks: Marks,
    /// How often it was advanced.
    advances: u64,
}

impl<'a> Run<'a> {
    fn new(trial: &'a Trial<'a>, traffic: Vec<Traffic>) -> Run<'a> {
        let window = trial.effort.window();
        let nodes = Nodes::new(trial.nodes, trial.blueprint.hosts(), Audience::Silent)
            .expect("the policy fits the network");
        let network = trial.blueprint.build(nodes.interest());
        let ledger = Ledger::new(trial.workload.flits, trial.nodes, network.grain(), window);
        Run { trial, network, nodes, traffic, ledger, marks: Marks::new(window), advances: 0 }
    }

    /// Simulates every cycle before this one.
    fn advance(&mut self, until: u64) {
        self.advances += 1;
        let next = |traffic: &[Traffic]| {
            let cycles = traffic.iter().map(Traffic::next_cycle);
            cycles.enumerate().min_by_key(|&(_, cycle)| cycle).expect("somebody sends")
        };
        let Run { network, nodes, traffic, ledger, .. } = self;
        let grain = network.grain();
        while let (pe, cycle) = next(traffic)
            && cycle < until
        {
            let Message { from, to, bytes, .. } = traffic[pe].draw();
            nodes.run_until(&mut **network, grain.start(cycle), ledger);
            ledger.generated(bytes);
            let letter = Letter {
                from: NodeId(from),
                pe: PeId(pe as u32),
                to: NodeId(to),
                bytes,
                id: 0,
                rail: None,
                whole: false,
                placed: true,
            };
            nodes.send(&mut **network, letter, ledger);
        }
        nodes.run_until(&mut **network, grain.start(until), ledger);
    }

    /// What has been done; see [`SearchSpec::budget`](super::SearchSpec::budget).
    fn work(&self) -> u64 {
        let Totals { handed_over, packets, switches, .. } = self.ledger.totals;
        self.advances + handed_over + packets + switches + self.network.steps()
    }

    /// How many hosts send, on all rails.
    fn senders(&self) -> f64 {
        f64::from(self.traffic[0].senders()) * f64::from(self.trial.blueprint.rails())
    }

    /// What may be said at the end, given a final verdict.
    fn conclude(&mut self, load: f64, verdict: &Verdict) -> Findings {
        let outcome = *verdict.outcome().expect("the verdict is final");
        assert_eq!(self.nodes.violations(), 0, "nothing that a network does breaks the protocol");
        let ending = match verdict {
            Verdict::Saturated(_) => Ending::Saturated,
            Verdict::NotConverged(_, doubts) => Ending::NotConverged(doubts.clone()),
            Verdict::Converged(_) | Verdict::Continue => Ending::Converged,
        };
        Findings {
            load,
            ending,
            cycles: outcome.cycles,
            measured: Some(self.measured(&outcome)),
            starving: Patience::starving(&*self.network, self.ledger.longest),
        }
    }

    fn measured(&mut self, outcome: &Means) -> Measured {
        let totals = self.ledger.totals;
        let ticks_per_cycle = self.network.grain().ticks_per_cycle();
        let senders = self.senders();
        let accepted = Estimate {
            mean: outcome.accepted.mean / senders,
            half_width: outcome.accepted.half_width / senders,
            ..outcome.accepted
        };
        let mark = self.marks.at_or_after(outcome.warm_up);
        let packets = totals.packets - mark.totals.packets;
        let mean =
            |sum: u64, unit: u64| (packets > 0).then(|| sum as f64 / (packets * unit) as f64);
        let ticks = (outcome.cycles - mark.cycle) * ticks_per_cycle;
        let channels = (mark.channels.iter().zip(self.network.channels()))
            .map(|(before, after)| ChannelUse::between(before, &after, ticks))
            .collect();
        Measured {
            warm_up: outcome.warm_up,
            offered: outcome.offered / senders,
            accepted,
            latency: outcome.latency,
            latencies: self.ledger.log.since(mark.cycle),
            packets,
            network_mean: mean(totals.network - mark.totals.network, ticks_per_cycle),
            switches_mean: mean(totals.switches - mark.totals.switches, 1),
            pool_peak: self.network.pool_peak(),
            carried: self.network.carried(),
            channels,
        }
    }
}
