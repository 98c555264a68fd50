//! Machines are found to be what they are.

use super::*;
use crosstie_model::{Architecture, Buffer};
use crosstie_study::{self as study, Spec};

/// Fast Ethernet and nodes of the thesis [tam, table 5.2], with what a machine has beside that.
fn spec(rest: &str) -> Spec {
    let text = format!(
        "seed = 7\nworld = 'frame'\nlink.rate = '100 Mbit/s'\nlink.wire = '500 ns'\nnic.overhead = '8 B'\n\
         work.ping.size = '1 B'\n\
         frame.switch.latency = '5 us'\n\
         [node.commodity]\nsend = '12.5 us'\nreceive = '20 us'\npickup = '7 us'\nring = 32\n{rest}"
    );
    Spec::from_toml("machine.toml", &text).unwrap_or_else(|mistake| panic!("{mistake}"))
}

fn found(spec: &Spec) -> Probe {
    found_on(2, spec)
}

fn found_on(threads: usize, spec: &Spec) -> Probe {
    let cancel = AtomicBool::new(false);
    let threads = NonZeroUsize::new(threads).unwrap();
    let options = ProbeOptions { iterations: 50, threads, cancel: &cancel };
    probe(spec, &|path| path.into(), options, &|_| ()).unwrap().unwrap()
}

/// All costs within a share of the truth; printed where they are not.
fn agree(probe: &Probe, within: f64) {
    for measured in &probe.costs {
        let fit = measured.fit.as_ref().unwrap_or_else(|reason| panic!("{reason}: {measured:?}"));
        assert!(fit.error.unwrap() <= within, "{measured:#?}");
    }
}

fn buffer(found: &Capacity, architecture: Architecture, frames: u32) {
    assert_eq!(found.truth, Some(Buffer { architecture, frames }));
    let Finding::Resolved { buffer, .. } = &found.finding else { panic!("{found:#?}") };
    assert_eq!(buffer.architecture, architecture, "{found:#?}");
    assert!(found.error().unwrap() <= 0.03, "{found:#?}");
}

/// Table A.1.
#[test]
fn switches_of_the_thesis() {
    use Architecture::{Input, Output, Shared};
    for (memory, architecture, frames) in [
        ("input", Input, 43),
        ("output", Output, 95),
        ("shared", Shared, 1990),
        ("output", Output, 128),
        ("shared", Shared, 650),
        ("shared", Shared, 820),
    ] {
        let machine = spec(&format!(
            "[frame.switch.memory]\n{memory}.capacity = '{frames} frames'\n[fabric.single]\nhosts = 16\n"
        ));
        let found = found(&machine);
        agree(&found, 0.02);
        buffer(&found.buffer, architecture, frames);
        assert_eq!(found.uplink, None);
        assert_eq!(Some(found.parameters), found.truth, "to the picosecond and the packet");
        let text = found.to_toml();
        assert_eq!(toml::from_str::<Parameters>(&text).unwrap(), found.parameters, "{text}");
    }
}

#[test]
fn uplinks_of_the_thesis() {
    use Architecture::{Input, Shared};
    for (memory, architecture, [host, uplink]) in [
        ("input.capacity = '43 frames'\ninput.uplink = '45 frames'", Input, [43, 45]),
        ("shared.capacity = '1990 frames'\nshared.uplink = '510 frames'", Shared, [1990, 2500]),
    ] {
        let machine = spec(&format!(
            "[frame.uplink]\nrate = '1 Gbit/s'\n[frame.switch.memory]\n{memory}\n\
             [fabric.two-level]\nleaves = 3\nhosts-per-leaf = 12\n"
        ));
        let found = found(&machine);
        agree(&found, 0.02);
        buffer(&found.buffer, architecture, host);
        buffer(found.uplink.as_ref().unwrap(), architecture, uplink);
    }
}

#[test]
fn what_cannot_be_seen_is_not_guessed() {
    // Two hosts: one switch, nothing to overflow it, and a NIC that is never slower than the
    // processor.
    let machine = spec("interrupts = false\n[fabric.single]\nhosts = 2\n");
    let mut slow = machine.clone();
    slow.node.commodity.as_mut().unwrap().send = Cost::fixed(Time::from_ns(200_000));
    let found = found(&slow);
    assert_eq!(found.buffer.finding, Finding::NotResolved { candidates: vec![] });
    assert_eq!(found.parameters.buffer, None);
    let text = found.to_toml();
    assert!(text.contains("# g_s: not resolved, O_s hides it"));
    assert!(
        text.contains("# O_r: not resolved, nothing was seen of it") && text.contains("300 others")
    );
    assert_eq!(found.parameters.pickup, Cost::fixed(Time::from_ns(27_000)));
    let idle = Spec { node: Default::default(), ..machine };
    let cancel = AtomicBool::new(true);
    let options = ProbeOptions { iterations: 1, threads: NonZeroUsize::MIN, cancel: &cancel };
    let said = probe(&idle, &|path| path.into(), options, &|_| ()).unwrap_err().to_string();
    assert!(said.contains("`node.commodity`: found none"), "{said}");
    assert_eq!(probe(&slow, &|path| path.into(), options, &|_| ()).unwrap(), None);
}

/// Each cost that is found is what it is, also of full packets; with four nodes bursts cannot tell
/// where packets are kept.
#[test]
fn presets_of_the_thesis() {
    for preset in crate::Preset::ALL.iter().filter(|preset| preset.text.contains("node.commodity"))
    {
        let text = format!("{}\n[work.ping]\nsize = '1 B'\n", preset.text);
        let study = study::Study::parse(preset.name, &text).unwrap();
        let found = found(&study.points()[0].spec);
        for cost in &found.costs {
            let Ok(fit) = &cost.fit else { continue };
            let last = cost.samples.iter().rfind(|sample| sample.nodes == 2).unwrap();
            let full = fit.cost.at(last.bytes.into(), 2).seconds() * 1e6;
            let off = (full / last.truth.unwrap() - 1.0).abs();
            assert!(fit.error.unwrap().max(off) <= 0.02, "{}: {cost:#?}", preset.name);
        }
        let resolved =
            |symbol| found.costs.iter().any(|cost| cost.symbol == symbol && cost.fit.is_ok());
        assert!(["O_s", "g_s", "L", "O_r", "U_r"].into_iter().all(resolved), "{}", preset.name);
        if found.nodes > 4 {
            let truth = found.buffer.truth.unwrap();
            buffer(&found.buffer, truth.architecture, truth.frames);
        }
    }
}

/// A forwarding engine, costs for every byte, and hosts of which no two take equally long.
#[test]
fn costs_of_bytes_and_a_forwarding_engine_are_told() {
    let mut machine = spec(
        "jitter = '2 us'\nsend-gap = { fixed = '10 us', byte = '100 ns' }\n\
         [fabric.single]\nhosts = 16\n",
    );
    let switch = &mut machine.frame.switch;
    (switch.lookup, switch.forwarding) = (Time::from_ns(1_000), study::Forwarding::CutThrough);
    let byte = Time::from_ns(5);
    let node = machine.node.commodity.as_mut().unwrap();
    (node.send.byte, node.receive.byte) = (byte, byte);
    let found = found(&machine);
    agree(&found, 0.02);
    let latency = found.parameters.latency;
    assert!((latency.node.ps() as f64 / 125_000.0 - 1.0).abs() < 0.1, "{latency:?}");
}

/// Hosts of which no two take equally long: how exact the rest is then.
#[test]
fn jitter_does_not_matter_much() {
    for (seed, memory, architecture, frames) in [
        (1, "input", Architecture::Input, 43),
        (2, "output", Architecture::Output, 95),
        (3, "shared", Architecture::Shared, 650),
        (4, "input", Architecture::Input, 43),
        (5, "output", Architecture::Output, 95),
    ] {
        let mut machine = spec(&format!(
            "jitter = '5 us'\n[frame.switch.memory]\n{memory}.capacity = '{frames} frames'\n\
             [fabric.single]\nhosts = 16\n"
        ));
        machine.seed = crosstie_units::Seed(seed);
        let found = found(&machine);
        agree(&found, 0.02);
        buffer(&found.buffer, architecture, frames);
    }
}

#[test]
fn sinks_without_room_say_nothing_about_switches() {
    let machine = spec("pool = 1\n[fabric.single]\nhosts = 6\n");
    let mut slow = machine.clone();
    slow.node.commodity.as_mut().unwrap().pickup = Cost::fixed(Time::from_ns(150_000));
    let found = found(&slow);
    assert!(found.buffer.overflowed && found.parameters.buffer.is_none());
    assert!(found.to_toml().contains("# B_L: not resolved; sinks had no room for what came."));
}

#[test]
fn threads_do_not_matter_and_other_networks_have_costs_too() {
    let mut machine = spec("jitter = '5 us'\n[fabric.single]\nhosts = 4\n");
    machine.frame.switch.memory =
        study::Memory::Output { capacity: study::Capacity::Frames(20), uplink: None };
    assert_eq!(found_on(1, &machine), found_on(3, &machine));
    machine.world = study::World::Ideal;
    let found = found(&machine);
    assert_eq!((found.parameters.least.get(), found.parameters.buffer), (0, None));
    let errors: Vec<_> =
        found.costs.iter().filter_map(|cost| cost.fit.as_ref().ok()?.error).collect();
    assert!(errors.len() == 3 && errors.iter().all(|&error| error < 0.02), "{errors:?}");
    let said = |spec: &Spec| {
        let cancel = AtomicBool::new(false);
        let options = ProbeOptions { iterations: 1, threads: NonZeroUsize::MIN, cancel: &cancel };
        probe(spec, &|path| path.into(), options, &|_| ()).unwrap_err().to_string()
    };
    machine.world = study::World::Model;
    assert!(said(&machine).contains("`world`: found \"model\", where no packets move"));
}
