//! What a user sees after a mistake about real ranks, and what is kept of their points.

mod mistakes;

use crosstie_study::{PolicyKind, SideTable, Study, World};
use mistakes::{SOUND, complains};

const PING: &str = "title = 'x'\nseed = 1\nfabric.single.hosts = 2\nwork.ping.size = '8 B'\n";

#[test]
fn open_loop_traffic_on_real_hosts() {
    complains(
        &SOUND.replace("seed = 1\n", "seed = 1\nworld = \"live\"\n"),
        r#"
error: open-loop traffic on real hosts
 --> x.toml:3:9
  |
3 | world = "live"
  |         ^^^^^^ expected work that ends: ranks do that
  |
  = help: replace `traffic` by `work`, or choose another world
"#,
    );
}

#[test]
fn a_box_and_hosts() {
    complains(
        &format!("{PING}live = {{ box = 'b.toml', hosts = ['a'] }}\n"),
        r#"
error: two places to run in
 --> x.toml:5:34
  |
5 | live = { box = 'b.toml', hosts = ['a'] }
  |                                  ^^^^^ found a box as well, which has hosts of its own
  |
  = help: remove one of them
"#,
    );
}

#[test]
fn hosts_that_are_none() {
    // Checked whatever the world is, as everything that only one world knows.
    complains(
        &format!("{PING}live.hosts = ['a', '-n 7']\n"),
        r#"
error: no name of a machine
 --> x.toml:5:14
  |
5 | live.hosts = ['a', '-n 7']
  |              ^^^^^^^^^^^^^ found `-n 7`, expected the name or the address of a machine
"#,
    );
    complains(
        &format!("{PING}live.hosts = []\n"),
        r#"
error: no host to run on
 --> x.toml:5:14
  |
5 | live.hosts = []
  |              ^^ expected names of machines
  |
  = help: leave `hosts` out to run on this machine
"#,
    );
}

#[test]
fn what_happens_to_simulated_links_only() {
    complains(
        &format!("{PING}world = 'live'\n[[event]]\nat = '1 ms'\nrail = 0\ndown = true\n"),
        r#"
error: links that change on real hosts
 --> x.toml:6:1
  |
6 | [[event]]
  | ^^^^^^^^^ found events, expected them in the file of a box
  |
  = help: write events into the file that `live.box` names, or choose another world
"#,
    );
}

#[test]
fn somebody_else_needs_a_box_and_a_ring() {
    let competitor = "[[competitor]]\nrail = 0\nfrom = 0\nto = 1\nsize = '1 B'\nend = '1 s'\n";
    complains(
        &format!("{PING}world = 'live'\n{competitor}"),
        r#"
error: competitors on machines by name
 --> x.toml:6:1
  |
6 | [[competitor]]
  | ^^^^^^^^^^^^^^ found a competitor, expected a box, whose rails are known
  |
  = help: set `live.own-box = true`, or choose another world
"#,
    );
    let boxed = format!("{PING}world = 'live'\nlive.own-box = true\n{competitor}");
    assert!(Study::parse("x", &boxed).is_ok());
    complains(
        &format!("{boxed}window = 4\n"),
        r#"
error: a competitor with too short a ring
  --> x.toml:13:10
   |
13 | window = 4
   |          ^ found 4, expected at least 8 live
"#,
    );
}

#[test]
fn short_messages_that_are_too_long() {
    complains(
        &format!("{PING}world = 'live'\nmessage.eager = '1 MiB'\n"),
        r#"
error: short messages that are too long
 --> x.toml:6:17
  |
6 | message.eager = '1 MiB'
  |                 ^^^^^^^ found 1 MiB, expected at most 64 KiB live
"#,
    );
}

/// What real ranks do not use is refused, whatever the value is that they have.
#[test]
fn keys_that_real_ranks_do_not_use() {
    complains(
        &format!("{PING}world = 'live'\nmessage.fin = true\n"),
        r#"
error: a key that real ranks do not use
 --> x.toml:6:15
  |
6 | message.fin = true
  |               ^^^^ found `message.fin`, expected keys that real ranks obey
  |
  = help: remove it, or choose another world
"#,
    );
    complains(
        &format!("{PING}world = 'live'\nchannel = 'raw'\n"),
        r#"
error: real ranks without a channel
 --> x.toml:6:11
  |
6 | channel = 'raw'
  |           ^^^^^ found raw, expected a channel: real rails lose packets
  |
  = help: choose `selective` or `go-back-n`, or another world
"#,
    );
    complains(
        &format!("{PING}world = 'live'\nprofile = 'liu'\n"),
        r#"
error: a profile that real ranks do not run
 --> x.toml:6:11
  |
6 | profile = 'liu'
  |           ^^^^^ found liu, expected live
  |
  = help: remove it, or choose another world
"#,
    );
    for (keys, first) in [
        ("link.rate = '1 GB/s'", "link.rate"),
        ("live.own-box = true\nlink.wire = '1 us'", "link.wire"),
        ("live.own-box = true\nframe.switch.lookup = '1 us'", "frame.switch.lookup"),
        ("message.envelope = '16 B'", "message.envelope"),
        ("message.strict = true", "message.strict"),
        ("message.memory = '2 GB/s'", "message.memory"),
        ("nic.packet = '1 KiB'", "nic.packet"),
        ("nic.overhead = '0 B'", "nic.overhead"),
        ("nic.control = '48 B'", "nic.control"),
        ("nic.patience.least = '1 ms'", "nic.patience.least"),
        ("cluster.rails = 2", "cluster.rails"),
        ("node.bus = 'half'", "node.bus"),
        ("node.commodity.send = '1 us'", "node.commodity"),
        ("routing = 'minimal'", "routing"),
    ] {
        let text = format!("{PING}world = 'live'\n{keys}\n");
        let mistake = Study::parse("x", &text).unwrap_err().to_string();
        assert!(mistake.contains("a key that real ranks do not use"), "{keys}: {mistake}");
        assert!(mistake.contains(&format!("found `{first}")), "{keys}: {mistake}");
    }
}

/// Beside other worlds a key may be for their machine, and none for their protocol.
#[test]
fn beside_other_worlds_machines_have_keys_of_their_own_and_protocols_have_not() {
    let study = |keys: &str, worlds: &str| {
        let text = format!(
            "{PING}profile = 'live'\nlive.own-box = true\n{keys}\nsweep.product.world = [{worlds}]\n"
        );
        Study::parse("x", &text).map_err(|mistake| mistake.to_string())
    };
    for keys in [
        "link.wire = '1 us'",
        "node.commodity.send = '1 us'",
        "node.overhead.message = '1 us'",
        "message.memory = '2 GB/s'",
        "frame.switch.lookup = '1 us'",
    ] {
        assert_eq!(study(keys, "'frame', 'live'").err(), None, "{keys}");
    }
    for keys in [
        "message.fin = true",
        "message.strict = true",
        "message.envelope = '32 B'",
        "nic.overhead = '0 B'",
        "nic.packet = '1 KiB'",
        "nic.patience = {least = '1 ms'}",
    ] {
        let mistake = study(keys, "'frame', 'live'").unwrap_err();
        assert!(mistake.contains("a key that real ranks do not use"), "{keys}: {mistake}");
        assert!(mistake.contains("found at point 1: world = live"), "{keys}: {mistake}");
        assert_eq!(study(keys, "'frame', 'ideal'").err(), None, "{keys}");
    }
}

#[test]
fn limits_have_ranges() {
    for (key, value) in [("patience", "1 ms"), ("limit", "10 ms"), ("limit", "100000 s")] {
        let text = format!("{PING}live.{key} = '{value}'\n");
        let mistake = Study::parse("x", &text).unwrap_err().to_string();
        assert!(mistake.contains(&format!("wrong value for `live.{key}`")), "{mistake}");
    }
}

#[test]
fn worlds_with_real_ranks_survive() {
    let text = format!(
        "{PING}cluster.pes = 1\nlive = {{ box = 'b.toml', memory = false, patience = '1 s' }}\n\
         [sweep.product]\nworld = ['model', 'frame', 'live']\n"
    );
    let study = Study::parse("first", &text).unwrap_or_else(|mistake| panic!("{mistake}"));
    let written = study.to_toml();
    let again = Study::parse("again", &written).unwrap_or_else(|e| panic!("{e}\n{written}"));
    assert_eq!(again.points(), study.points(), "{written}");
    let [model, frame, live] = study.points() else { panic!("three points") };
    assert_eq!(live.spec.world, World::Live);
    // What nobody has named is what does best on real rails.
    assert_eq!(model.spec.policy, PolicyKind::default());
    assert_eq!(live.spec.policy, PolicyKind::recommended());
    let tables = |point: &crosstie_study::Point| point.spec.side_tables().collect::<Vec<_>>();
    assert!(tables(live).contains(&SideTable::Hosts));
    assert!(!tables(frame).contains(&SideTable::Hosts));
}

#[test]
fn several_ranks_of_a_host_need_no_table_of_messages() {
    let text = format!("{PING}cluster.pes = 2\nworld = 'live'\n");
    assert!(Study::parse("x", &text).is_ok());
}

#[test]
fn more_hosts_than_a_box_can_have() {
    let boxed = |hosts: u32| {
        let many = PING.replace("hosts = 2", &format!("hosts = {hosts}"));
        format!("{many}world = 'live'\nlive.own-box = true\n")
    };
    assert!(Study::parse("x.toml", &boxed(250)).is_ok());
    complains(
        &boxed(251),
        r#"
error: more hosts than a box can have
 --> x.toml:6:16
  |
6 | live.own-box = true
  |                ^^^^ found 251 hosts in `fabric`, expected at most 250
  |
  = help: take a smaller `fabric`, or choose another world
"#,
    );
    assert!(Study::parse("x.toml", &boxed(256)).is_err());
}
