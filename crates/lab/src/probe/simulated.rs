//! Machines that are simulated.

use super::bench::{Bench, Driver, Notes, Stop};
use super::subject::Subject;
use super::truth::{Configured, Truth};
use super::{FLOOD, MOST_WRITTEN, Probe, ProbeOptions, RING, ROUNDS, Session};
use crate::{LabError, World, nodes};
use crosstie_fabric::HostId;
use crosstie_protocol::{ChannelKind, PolicyKind};
use crosstie_sim::frame::framing;
use crosstie_sim::node::Overflows;
use crosstie_study::{self as study, Commodity, Rails, Spec, Work};
use crosstie_units::{Bytes, Time};
use crosstie_work::Rank;
use crosstie_work::probe::Microbenchmark;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Measures the machine of a spec, whatever its work is; `locate` tells where the paths in it lead,
/// and `progress` is told what has been measured. `None` if it was cancelled.
pub fn probe(
    spec: &Spec,
    locate: &dyn Fn(&str) -> PathBuf,
    options: ProbeOptions<'_>,
    progress: &(dyn Fn(&str) + Sync),
) -> Result<Option<Probe>, LabError> {
    let spec = raw(spec);
    if spec.world == study::World::Model {
        let problem = "found \"model\", where no packets move, expected a network";
        return Err(LabError::setting("world", problem, "set `world = \"frame\"`"));
    }
    if spec.world == study::World::Live {
        let problem = "found \"live\", expected a simulated network";
        return Err(LabError::setting("world", problem, "set `world = \"frame\"`"));
    }
    let Some(commodity) = &spec.node.commodity else {
        let problem = "found none, expected what packets take of a node";
        let help = "give `node.commodity.send` and its kin: without them packets take processors no time, and there is \
             nothing to measure";
        return Err(LabError::setting("node.commodity", problem, help));
    };
    let world = World::build(&spec, locate)?;
    let bench = Bench { driver: &Simulated { world: &world }, options, progress };
    Session { bench, subject: subject(&spec, commodity, &world) }.found()
}

/// The same machine with one rail that sends nothing again, and with a transmit ring that can be
/// full.
fn raw(spec: &Spec) -> Spec {
    let mut raw = spec.clone();
    let (size, from, to, iterations) = (Bytes::new(1), 0, 1, 1);
    raw.work = Work::Ping(study::Ping { size, from, to, iterations });
    (raw.channel, raw.policy) = (ChannelKind::default(), PolicyKind::default());
    raw.cluster.rails = Rails::alike(1);
    raw.events.clear();
    raw.competitors.clear();
    if let Some(commodity) = &mut raw.node.commodity {
        commodity.ring.get_or_insert(RING);
    }
    raw
}

/// What is known of it: the rate of links, the size of the ring, and who is on which switch.
fn subject<'a>(spec: &'a Spec, commodity: &'a Commodity, world: &World) -> Subject<'a> {
    let fabric = &world.network().fabric;
    let hosts = fabric.hosts().len() as u32;
    let last = fabric.switch_of(HostId(hosts - 1));
    let (here, behind): (Vec<HostId>, Vec<HostId>) =
        fabric.hosts().partition(|&host| fabric.switch_of(host) == last);
    let ranks = |hosts: &[HostId]| -> Vec<Rank> { hosts.iter().map(|h| Rank(h.0)).collect() };
    // The range of the experiment file lies within the type.
    let overhead = spec.nic.overhead.get() as u32;
    let uplink = spec.frame.uplink.rate(&spec.link).bytes_per_second();
    Subject {
        hosts,
        payload: nodes::packing(spec).payload.unwrap_or(1500),
        least: match spec.world {
            study::World::Frame => framing::MINIMUM.saturating_sub(overhead),
            study::World::Wormhole
            | study::World::Ideal
            | study::World::Model
            | study::World::Live => 0,
        },
        ring: commodity.ring.unwrap_or(RING),
        slot: Box::new(move |bytes| {
            let wire = framing::occupied(bytes + overhead);
            spec.link.rate.time_for(Bytes::new(wire.into())).unwrap_or(Time::ZERO)
        }),
        here: ranks(&here),
        behind: ranks(&behind),
        uplink: (uplink / spec.link.rate.bytes_per_second()) as usize,
        // No other world loses packets.
        loses: spec.world == study::World::Frame,
        pairs: u32::MAX,
        written: MOST_WRITTEN,
        rounds: ROUNDS,
        flood: FLOOD,
        bursts: 1,
        longest: 1 << 17,
        tries: 1,
        settle: Time::ZERO,
        rest: Time::from_ns(1_000_000),
        keeps_leaving: true,
        live: false,
        truth: Truth::Configured(Box::new(Configured::of(spec, commodity, world))),
    }
}

/// The end of the clock: half of what picoseconds can count, so that no sum overflows.
const LAST: Time = Time::from_ps(u64::MAX / 2);

/// Nodes of a simulated world.
pub(super) struct Simulated<'a> {
    pub world: &'a World,
}

impl Driver for Simulated<'_> {
    fn run(&self, probe: Microbenchmark, cancel: &AtomicBool) -> Result<Notes, Stop> {
        let blueprint = self.world.blueprint();
        let mut watch = |_| match cancel.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let play = self.world.play(&*blueprint, LAST, false);
        let played = play.run(&mut probe.program(), &mut watch).ok_or(Stop::Cancelled)?;
        match played.failure {
            None => {
                let Overflows { ring, pool } = played.delivery.overflows;
                Ok(Notes { notes: played.notes, overflowed: ring + pool > 0, filled: true })
            }
            Some(failure) => {
                let problem = format!(
                    "found nodes and switches that a probe does not get through: {failure}"
                );
                let help =
                    "give `pool`, `receive-ring` and the memory of switches room for a few packets";
                Err(Stop::Failed(Box::new(LabError::setting("node.commodity", problem, help))))
            }
        }
    }
}
