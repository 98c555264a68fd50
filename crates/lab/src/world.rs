//! What one point describes, ready to be tried.

use crate::ethernet::{Ethernet, ethernet, pace};
use crate::live::Plan;
use crate::parameters::cluster;
use crate::round_trip::RoundTrip;
use crate::schedule::Script;
use crate::{LabError, RoutedFabric, destination, elan, hardware, nodes, rails};
use crosstie_model::Cluster;
use crosstie_protocol::{Injection, Pacing, Packing};
use crosstie_sim::elan::{ElanSpec, WithElans};
use crosstie_sim::frame::FrameSpec;
use crosstie_sim::host::{MessagingSpec, Overhead};
use crosstie_sim::ideal::{IdealSpec, UnequalSpec};
use crosstie_sim::network::{Blueprint, Grain, Pace};
use crosstie_sim::node::NodesSpec;
use crosstie_sim::premises::{Equipped, PremisesSpec};
use crosstie_sim::run::{Effort, Play, Trial};
use crosstie_sim::wormhole::{Config, WormholeSpec};
use crosstie_study::{self as study, Goal, Packet, Spec, TrafficSpec, Work};
use crosstie_units::{Bytes, Seed, Time};
use crosstie_work::traffic::TrafficError;
use crosstie_work::{
    self as work, Application, Flits, Ping, PingSpec, Rank, Stream, StreamSpec, Workload,
};
use std::path::PathBuf;
use std::sync::Arc;

/// A network, its hardware and what its nodes do.
pub struct World {
    network: Arc<RoutedFabric>,
    ground: Ground,
    premises: PremisesSpec,
    nodes: NodesSpec,
    /// What hosts take for sending and receiving.
    overhead: Option<Overhead>,
    /// How ranks exchange messages.
    messaging: Option<MessagingSpec>,
    task: Task,
    /// How long a cycle is.
    cycle: Time,
    /// Sentences for the note of the row.
    remarks: Vec<String>,
}

/// What the networks are.
enum Ground {
    Wormhole {
        config: Config,
        flit: u32,
        /// The NICs, if they are Elans.
        elan: Option<Box<ElanSpec>>,
    },
    Frame(Ethernet),
    Model {
        cluster: Box<Cluster>,
        ideal: IdealSpec,
    },
    /// No network of ours: real ranks have their own.
    Live {
        plan: Box<Plan>,
        ideal: IdealSpec,
    },
    Ideal(IdealSpec),
    /// The ideal network with rails that differ or change.
    Unequal(UnequalSpec),
}

/// What is to be done and measured.
pub(crate) enum Task {
    /// Open-loop traffic.
    Traffic { workload: Box<Workload>, seed: Seed, effort: Effort, goal: Goal },
    /// Closed-loop work: nothing of it is random.
    Application { work: Work, script: Option<Script>, confidence: f64, limit: Time },
}

/// The end of the clock: half of what picoseconds can count, so that no sum overflows.
const LAST: Time = Time::from_ps(u64::MAX / 2);
/// The most packets that a message may be cut into: what numbers of packets can count.
const MOST_PACKETS: u64 = 1 << crosstie_sim::network::Packet::NUMBER;

impl World {
    /// Builds everything that a spec describes; `locate` tells where the paths in it lead.
    pub fn build(spec: &Spec, locate: &dyn Fn(&str) -> PathBuf) -> Result<World, LabError> {
        let network = RoutedFabric::build(&spec.fabric, &spec.routing, locate)?;
        World::on(Arc::new(network), spec, locate)
    }

    /// The same on a network that was built before from the same spec.
    pub(crate) fn on(
        network: Arc<RoutedFabric>,
        spec: &Spec,
        locate: &dyn Fn(&str) -> PathBuf,
    ) -> Result<World, LabError> {
        let mut remarks = Vec::new();
        let hosts = network.fabric.hosts().len() as u32;
        let cycle = spec.link.cycle();
        // What only one world knows is checked always, and used when that world is chosen.
        let mut ignored = Vec::new();
        let is_wormhole = spec.world == study::World::Wormhole;
        let config = hardware::config(spec, if is_wormhole { &mut remarks } else { &mut ignored })?;
        check_time(spec, &config)?;
        rails::check_hosts(spec, hosts)?;
        let ranks = spec.ranks(hosts);
        let script = Script::of(spec, ranks, locate)?;
        let ground = match spec.world {
            study::World::Wormhole => {
                hardware::check_memory(spec, &network.fabric)?;
                hardware::check_order(spec, &network)?;
                remarks.splice(0..0, network.remarks.iter().cloned());
                // The range of the experiment file lies within the type.
                let flit = spec.link.flit.get() as u32;
                Ground::Wormhole { config, flit, elan: elan::elan(spec).map(Box::new) }
            }
            study::World::Frame => {
                remarks.splice(0..0, network.remarks.iter().cloned());
                Ground::Frame(ethernet(spec, &network.fabric))
            }
            study::World::Ideal => {
                let alike = ideal(spec, hosts);
                rails::unequal(spec, &alike).map_or(Ground::Ideal(alike), Ground::Unequal)
            }
            study::World::Model => Ground::Model {
                cluster: Box::new(cluster(spec, &network, locate)?),
                ideal: ideal(spec, hosts),
            },
            study::World::Live => Ground::Live {
                plan: Box::new(Plan::of(spec, hosts, script.as_ref(), locate)?),
                ideal: ideal(spec, hosts),
            },
        };
        let longest = longest(spec, script.as_ref());
        let injection = injection(spec, script.as_ref())?;
        let round_trip = RoundTrip::new(spec, &network.fabric, longest);
        let nodes = nodes::nodes(spec, hosts, &round_trip, injection)?;
        let task = match &spec.work {
            Work::Traffic(traffic) => open_loop(spec, traffic, &network, nodes.packing, locate)?,
            Work::Ping(study::Ping { size, from, to, .. }) => {
                check_rank("work.ping", *from.max(to), ranks)?;
                check_packets(spec, "work.ping.size", *size)?;
                closed_loop(spec, script)
            }
            Work::Stream(study::Stream { size, from, to, pairs, .. }) => {
                check_rank("work.stream", from.max(to) + pairs - 1, ranks)?;
                check_packets(spec, "work.stream.size", *size)?;
                closed_loop(spec, script)
            }
            Work::Collective(_) | Work::Pairs(_) | Work::Read(_) | Work::Goal(_) => {
                let key = match &spec.work {
                    Work::Collective(operation) => format!("work.{}", operation.name()),
                    Work::Pairs(_) => "work.pairs.size".to_owned(),
                    Work::Read(_) => "work.read.size".to_owned(),
                    _ => "work.goal.file".to_owned(),
                };
                check_packets(spec, &key, longest)?;
                closed_loop(spec, script)
            }
        };
        let overhead = nodes::overhead(&spec.node);
        let ranks = round_trip.profile().zip(spec.message.as_ref());
        let messaging = ranks.map(|(profile, message)| nodes::messaging(spec, &profile, message));
        let premises = rails::premises(spec, nodes.packing);
        let mut world =
            World { network, ground, premises, nodes, overhead, messaging, task, cycle, remarks };
        if let Ground::Frame(ethernet) = &world.ground {
            let remark = rails::remark(&world.frames(ethernet));
            world.remarks.extend(remark);
        }
        world.check_traffic()?;
        Ok(world)
    }

    /// Refuses traffic that cannot be made at the highest load to be tried.
    fn check_traffic(&self) -> Result<(), LabError> {
        let Task::Traffic { workload, seed, effort, goal } = &self.task else { return Ok(()) };
        let (highest, tried) = match *goal {
            Goal::Load(load) => (load, ""),
            Goal::Saturation(_) => (1.0, ", which the search may try,"),
        };
        let blueprint = self.blueprint();
        let trial = self.trial(&*blueprint, workload, *seed, *effort);
        trial.traffic(highest).map(|_| ()).map_err(|error| match error {
            TrafficError::Crowded { load, mean } => {
                let problem = format!(
                    "load {highest}{tried} takes {:.3} messages per cycle from each sender, of \
                     {mean} flits on average, but Bernoulli arrivals start at most one",
                    load / mean
                );
                let help = "set `traffic.arrival = \"exponential\"`, lower the load or lengthen the \
                            messages";
                LabError::setting("traffic.arrival", problem, help)
            }
            error => LabError::setting("traffic.destination", error, "choose another destination"),
        })
    }

    /// The network.
    pub fn network(&self) -> &RoutedFabric {
        &self.network
    }

    /// How many rails there are.
    pub fn rails(&self) -> u32 {
        self.nodes.rails
    }

    /// With more that a reader of the results should know.
    pub(crate) fn with_remarks(mut self, more: impl IntoIterator<Item = String>) -> World {
        self.remarks.extend(more);
        self
    }

    /// What a reader of the results should know.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// What is to be done.
    pub(crate) fn task(&self) -> &Task {
        &self.task
    }

    /// How long a cycle is.
    pub(crate) fn cycle(&self) -> Time {
        self.cycle
    }

    /// Whether packets go through the fabric, by its routes and channels.
    pub(crate) fn uses_fabric(&self) -> bool {
        match self.ground {
            Ground::Wormhole { .. } | Ground::Frame(_) => true,
            Ground::Ideal(_) | Ground::Unequal(_) | Ground::Model { .. } | Ground::Live { .. } => {
                false
            }
        }
    }

    /// Which real ranks do the work, if they do.
    pub(crate) fn plan(&self) -> Option<&Plan> {
        match &self.ground {
            Ground::Live { plan, .. } => Some(plan),
            _ => None,
        }
    }

    /// The cluster of the model, if that is where the work is done.
    pub(crate) fn cluster(&self) -> Option<&Cluster> {
        match &self.ground {
            Ground::Model { cluster, .. } => Some(cluster),
            _ => None,
        }
    }

    /// What its networks are built from.
    pub(crate) fn blueprint(&self) -> Box<dyn Blueprint + '_> {
        let network: Box<dyn Blueprint + '_> = match &self.ground {
            Ground::Wormhole { config, flit, elan } => {
                let network = Box::new(WormholeSpec {
                    fabric: &self.network.fabric,
                    routing: &*self.network.routing,
                    rails: self.nodes.rails,
                    config,
                    flit: *flit,
                    cycle: self.cycle,
                });
                match elan {
                    Some(elan) => Box::new(WithElans { network, elan: **elan }),
                    None => network,
                }
            }
            Ground::Frame(ethernet) => Box::new(self.frames(ethernet)),
            // The model and real ranks need none; what they have stands for no contention.
            Ground::Ideal(ideal) | Ground::Model { ideal, .. } | Ground::Live { ideal, .. } => {
                Box::new(*ideal)
            }
            Ground::Unequal(unequal) => Box::new(unequal.clone()),
        };
        match self.premises.is_empty() {
            true => network,
            false => Box::new(Equipped { network, premises: &self.premises }),
        }
    }

    /// The frame network.
    fn frames<'a>(&'a self, ethernet: &'a Ethernet) -> FrameSpec<'a> {
        FrameSpec {
            fabric: &self.network.fabric,
            routing: &*self.network.routing,
            rails: self.nodes.rails,
            ports: &ethernet.ports,
            lines: &ethernet.lines,
            clocks: &ethernet.clocks,
            switches: &ethernet.switches,
            cycle: self.cycle,
            changes: &ethernet.changes,
        }
    }

    /// The first rail of each copy of the fabric.
    pub(crate) fn copies(&self) -> Vec<u32> {
        let rails = 0..self.nodes.rails;
        match &self.ground {
            Ground::Frame(ethernet) => {
                let ports = &ethernet.ports;
                let is_first = |&rail: &u32| {
                    let (before, rest) = ports.split_at(rail as usize);
                    !before.contains(&rest[0])
                };
                rails.filter(is_first).collect()
            }
            _ => rails.collect(),
        }
    }

    /// Open-loop traffic on its networks.
    pub(crate) fn trial<'a>(
        &'a self,
        blueprint: &'a dyn Blueprint,
        workload: &'a Workload,
        seed: Seed,
        effort: Effort,
    ) -> Trial<'a> {
        Trial { blueprint, nodes: &self.nodes, workload, seed, effort }
    }

    /// Closed-loop work on its networks, for as long as it may take. `records` asks for its time
    /// line.
    pub(crate) fn play<'a>(
        &'a self,
        blueprint: &'a dyn Blueprint,
        limit: Time,
        records: bool,
    ) -> Play<'a> {
        Play {
            blueprint,
            nodes: &self.nodes,
            messaging: self.messaging,
            overhead: self.overhead,
            limit,
            records,
        }
    }
}

/// How the packets of a node follow each other, refused where they could not.
fn injection(spec: &Spec, script: Option<&Script>) -> Result<Injection, LabError> {
    let injection =
        script.map_or(Injection::default(), |script| work::injection(script.schedule()));
    if injection.is_plain() {
        return Ok(injection);
    }
    let Work::Collective(operation) = &spec.work else { return Ok(injection) };
    let refused = |key: &str, problem: &str, help: &str| {
        let name = operation.algorithm().name;
        Err(LabError::setting(
            key,
            format!("with {problem}, packets of `{name}` cannot take turns"),
            help,
        ))
    };
    if spec.world == study::World::Live && injection.window.is_some_and(|window| window.by_received)
    {
        let key = format!("work.{}.algorithm", operation.name());
        let problem =
            "real ranks count packets that are not acknowledged: they receive others, too";
        return Err(LabError::setting(&key, problem, "leave `counts = \"received\"` out"));
    }
    if spec.policy.pacing() == Pacing::Transfers {
        return refused(
            "policy",
            &format!(
                "the policy `{}`, which lets a NIC send one stripe after the other",
                spec.policy.name()
            ),
            "choose `round-robin` or a striping policy, or another algorithm",
        );
    }
    if spec.node.overhead.is_some() {
        return refused(
            "node.overhead",
            "the overheads of LogGOPS, by which messages go whole",
            "take `node.commodity`, which counts packets, or another algorithm",
        );
    }
    Ok(injection)
}

/// The longest message.
fn longest(spec: &Spec, script: Option<&Script>) -> Bytes {
    match &spec.work {
        Work::Traffic(traffic) => traffic.size.largest().1,
        Work::Ping(ping) => ping.size,
        Work::Stream(stream) => stream.size,
        Work::Collective(_) | Work::Pairs(_) | Work::Read(_) | Work::Goal(_) => {
            Bytes::new(script.map_or(0, Script::longest).into())
        }
    }
}

/// The ideal network of a spec.
fn ideal(spec: &Spec, hosts: u32) -> IdealSpec {
    let Spec { ideal, link, .. } = spec;
    let pace = match ideal.own_rate() {
        Some(rate) => pace(rate),
        // A flit in a cycle, to the picosecond, as on every link.
        None => Pace { time: link.cycle(), bytes: link.flit.get() },
    };
    IdealSpec {
        hosts,
        rails: spec.cluster.rails.count(),
        pace,
        latency: ideal.latency(link),
        gap: ideal.own_gap().unwrap_or_else(|| pace.time_for(1)),
        cycle: link.cycle(),
    }
}

/// Open-loop traffic, and how it is measured.
fn open_loop(
    spec: &Spec,
    traffic: &TrafficSpec,
    network: &RoutedFabric,
    packing: Packing,
    locate: &dyn Fn(&str) -> PathBuf,
) -> Result<Task, LabError> {
    let (key, largest) = traffic.size.largest();
    check_packets(spec, &format!("traffic.size.{key}"), largest)?;
    let workload = Workload {
        arrival: traffic.arrival,
        size: traffic.size,
        pattern: destination::pattern(&traffic.destination, &network.fabric, locate)?,
        // The range of the experiment file lies within the type.
        flits: Flits { flit: spec.link.flit.get() as u32, packing },
    };
    let measure = &spec.measure;
    let effort = Effort {
        precision: measure.precision,
        confidence: measure.confidence,
        min_cycles: measure.min_cycles,
        max_cycles: measure.max_cycles,
    };
    let (seed, goal) = (spec.seed, measure.goal(traffic));
    Ok(Task::Traffic { workload: Box::new(workload), seed, effort, goal })
}

/// Refuses a rank that has no host.
fn check_rank(key: &str, last: u32, ranks: u32) -> Result<(), LabError> {
    if last >= ranks {
        let problem = format!("found rank {last}, expected a rank from 0 to {}", ranks - 1);
        return Err(LabError::setting(key, problem, "each host has `cluster.pes`"));
    }
    Ok(())
}

/// Closed-loop work, and the schedule if it has one.
fn closed_loop(spec: &Spec, script: Option<Script>) -> Task {
    let limit = spec.link.cycle().ps().saturating_mul(spec.measure.max_cycles).min(LAST.ps());
    let limit = Time::from_ps(limit);
    let (work, confidence) = (spec.work.clone(), spec.measure.confidence);
    Task::Application { work, script, confidence, limit }
}

/// The machine of closed-loop work.
///
/// # Panics
/// If it is open-loop traffic.
pub(crate) fn application(
    work: &Work,
    script: Option<&Script>,
    iterations: u32,
) -> Box<dyn Application> {
    // The ranges of the experiment file lie within the types.
    let bytes = |size: Bytes| size.get() as u32;
    match *work {
        Work::Traffic(_) => unreachable!("open-loop traffic is no application"),
        Work::Pairs(_) | Work::Read(_) | Work::Collective(_) | Work::Goal(_) => {
            let script = script.expect("a schedule is there to be played");
            script.player(u64::from(iterations))
        }
        Work::Ping(study::Ping { size, from, to, iterations }) => Box::new(Ping::new(PingSpec {
            from: Rank(from),
            to: Rank(to),
            bytes: bytes(size),
            iterations: u64::from(iterations),
        })),
        Work::Stream(study::Stream {
            size,
            from,
            to,
            window,
            both_ways,
            pairs,
            crossed,
            iterations,
        }) => Box::new(Stream::new(StreamSpec {
            from: Rank(from),
            to: Rank(to),
            bytes: bytes(size),
            window,
            both_ways,
            pairs,
            crossed,
            iterations: u64::from(iterations),
        })),
    }
}

/// Refuses a run that outlasts the clock, and a tick that the clock cannot tell.
fn check_time(spec: &Spec, config: &Config) -> Result<(), LabError> {
    let (cycle, cycles) = (spec.link.cycle(), spec.measure.max_cycles);
    if let Err(error) = Grain::new(cycle, u64::from(config.ticks)) {
        return Err(LabError::setting("link.rate", error, "take a larger flit or a lower rate"));
    }
    let is_open_loop = matches!(spec.work, Work::Traffic(_));
    if is_open_loop && cycle.ps().checked_mul(cycles).is_none_or(|end| end > LAST.ps()) {
        let problem = format!("{cycles} cycles of {cycle} last longer than the clock, {LAST}");
        return Err(LabError::setting(
            "measure.max-cycles",
            problem,
            "lower it, or take a faster link",
        ));
    }
    Ok(())
}

/// Refuses messages of too many packets.
fn check_packets(spec: &Spec, key: &str, largest: Bytes) -> Result<(), LabError> {
    let packing = nodes::packing(spec);
    let packets = packing.packets(largest.get());
    let Some(payload) = packing.payload.filter(|_| packets > MOST_PACKETS) else { return Ok(()) };
    let payload = Bytes::new(payload.into());
    let problem = format!(
        "found {largest}, which is {packets} packets of {payload}, expected at most {MOST_PACKETS}"
    );
    let help = match spec.nic.packet {
        Packet::Payload(_) => "take smaller messages or a larger `nic.packet`",
        Packet::Message => "take smaller messages or a larger `frame.mtu`",
    };
    Err(LabError::setting(key, problem, help))
}
