//! One network under one open-loop traffic, until its means are steady.
//!
//! A [`Trial`] joins what the rest of this crate keeps apart: it drives an
//! [`Engine`] with a [`Traffic`], feeds [`Steady`] window by window and stops when that is
//! satisfied, when the limit comes, or when the network is deadlocked.
//!
//! **Nodes and rails.** A node has one NIC on each rail, every rail is a copy of the same fabric.
//! A message goes on one rail; each node takes its rails in turn. Loads count per rail.
//!
//! **Schemes.** With a [`ClusterSpec`] the nodes have processing elements that send independently, and
//! a rail scheme decides which part of a message goes on which rail
//! ([`Cluster`]). All processing elements of a node follow its destination
//! pattern, and share its load evenly.
//!
//! **Messages and packets.** Without a scheme, a message becomes one packet or several ([`Packing`](crosstie_work::Packing)), all queued at
//! once. Its latency runs from the cycle it is handed over to the delivery of its last flit. Loads
//! count whole packets, overhead included, so that 1 is a full link.
//!
//! **Time.** Cycles, counted from 0. The engine's ticks, fractions of a cycle, do not leave this
//! module.
//!
//! **Windows.** A sixty-fourth of the least number of cycles, so that the first judgement comes when
//! these are over. The least number of cycles is rounded up to windows where the greatest allows it,
//! which is rounded down.
//!
//! **Deadlock.** Once per window: if some header has waited for 1000 cycles, all buffers are
//! examined, and again when its wait has doubled; and always at the end. A wait of 20,000 cycles and
//! of a hundred packets of the greatest length that is no deadlock is reported as [`Starvation`].

mod findings;
mod ledger;
mod marks;
mod patience;
mod search;

pub use crosstie_work::Workload;
pub use findings::{ChannelUse, Ending, Findings, Measured, Starvation, channel_name};
pub use search::{Searched, TrialError};

use crate::cluster::{Cluster, ClusterSpec};
use crate::wormhole::{Bus, Config, Deadlock, Engine, Layout, Part, Tick};
use crosstie_fabric::Fabric;
use crosstie_measure::{Aim, Estimate, Means, Steady, SteadySpec, Verdict};
use crosstie_protocol::PeId;
use crosstie_routing::Routing;
use crosstie_units::Seed;
use crosstie_work::traffic::{Traffic, TrafficError};
use ledger::Ledger;
use marks::Marks;
use patience::Patience;
use std::ops::ControlFlow;

/// A network and what its nodes send, ready to be tried at any load.
#[derive(Clone, Copy)]
pub struct Trial<'a> {
    /// The network of one rail.
    pub fabric: &'a Fabric,
    /// How packets find their way through it.
    pub routing: &'a dyn Routing,
    /// How many copies of it there are.
    pub rails: u32,
    /// Switches, links and buses.
    pub config: &'a Config,
    /// The processing elements of nodes and their rail scheme, if they have one.
    pub cluster: Option<&'a ClusterSpec>,
    /// What the nodes, or their processing elements, send.
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

/// Windows before the first judgement of [`Steady`].
const FIRST_JUDGEMENT: u64 = 64;

impl Effort {
    /// Cycles per window.
    fn window(&self) -> u64 {
        self.min_cycles.div_ceil(FIRST_JUDGEMENT).min(self.max_cycles / FIRST_JUDGEMENT).max(1)
    }
}

impl Trial<'_> {
    /// What the processing elements of each number send at a load, on all nodes; those of one number
    /// without a scheme.
    pub fn traffic(&self, load: f64) -> Result<Vec<Traffic>, TrafficError> {
        let hosts = self.fabric.hosts().len() as u32;
        let pes = self.cluster.map_or(1, |spec| spec.pes);
        let traffic = |pe: u32| {
            let seed = if pe == 0 { self.seed } else { self.seed.child("pe", u64::from(pe)) };
            self.workload.traffic(seed, hosts, self.rails, load / f64::from(pes))
        };
        (0..pes).map(traffic).collect()
    }

    /// Runs the network at a load, in flits per cycle, rail and sending host.
    ///
    /// `watch` is told after every window how many cycles have been simulated, and may break off;
    /// the answer is then `None`. The result depends on nothing but the trial and the load.
    ///
    /// # Panics
    /// If the rail scheme does not fit the network; [`Cluster::new`]
    /// tells beforehand.
    pub fn run(
        &self,
        load: f64,
        watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Option<Findings>, TrafficError> {
        let ended = self.run_for(Aim::Means, load, watch)?;
        Ok(ended.map(|ended| ended.findings(load)))
    }

    fn run_for(
        &self,
        aim: Aim,
        load: f64,
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
            limit: self.effort.max_cycles,
        });
        let mut patience = Patience::new();
        loop {
            let cycles = steady.cycles();
            run.marks.pass(cycles, &mut run.engine, run.ledger.totals);
            let before = run.ledger.totals;
            run.advance(cycles + window);
            let finished = steady.observe(run.ledger.window(&before)).is_final();
            let deadlock =
                if finished { run.engine.deadlock() } else { patience.look(&run.engine) };
            if finished || deadlock.is_some() {
                return Ok(Some(Ended { run, steady, deadlock }));
            }
            if watch(steady.cycles()).is_break() {
                return Ok(None);
            }
        }
    }
}

/// A run at its end.
struct Ended<'a> {
    run: Run<'a>,
    steady: Steady,
    deadlock: Option<Deadlock>,
}

impl Ended<'_> {
    /// What was handed over, in flits per cycle, rail and sending host.
    fn offered(&self) -> f64 {
        let generated = self.run.ledger.totals.generated as f64;
        generated / self.steady.cycles() as f64 / self.run.senders()
    }

    /// What may be said of a run for means, or of one that deadlocked.
    fn findings(mut self, load: f64) -> Findings {
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
    engine: Engine<'a>,
    cluster: Option<Cluster>,
    /// What the processing elements of one number send, on all nodes; one without a scheme.
    traffic: Vec<Traffic>,
    ledger: Ledger,
    marks: Marks,
}

impl<'a> Run<'a> {
    fn new(trial: &'a Trial<'a>, traffic: Vec<Traffic>) -> Run<'a> {
        let Trial { fabric, rails, config, workload, .. } = *trial;
        let window = trial.effort.window();
        let hosts = fabric.hosts().len() as u32;
        Run {
            trial,
            engine: Engine::new(fabric, trial.routing, rails, config),
            cluster: trial
                .cluster
                .map(|spec| Cluster::new(fabric, spec).expect("the rail scheme fits the network")),
            traffic,
            ledger: Ledger::new(workload.packing, hosts, rails, config.ticks, window),
            marks: Marks::new(window),
        }
    }

    /// Simulates every cycle before this one.
    fn advance(&mut self, until: u64) {
        let next = |traffic: &[Traffic]| {
            let cycles = traffic.iter().map(Traffic::next_cycle);
            cycles.enumerate().min_by_key(|&(_, cycle)| cycle).expect("somebody sends")
        };
        while let (pe, cycle) = next(&self.traffic)
            && cycle < until
        {
            let message = self.traffic[pe].draw();
            self.simulate_until(self.ledger.tick(message.cycle));
            let Run { engine, ledger, .. } = self;
            match &mut self.cluster {
                None => ledger.send(engine, message),
                Some(cluster) => ledger.hand_over(engine, cluster, PeId(pe as u32), message),
            }
        }
        self.simulate_until(self.ledger.tick(until));
    }

    fn simulate_until(&mut self, tick: Tick) {
        match &mut self.cluster {
            None => self.engine.run_until(tick, &mut self.ledger),
            Some(cluster) => cluster.run_until(&mut self.engine, tick, &mut self.ledger),
        }
    }

    /// How many hosts send, on all rails.
    fn senders(&self) -> f64 {
        f64::from(self.traffic[0].senders()) * f64::from(self.trial.rails)
    }

    /// What may be said at the end, given a final verdict.
    fn conclude(&mut self, load: f64, verdict: &Verdict) -> Findings {
        let outcome = *verdict.outcome().expect("the verdict is final");
        let violations = self.cluster.as_ref().map_or(0, Cluster::violations);
        assert_eq!(violations, 0, "no input of the rail scheme breaks its protocol");
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
            starving: Patience::starving(&self.engine, self.ledger.longest_packet),
        }
    }

    fn measured(&mut self, outcome: &Means) -> Measured {
        let (totals, config) = (self.ledger.totals, self.trial.config);
        let ticks_per_cycle = u64::from(config.ticks);
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
        let layout = Layout::new(self.trial.fabric, self.trial.rails);
        let pool_peak = self.engine.pool_peaks().into_iter().max();
        let (counts, _) = self.engine.counts();
        let channels = (0..)
            .zip(mark.channels.iter().zip(counts))
            .map(|(channel, (before, after))| {
                let (_, part) = layout.place(channel);
                ChannelUse::between(before, after, cost(part, config), ticks)
            })
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
            pool_peak,
            channels,
        }
    }
}

/// For how many ticks a flit keeps a channel busy.
fn cost(part: Part, config: &Config) -> u32 {
    match (part, config.bus) {
        (Part::Read(_), Bus::Shared { read, .. }) => read,
        (Part::Write(_), Bus::Shared { write, .. }) => write,
        _ => config.ticks,
    }
}

#[cfg(test)]
mod tests;
