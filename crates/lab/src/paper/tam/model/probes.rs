//! What the probes of appendix A find on the machines of the thesis: simulated when first asked
//! for, without a part.

use crate::Preset;
use crate::paper::{Drawing, drawing};
use crate::probe::{Capacity, Probe, ProbeOptions, Sample, probe};
use crosstie_model::fit::Finding;
use crosstie_model::{Architecture, Stage};
use crosstie_study::Spec;
use crosstie_study::paper::{Measured, Truth};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// A line of Table A.1.
pub(super) struct Switch {
    /// The end of its claim's id.
    pub id: &'static str,
    /// Its name.
    pub title: &'static str,
    preset: &'static str,
    fabric: &'static str,
    architecture: Architecture,
    /// What of it is asked for: `true` for what comes from other switches.
    uplink: bool,
}

const SINGLE: &str = "fabric.single.hosts = 16";
const JOINED: &str = "fabric.two-level = { leaves = 3, hosts-per-leaf = 12 }";

const fn switch(
    (id, title): (&'static str, &'static str),
    preset: &'static str,
    architecture: Architecture,
    uplink: bool,
) -> Switch {
    let fabric = if uplink { JOINED } else { SINGLE };
    Switch { id, title, preset, fabric, architecture, uplink }
}

/// Table A.1.
pub(super) const SWITCHES: [Switch; 8] = {
    use Architecture::{Input, Output, Shared};
    [
        switch(("ibm_8275_326", "IBM 8275-326"), "p450-ibm-8275-326", Input, false),
        switch(("ibm_8275_326_uplink", "IBM 8275-326, uplink"), "p450-ibm-8275-326", Input, true),
        switch(("ibm_8275_416", "IBM 8275-416"), "p450-ibm-8275-416", Output, false),
        switch(("intel_510t", "Intel 510T"), "p450-intel-510t", Shared, false),
        switch(("intel_510t_uplink", "Intel 510T, uplink"), "p450-intel-510t", Shared, true),
        switch(("cisco_catalyst_2980g", "Cisco Catalyst 2980G"), "p450-cisco-2980g", Output, false),
        switch(("cisco_catalyst_3524", "Cisco Catalyst 3524"), "p450-cisco-3524", Shared, false),
        switch(
            ("alcatel_powerrail_2200", "Alcatel PowerRail 2200"),
            "gedp-smp-powerrail-2200",
            Shared,
            false,
        ),
    ]
};

/// Measures a claim; nothing if no probe tells it.
pub(super) fn measure(id: &str) -> Option<Measured> {
    let words: Vec<&str> = id.split('.').collect();
    Some(match words[..] {
        ["tA", "1", "architecture"] => architectures(),
        ["tA", "1", "intel_510t_uplink"] => frames("intel_510t")?,
        ["tA", "1", "intel_510t_uplink", "extra"] => extra()?,
        ["tA", "1", id] => frames(id)?,
        ["ch3", "fedp", "gs1500"] => sample("fedp", "g_s", None),
        ["ch3", "fedp", "gr1500"] => sample("fedp", "g_r", None),
        ["ch3", "gedp", "gs1500"] => sample("gedp-smp", "g_s", None),
        ["ch3", "gedp", "gr1500"] => sample("gedp-smp", "g_r", None),
        ["ch3", "gedp", "gr1024"] => sample("gedp-smp", "g_r", Some(1024)),
        ["ch3", "gedpsmp", "os", "full"] => sample("gedp-smp", "O_s", None),
        ["ch3", "gedpup", "or", "full"] => sample("gedp-up", "O_r", None),
        ["ch3", "interrupt"] => sample("gedp-up", "O_r", Some(1)),
        ["ch3", "smp", "os", "extra"] => difference("O_s"),
        ["ch3", "smp", "or", "extra"] => difference("O_r"),
        ["ch3", "ur", "fedp"] => sample("fedp", "U_r", None),
        ["ch3", "ur", "gedpup"] => sample("gedp-up", "U_r", None),
        ["ch3", "ur", "gedpsmp"] => sample("gedp-smp", "U_r", None),
        ["ch3", "fedp", "L1"] => sample("fedp", "L", Some(1)),
        ["ch3", "gedp", "L1"] => sample("gedp-up", "L", Some(1)),
        ["ch3", "shape", "smp_bound"] => bounds(),
        ["ch3", "shape", "L"] => distances(),
        _ => return None,
    })
}

/// What a probe finds on a preset with another fabric; the same for all who ask.
fn found(preset: &'static str, fabric: &'static str) -> Result<Arc<Probe>, String> {
    type Known = BTreeMap<(&'static str, &'static str), Result<Arc<Probe>, String>>;
    static FOUND: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
    let mut known = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    let find = || run(preset, fabric).map(Arc::new);
    known.entry((preset, fabric)).or_insert_with(find).clone()
}

/// Packets in the ring of a NIC: enough to see g_s.
const RING: u32 = 32;
/// How often trips are timed. They are all alike, for nothing jitters.
const ITERATIONS: u32 = 5;

fn run(preset: &str, fabric: &str) -> Result<Probe, String> {
    let text = Preset::find(preset).ok_or("there is no such preset")?.text;
    let kept = text.lines().filter(|line| !line.starts_with("title"));
    let lines: Vec<&str> = kept
        .map(|line| if line.starts_with("fabric.single.hosts") { fabric } else { line })
        .collect();
    let text = format!("work.ping.size = \"1 B\"\n{}", lines.join("\n"));
    let mut spec = Spec::from_toml(preset, &text).map_err(|mistake| mistake.to_string())?;
    if let Some(commodity) = &mut spec.node.commodity {
        commodity.ring = Some(RING);
    }
    let cancel = AtomicBool::new(false);
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let options = ProbeOptions { iterations: ITERATIONS, threads, cancel: &cancel };
    let found = probe(&spec, &|path| path.into(), options, &|_| ()).map_err(|e| e.to_string())?;
    found.ok_or_else(|| "nobody cancels it".to_owned())
}

/// A switch's buffers as the probe finds them.
fn capacity(switch: &Switch) -> Result<Capacity, String> {
    let probe = found(switch.preset, switch.fabric)?;
    match switch.uplink {
        false => Ok(probe.buffer.clone()),
        true => probe.uplink.clone().ok_or_else(|| "there are no other switches".to_owned()),
    }
}

fn frames_of(switch: &Switch) -> Result<f64, String> {
    match capacity(switch)?.finding {
        Finding::Resolved { buffer, .. } => Ok(f64::from(buffer.frames)),
        Finding::NotResolved { .. } => Err("bursts do not tell".to_owned()),
    }
}

/// A number, or why there is none.
fn told(found: Result<f64, String>) -> Measured {
    match found {
        Ok(found) => Measured::exact(found),
        Err(why) => Measured::shape(Truth::Open, why),
    }
}

fn frames(id: &str) -> Option<Measured> {
    let switch = SWITCHES.iter().find(|switch| switch.id == id)?;
    Some(told(frames_of(switch)))
}

/// What only the uplink of the Intel 510T has.
fn extra() -> Option<Measured> {
    let of = |id| SWITCHES.iter().find(|switch| switch.id == id);
    let (all, shared) = (of("intel_510t_uplink")?, of("intel_510t")?);
    Some(told(frames_of(all).and_then(|all| Ok(all - frames_of(shared)?))))
}

fn architectures() -> Measured {
    let (mut holds, mut words) = (Vec::new(), Vec::new());
    for switch in &SWITCHES {
        let (truth, word) = match capacity(switch).map(|capacity| capacity.finding) {
            Ok(Finding::Resolved { buffer, .. }) => {
                (Truth::of(buffer.architecture == switch.architecture), buffer.architecture.name())
            }
            _ => (Truth::Open, "not resolved"),
        };
        holds.push(truth);
        words.push(format!("{}: {word}", switch.title));
    }
    Measured::shape(Truth::all(holds), words.join("; "))
}

/// Nodes for a flood, and for pairs.
const PLATFORM: &str = "fabric.single.hosts = 4";

/// What was measured of a parameter, for packets of so many bytes, or full ones.
fn value(platform: &'static str, symbol: &str, bytes: Option<u32>) -> Result<f64, String> {
    let probe = found(platform, PLATFORM)?;
    let samples = probe.costs.iter().find(|cost| cost.symbol == symbol).map(|cost| &cost.samples);
    let samples = samples.ok_or("there is no such parameter")?;
    let full = samples.iter().map(|sample| sample.bytes).max().unwrap_or(0);
    let wanted = |sample: &&Sample| sample.bytes == bytes.unwrap_or(full) && sample.nodes == 2;
    let sample = samples.iter().find(wanted).ok_or("it was not measured")?;
    // What is only left out of the fit for being filled up was measured all the same.
    match sample.left_out {
        Some(why) if bytes != Some(1) => Err(why.to_owned()),
        _ => Ok(sample.value),
    }
}

/// A parameter that the probe cannot see on this platform is not checkable.
fn sample(platform: &'static str, symbol: &str, bytes: Option<u32>) -> Measured {
    match value(platform, symbol, bytes) {
        Ok(found) => Measured::exact(found),
        Err(why) => Measured::beyond(format!("the probe cannot see it: {why}")),
    }
}

/// What a full packet takes more on SMP than on UP.
fn difference(symbol: &str) -> Measured {
    let of = |platform| value(platform, symbol, None);
    told(of("gedp-smp").and_then(|smp| Ok(smp - of("gedp-up")?)))
}

/// The signature of each platform of chapter 3: its parameters by the length of packets, as they
/// were measured.
pub(super) fn signatures() -> Vec<Drawing> {
    let platforms = [("fedp", "FEDP"), ("gedp-up", "GEDP-UP"), ("gedp-smp", "GEDP-SMP")];
    platforms.into_iter().filter_map(|(preset, title)| signature(preset, title)).collect()
}

fn signature(preset: &'static str, title: &str) -> Option<Drawing> {
    const LINE: &str = "parameter";
    const LENGTH: &str = "length of a packet, bytes";
    const TIME: &str = "time, us";
    let probe = found(preset, PLATFORM).ok()?;
    let mut rows = Vec::new();
    for cost in &probe.costs {
        let seen = |sample: &&Sample| sample.nodes == 2 && sample.left_out.is_none();
        rows.extend(cost.samples.iter().filter(seen).map(|sample| {
            let x = (LENGTH, f64::from(sample.bytes));
            drawing::point((LINE, cost.symbol), x, (TIME, sample.value))
        }));
    }
    let title = format!("Chapter 3: what a packet takes on {title}, by the probe");
    let name = format!("signature-{preset}");
    Some((drawing::plain(&name, title, LENGTH, TIME, LINE), rows))
}

/// What holds up long messages, by the parameters that the probe finds.
fn bounds() -> Measured {
    let (mut holds, mut words) = (Vec::new(), Vec::new());
    for (platform, expected) in [
        ("fedp", [Stage::SendGap, Stage::ReceiveGap].as_slice()),
        ("gedp-up", &[Stage::Receive]),
        ("gedp-smp", &[Stage::SendGap]),
    ] {
        match found(platform, PLATFORM) {
            Err(why) => return Measured::shape(Truth::Open, why),
            Ok(probe) => {
                let bytes = probe.parameters.packet.get();
                let (stage, time) = probe.parameters.packet_of(bytes, 2).bound();
                holds.push(Truth::of(expected.contains(&stage)));
                let time = time.seconds() * 1e6;
                words.push(format!("{platform}: {stage}, {time:.2} us"));
            }
        }
    }
    Measured::shape(Truth::all(holds), words.join("; "))
}

/// How L grows with the size, less what the wire takes.
fn distances() -> Measured {
    let (mut grows, mut words) = (Vec::new(), Vec::new());
    for (platform, wire) in [("fedp", 80.0), ("gedp-up", 8.0), ("gedp-smp", 8.0)] {
        match found(platform, PLATFORM) {
            Err(why) => return Measured::shape(Truth::Open, why),
            Ok(probe) => {
                let byte = probe.parameters.latency.byte.seconds() * 1e9 - wire;
                grows.push(byte);
                words.push(format!("{platform}: {byte:.1} ns for a byte"));
            }
        }
    }
    let holds = grows[0].abs() < 1.0 && grows[1..].iter().all(|byte| *byte > 1.0);
    Measured::shape(Truth::of(holds), format!("beyond the wire, {}", words.join("; ")))
}
