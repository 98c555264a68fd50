//! Keys that are written and have no effect, because the world of a point does not use them.

use crosstie_study::{Study, World};

/// What every point of an experiment does not use.
fn unused(keys: &str) -> Vec<String> {
    let text = format!("title = 'x'\nseed = 1\n{keys}");
    let study = Study::parse("test", &text).unwrap_or_else(|mistake| panic!("{mistake}"));
    // With every default spelled out it is the same, and that is all that is added.
    let written = study.to_toml();
    let again = Study::parse("again", &written).unwrap_or_else(|mistake| panic!("{mistake}"));
    for (point, other) in study.points().iter().zip(again.points()) {
        let (mut found, mut spelled) = (study.unused(point), again.unused(other));
        found.sort();
        spelled.sort();
        assert_eq!(found, spelled, "{written}");
    }
    study.points().iter().map(|point| study.unused(point).join(" ")).collect()
}

const TREE: &str = "fabric.tree = {k = 4, n = 2}\n";
const PING: &str = "fabric.tree = {k = 4, n = 2}\nwork.ping.size = '1 KiB'\n";

#[test]
fn a_key_of_another_world_is_told() {
    let traffic = format!("{TREE}traffic = {{load = 0.3, size.fixed.size = '64 B'}}\n");
    let uplink = "frame.uplink.rate = '10 MB/s'\n";
    assert_eq!(unused(&format!("{traffic}{uplink}")), ["frame.uplink.rate"]);
    assert_eq!(unused(&format!("{traffic}{uplink}world = 'frame'")), [""]);
    for (world, keys, expected) in [
        ("wormhole", "ideal.gap = '1 ns'", "ideal.gap"),
        ("wormhole", "live.memory = false", "live.memory"),
        ("wormhole", "model.parameters.send = '1 us'", "model"),
        ("wormhole", "switch.buffer = 64\nbus = 'full'\nchannel = 'go-back-n'", ""),
        ("frame", "switch.buffer = 64\nbus = 'full'", "switch.buffer bus"),
        ("frame", "frame.switch.memory.output.capacity = '95 frames'\nframe.mtu = '1 KiB'", ""),
        ("frame", "nic.in-transit = {}\nbus = 'full'", "nic.in-transit bus"),
        ("ideal", "routing = 'tree-deterministic'\nnic.window = 4", "routing"),
        (
            "ideal",
            "frame = {mtu = '1 KiB', switch.lookup = '1 us'}",
            "frame.mtu frame.switch.lookup",
        ),
        ("model", "switch.buffer = 64\nframe.uplink.wire = '1 us'", "switch.buffer"),
        ("model", "model.parameters.send = '1 us'\nlink.wire = '1 us'", "link.wire"),
        ("live", "live.own-box = true\nlink.rate = '1 GB/s'\nframe.mtu = '1 KiB'", ""),
        ("live", "live.box = 'b.toml'\ncluster.rails = 2", ""),
        ("live", "message = {eager = '1 KiB', credit = '64 KiB', synchronous = true}", ""),
        ("live", "nic.overhead = '52 B'\nmessage = {strict = false, fin = false}", ""),
    ] {
        let found = unused(&format!("{PING}world = '{world}'\n{keys}\n"));
        assert_eq!(found, [expected], "{world}: {keys}");
    }
}

#[test]
fn a_default_that_is_spelled_out_is_not_told() {
    let keys = "world = 'frame'\nswitch.buffer = 128\nbus = 'half'\nideal = {}\nlive.memory = true";
    assert_eq!(unused(&format!("{PING}{keys}")), [""]);
    let keys = "world = 'ideal'\nrouting = 'tree-adaptive'";
    assert_eq!(unused(&format!("{PING}{keys}")), [""]);
}

#[test]
fn in_a_sweep_over_worlds_a_key_is_for_the_world_that_uses_it() {
    let keys =
        "switch.buffer = 64\nframe.mtu = '1 KiB'\n[sweep.product]\nworld = ['wormhole', 'ideal']";
    assert_eq!(unused(&format!("{PING}{keys}")), ["frame.mtu", "frame.mtu"]);
    let keys =
        "switch.buffer = 64\nframe.mtu = '1 KiB'\n[sweep.product]\nworld = ['wormhole', 'frame']";
    assert_eq!(unused(&format!("{PING}{keys}")), ["", ""]);
}

/// A price must not look sure where it leaves out what the machine beside it has.
#[test]
fn the_model_always_tells_what_it_leaves_out() {
    let keys = "cluster.rails = 4\nnode.bus = 'half'\nnic.window = 4\n\
                node.commodity.interrupts = false\nframe.mtu = '1 KiB'\n\
                [sweep.product]\nworld = ['model', 'frame', 'ideal']";
    let told = "node.bus node.commodity.interrupts nic.window";
    assert_eq!(unused(&format!("{PING}{keys}")), [told, "", ""]);
    // Rails, and how ranks use them, are priced: there is nothing to leave out.
    let keys = "cluster.rails = [{}, {rate = '1 MB/s'}]\npolicy = 'basic'\nmessage = {}\n\
                channel = 'go-back-n'\nnode.overhead.message = '10 us'\n\
                [sweep.product]\nworld = ['model', 'frame']";
    assert_eq!(unused(&format!("{PING}{keys}")), ["", ""]);
    assert_eq!(unused(&format!("{PING}world = 'model'")), [""]);
}

#[test]
fn what_a_price_would_leave_out_is_known_of_any_machine() {
    let text = format!(
        "title = 'x'\nseed = 1\n{PING}cluster.rails = [{{}}, {{rate = '1 MB/s'}}]\n\
                        world = 'frame'\nnode.bus = 'half'\nswitch.buffer = 9"
    );
    let study = Study::parse("test", &text).unwrap();
    let found = study.unpriced(&study.points()[0]);
    assert_eq!(found, ["node.bus", "switch.buffer"]);
    assert_eq!(
        World::Model.does_not_use(&found).unwrap(),
        "not used by the model: node.bus, switch.buffer"
    );
}

/// What a reader should know of a point is that, and that packets that should take turns cannot.
#[test]
fn packets_that_are_whole_messages_take_no_turns() {
    let remarks = |keys: &str| {
        let text = format!("title = 'x'\nseed = 1\n{TREE}{keys}");
        let study = Study::parse("test", &text).unwrap_or_else(|mistake| panic!("{mistake}"));
        study.remarks(&study.points()[0])
    };
    let shuffle = "work.all-to-all = {size = '4 KiB', algorithm = 'modified-shuffle'}\n";
    let told = |why: &str| vec![format!("packets of modified-shuffle take no turns: {why}")];
    let whole = told("a packet is a whole message, as `nic.packet` says");
    for world in ["wormhole", "ideal"] {
        assert_eq!(remarks(&format!("{shuffle}world = '{world}'")), whole, "{world}");
    }
    // They are frames there.
    for keys in ["world = 'frame'", "world = 'model'", "world = 'live'", "nic.packet = '1 KiB'"] {
        let found = remarks(&format!("{shuffle}{keys}"));
        assert!(!found.concat().contains("turns"), "{keys}: {found:?}");
    }
    let elans = remarks(&format!("{shuffle}bus.full = {{}}\nnode.elan = {{}}"));
    assert_eq!(elans, told("an Elan is handed whole messages"));
    let pairwise = "work.all-to-all = {size = '4 KiB', algorithm = 'pairwise'}\nideal.gap = '1 ns'";
    assert_eq!(remarks(pairwise), ["not used by the wormhole network: ideal.gap"]);
}
