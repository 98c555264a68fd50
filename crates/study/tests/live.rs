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
