//! What was found, beside what is configured. Times are in microseconds.

use crosstie_lab::probe::{Bursts, Capacity, Finding, Measured, Probe};
use crosstie_units::Time;
use serde::Serialize;

/// Everything, for programs and for the terminal.
#[derive(Serialize)]
pub struct Document<'a> {
    /// The preset or file.
    pub machine: &'a str,
    pub title: &'a str,
    pub world: &'static str,
    pub nodes: u32,
    pub iterations: u32,
    /// Of all times.
    pub unit: &'static str,
    /// The bytes of a full packet.
    pub packet: u64,
    /// Shorter packets are filled up on the wire.
    pub least: u64,
    pub costs: Vec<FoundCost<'a>>,
    pub buffer: FoundBuffer<'a>,
    /// For what comes from other switches.
    pub uplink: Option<FoundBuffer<'a>>,
    /// The model file.
    pub file: &'a str,
}

/// O_s and its kin.
#[derive(Serialize)]
pub struct FoundCost<'a> {
    pub symbol: &'static str,
    /// In a model file.
    pub key: &'static str,
    pub meaning: &'static str,
    /// Of the fitted line, if there is one.
    pub line: Option<Line>,
    pub unresolved: Option<Unresolved<'a>>,
    /// How many timings there were, and how many others were noise.
    pub kept: usize,
    pub discarded: usize,
    /// Of a full packet between two nodes.
    pub found: Option<f64>,
    /// Between which times eight tenths of its timings lie, where they are of a real clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<[f64; 2]>,
    pub configured: Option<f64>,
    /// The largest of all samples that were fitted and of a full packet, as a share.
    pub error: Option<f64>,
    pub samples: Vec<FoundSample>,
}

#[derive(Serialize)]
pub struct Line {
    pub fixed: f64,
    pub byte: f64,
    pub node: f64,
    pub byte_node: f64,
    pub r_squared: f64,
    /// The largest.
    pub residual: f64,
}

#[derive(Serialize)]
pub struct Unresolved<'a> {
    pub why: &'a str,
    /// Another cost, or 0.
    pub stand_in: &'static str,
}

#[derive(Serialize)]
pub struct FoundSample {
    pub bytes: u32,
    pub nodes: u32,
    pub found: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<[f64; 2]>,
    pub configured: Option<f64>,
    pub kept: usize,
    pub discarded: usize,
    /// Why it was not fitted, if it was not.
    pub left_out: Option<&'static str>,
}

/// B_L.
#[derive(Serialize)]
pub struct FoundBuffer<'a> {
    pub bursts: Vec<FoundBursts<'a>>,
    pub found: Option<Place>,
    /// How far slopes are from those of such a buffer, and of the next best, as shares.
    pub off: Option<f64>,
    pub next_off: Option<f64>,
    /// By how many frames it may be off, of real switches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<f64>,
    /// Why nothing was found.
    pub unresolved: Option<String>,
    pub configured: Option<Place>,
    pub error: Option<f64>,
}

#[derive(Serialize, PartialEq, Clone, Copy)]
pub struct Place {
    pub architecture: &'static str,
    pub frames: u32,
}

/// Bursts from S sources to R sinks.
#[derive(Serialize)]
pub struct FoundBursts<'a> {
    pub sources: u32,
    pub sinks: u32,
    /// Of the share that comes through, over 1/k.
    pub slope: f64,
    pub intercept: f64,
    /// R g_s / (S g_r), where both gaps were found.
    pub expected_intercept: Option<f64>,
    pub r_squared: f64,
    /// With those that are leaving.
    pub frames: f64,
    /// Lengths, and what share came through.
    pub points: &'a [(u32, f64)],
}

/// What was measured.
pub struct Subject<'a> {
    /// The preset or file.
    pub name: &'a str,
    pub title: &'a str,
    pub world: &'static str,
    /// Whether it can lose packets.
    pub loses: bool,
    /// What gives receivers more room.
    pub room: &'static str,
}

impl Subject<'_> {
    fn kind(&self) -> &'static str {
        if self.world == LIVE { "network" } else { "world" }
    }
}

/// What real machines have for a world.
pub const LIVE: &str = "live";

impl<'a> Document<'a> {
    /// What was found of a machine.
    pub fn new(
        subject: &Subject<'a>,
        iterations: u32,
        found: &'a Probe,
        file: &'a str,
    ) -> Document<'a> {
        let parameters = &found.parameters;
        let packet = parameters.packet.get();
        let gap = |symbol| {
            let cost = found.costs.iter().find(|cost| cost.symbol == symbol)?;
            Some(us(cost.fit.as_ref().ok()?.cost.at(packet, 2)))
        };
        let ratio = gap("g_s").zip(gap("g_r")).map(|(g_s, g_r)| g_s / g_r);
        let buffer = |capacity| FoundBuffer::new(capacity, ratio, subject);
        Document {
            machine: subject.name,
            title: subject.title,
            world: subject.world,
            nodes: found.nodes,
            iterations,
            unit: "us",
            packet,
            least: parameters.least.get(),
            costs: found.costs.iter().map(|cost| FoundCost::new(cost, found)).collect(),
            buffer: buffer(&found.buffer),
            uplink: found.uplink.as_ref().map(buffer),
            file,
        }
    }
}

impl<'a> FoundCost<'a> {
    fn new(cost: &'a Measured, probe: &'a Probe) -> FoundCost<'a> {
        let packet = probe.parameters.packet.get();
        let fit = cost.fit.as_ref().ok();
        let full = cost.samples.iter().filter(|sample| u64::from(sample.bytes) == packet);
        let full = full.min_by_key(|sample| sample.nodes);
        let line = fit.map(|fit| Line {
            fixed: us(fit.cost.fixed),
            byte: us(fit.cost.byte),
            node: us(fit.cost.node),
            byte_node: us(fit.cost.byte_node),
            r_squared: fit.r_squared,
            residual: fit.residual,
        });
        let stand_in = probe.stand_in(cost).unwrap_or("0");
        let found = fit.map(|fit| us(fit.cost.at(packet, 2)));
        let configured = full.and_then(|sample| sample.truth);
        let spread = full.and_then(|sample| sample.spread);
        let off = found.zip(configured).map(|(found, configured)| (found / configured - 1.0).abs());
        let samples = cost.samples.iter().map(|sample| FoundSample {
            bytes: sample.bytes,
            nodes: sample.nodes,
            found: sample.value,
            spread: sample.spread,
            configured: sample.truth,
            kept: sample.count,
            discarded: sample.discarded,
            left_out: sample.left_out,
        });
        FoundCost {
            symbol: cost.symbol,
            key: cost.key,
            meaning: meaning(cost.symbol),
            line,
            unresolved: cost.fit.as_ref().err().map(|why| Unresolved { why, stand_in }),
            kept: cost.samples.iter().map(|sample| sample.count).sum(),
            discarded: cost.samples.iter().map(|sample| sample.discarded).sum(),
            found,
            spread,
            configured,
            error: fit.and_then(|fit| fit.error).into_iter().chain(off).reduce(f64::max),
            samples: samples.collect(),
        }
    }
}

fn meaning(symbol: &str) -> &'static str {
    match symbol {
        "O_s" => "processor, to send",
        "g_s" => "NIC, between sends",
        "L" => "memory to memory",
        "g_r" => "NIC, between receipts",
        "O_r" => "processor, to receive",
        "U_r" => "processor, to pick up",
        _ => "",
    }
}

impl<'a> FoundBuffer<'a> {
    fn new(capacity: &'a Capacity, ratio: Option<f64>, subject: &Subject<'_>) -> FoundBuffer<'a> {
        let (found, off, next) = match &capacity.finding {
            Finding::Resolved { buffer, error, next } => {
                let architecture = buffer.architecture.name();
                (Some(Place { architecture, frames: buffer.frames }), Some(*error), Some(*next))
            }
            Finding::NotResolved { .. } => (None, None, None),
        };
        let configured = capacity.truth.map(|buffer| Place {
            architecture: buffer.architecture.name(),
            frames: buffer.frames,
        });
        FoundBuffer {
            bursts: capacity.bursts.iter().map(|bursts| FoundBursts::new(bursts, ratio)).collect(),
            found,
            off,
            // Where nothing else was in question there is no next best.
            next_off: next.filter(|next| next.is_finite()),
            resolution: capacity.resolution().filter(|_| capacity.open > 0),
            unresolved: unresolved(capacity, subject),
            configured,
            error: capacity.error(),
        }
    }
}

/// Why there is no buffer, if there is none.
fn unresolved(capacity: &Capacity, subject: &Subject<'_>) -> Option<String> {
    let Finding::NotResolved { candidates } = &capacity.finding else { return None };
    let names: Vec<&str> = candidates.iter().map(|place| place.name()).collect();
    Some(match () {
        () if !subject.loses => format!("this {} loses no packets", subject.kind()),
        () if capacity.tried == 0 => {
            "too few nodes share a switch: bursts need two sources and a sink".to_owned()
        }
        () if capacity.overflowed => {
            format!("sinks had no room for what came; {}", subject.room)
        }
        () if capacity.bursts.is_empty() => "nothing of any burst was lost".to_owned(),
        () if names.is_empty() => "slopes are those of no architecture".to_owned(),
        () => format!("slopes are those of several architectures: {}", names.join(", ")),
    })
}

impl<'a> FoundBursts<'a> {
    fn new(bursts: &'a Bursts, ratio: Option<f64>) -> FoundBursts<'a> {
        let Bursts { sources, sinks, points, line, .. } = bursts;
        FoundBursts {
            sources: *sources,
            sinks: *sinks,
            slope: line.slope,
            intercept: line.intercept,
            expected_intercept: ratio.map(|ratio| f64::from(*sinks) / f64::from(*sources) * ratio),
            r_squared: line.r_squared,
            frames: bursts.frames(),
            points,
        }
    }
}

fn us(time: Time) -> f64 {
    time.ps() as f64 / 1e6
}
