//! What a user sees after a mistake: each test is one malformed file and the text printed for it.
//! Long, because the whole of each text is the point.

mod mistakes;

use crosstie_study::Study;
use mistakes::{SOUND, complains};

#[track_caller]
fn changed(from: &str, to: &str, expected: &str) {
    assert!(SOUND.contains(from));
    complains(&SOUND.replace(from, to), expected);
}

#[track_caller]
fn with(more: &str, expected: &str) {
    complains(&format!("{SOUND}{more}"), expected);
}

#[test]
fn unknown_key() {
    with(
        "[switch]\nvirtal-channels = 2\n",
        r#"
error: unknown key `virtal-channels`
  --> x.toml:12:1
   |
12 | virtal-channels = 2
   | ^^^^^^^^^^^^^^^ `switch` has no such key
   |
   = help: did you mean `virtual-channels`?
   = help: known here: virtual-channels, buffer, routing-delay, flow, consumes-headers
"#,
    );
}

#[test]
fn unknown_key_at_the_top() {
    changed(
        "[traffic]",
        "[trafic]",
        r#"
error: unknown key `trafic`
 --> x.toml:8:2
  |
8 | [trafic]
  |  ^^^^^^ no key has this name
  |
  = help: did you mean `traffic`?
  = help: known here: title, citation, description, sweep, figure, table, seed, world, profile, cluster, policy, channel, fabric, routing, switch, link, bus, nic, node, message, event, competitor, frame, ideal, model, live, traffic, work, schedule, measure
"#,
    );
}

#[test]
fn reads_that_nobody_serves() {
    let text = SOUND.find("[traffic").map(|at| &SOUND[..at]).unwrap();
    complains(
        &format!("{text}[work.read]\nsize = \"1 KiB\"\n"),
        r#"
error: reads without NICs that serve them
 --> x.toml:8:1
  |
8 | [work.read]
  | ^^^^^^^^^^^ expected `node.elan`, in the world `wormhole`: other nodes serve no reads
  |
  = help: take `work.scatter = { algorithm = "linear", ... }`, where the one sends
"#,
    );
}

const ELANS: &str = r#"title = "Elans"
seed = 1
bus.full = {}
work.ping.size = "8 B"
fabric.tree = { k = 4, n = 2 }
"#;

#[test]
fn tagged_ports_without_messages() {
    complains(
        &format!("{ELANS}node.elan.tports = {{}}\n"),
        r#"
error: tagged ports without messages
 --> x.toml:6:20
  |
6 | node.elan.tports = {}
  |                    ^^ expected a profile beside it, whose envelopes have the tags
  |
  = help: add `profile = "tports"`, or remove `tports`
"#,
    );
}

#[test]
fn processors_beside_tagged_ports() {
    complains(
        &format!("{ELANS}profile = 'tports'\nnode.elan.tports = {{}}\nnode.overhead = {{}}\n"),
        r#"
error: Elans and processors that match messages, too
 --> x.toml:8:17
  |
8 | node.overhead = {}
  |                 ^^ `node.elan` is a NIC of its own
  |
  = help: remove `node.overhead`: what matching takes is `node.elan.tports.match`
"#,
    );
}

#[test]
fn elans_and_what_real_ranks_run() {
    complains(
        &format!("{ELANS}profile = 'live'\nnode.elan = {{}}\n"),
        r#"
error: Elans and the profile of real ranks
 --> x.toml:7:13
  |
7 | node.elan = {}
  |             ^^ found the profile `live`, whose channels acknowledge what Elans do, too
  |
  = help: set `profile = "tports"`, or `profile = "liu"`
"#,
    );
    complains(
        &format!("{ELANS}profile = 'liu'\nnode.elan.tports = {{}}\nmessage.fin = true\n"),
        r#"
error: tagged ports with another protocol
 --> x.toml:8:15
  |
8 | message.fin = true
  |               ^^^^ found FINs, where events tell that data are in place
  |
  = help: set `profile = "tports"`, which has neither
"#,
    );
}

#[test]
fn a_policy_that_reserves_under_what_real_ranks_run() {
    complains(
        &PING.replace("seed = 1", "seed = 1\npolicy = 'dynamic'\nprofile = 'live'"),
        r#"
error: a policy that reserves the NICs of receivers
 --> x.toml:3:10
  |
3 | policy = 'dynamic'
  |          ^^^^^^^^^ found dynamic, which ranks of the profile `live` cannot do
  |
  = help: choose another policy, or name a paper's profile, such as `profile = "liu"`
"#,
    );
}

#[test]
fn reads_of_a_rank_that_there_is_not() {
    let text =
        ELANS.replace("work.ping.size = \"8 B\"", "work.read = { size = \"8 B\", from = 16 }");
    complains(
        &format!("{text}node.elan = {{}}\n"),
        r#"
error: no such rank
 --> x.toml:4:36
  |
4 | work.read = { size = "8 B", from = 16 }
  |                                    ^^ found rank 16, expected a rank from 0 to 15
  |
  = help: lower it, or raise `schedule.ranks`
"#,
    );
}

#[test]
fn unknown_choice() {
    changed(
        "[fabric.tree]",
        "[fabric.tre]",
        r#"
error: unknown choice `tre`
 --> x.toml:4:9
  |
4 | [fabric.tre]
  |         ^^^ not a choice for `fabric`
  |
  = help: did you mean `tree`?
  = help: known here: tree, single, two-level, irregular, file
"#,
    );
}

#[test]
fn key_in_a_choice_that_has_none() {
    with(
        "[bus.full]\nrate = 3\n",
        r#"
error: unknown key `rate`
  --> x.toml:12:1
   |
12 | rate = 3
   | ^^^^ `bus.full` has no such key
"#,
    );
}

#[test]
fn two_choices() {
    with(
        "[fabric.single]\nhosts = 8\n",
        r#"
error: two choices where there can be one
  --> x.toml:11:9
   |
 4 | [fabric.tree]
   |         ---- `tree` is the first
...
11 | [fabric.single]
   |         ^^^^^^ `single` is a second choice
"#,
    );
}

#[test]
fn a_seed_with_a_point() {
    changed(
        "seed = 1\n",
        "seed = 1.0\n",
        r#"
error: wrong value for `seed`
 --> x.toml:2:8
  |
2 | seed = 1.0
  |        ^^^ found `1.0`, expected a whole number from 0
"#,
    );
}

#[test]
fn missing_key() {
    changed(
        "seed = 1\n",
        "",
        r#"
error: missing key `seed`
 --> x.toml:1:1
  |
1 | title = "A tree"
  | ^ an experiment needs `seed`
"#,
    );
}

#[test]
fn missing_value() {
    changed(
        "load = 0.3",
        "load = # soon",
        r#"
error: missing value
 --> x.toml:9:8
  |
9 | load = # soon
  |        ^ expected a value after `=`
"#,
    );
}

#[test]
fn not_toml() {
    changed(
        "load = 0.3",
        "load 0.3",
        r#"
error: key with no value
 --> x.toml:9:6
  |
9 | load 0.3
  |      ^ expected `=`
"#,
    );
}

#[test]
fn arity_zero() {
    changed(
        "k = 4",
        "k = 0",
        r#"
error: wrong value for `fabric.tree.k`
 --> x.toml:5:5
  |
5 | k = 0
  |     ^ found `0`, expected a whole number from 2 to 64
"#,
    );
}

#[test]
fn load_above_one() {
    changed(
        "load = 0.3",
        "load = 1.3",
        r#"
error: wrong value for `traffic.load`
 --> x.toml:9:8
  |
9 | load = 1.3
  |        ^^^ found `1.3`, expected a load above 0 and at most 1
"#,
    );
}

#[test]
fn no_unit() {
    changed(
        r#""64 B""#,
        r#""64""#,
        r#"
error: wrong value for `traffic.size.fixed.size`
  --> x.toml:10:19
   |
10 | size.fixed.size = "64"
   |                   ^^^^ `64` has no unit: write a size such as "64 KiB" (units: B, KiB, MiB, GiB, kB, MB, GB)
"#,
    );
}

#[test]
fn wrong_unit() {
    changed(
        r#""64 B""#,
        r#""64 ns""#,
        r#"
error: wrong value for `traffic.size.fixed.size`
  --> x.toml:10:19
   |
10 | size.fixed.size = "64 ns"
   |                   ^^^^^^^ `ns` is not a unit of a size (units: B, KiB, MiB, GiB, kB, MB, GB)
"#,
    );
}

#[test]
fn bare_number() {
    changed(
        r#""64 B""#,
        "64",
        r#"
error: wrong value for `traffic.size.fixed.size`
  --> x.toml:10:19
   |
10 | size.fixed.size = 64
   |                   ^^ found `64`, expected a size from "1 B" to "1 GiB"
"#,
    );
}

#[test]
fn size_of_nothing() {
    changed(
        r#""64 B""#,
        r#""0 B""#,
        r#"
error: wrong value for `traffic.size.fixed.size`
  --> x.toml:10:19
   |
10 | size.fixed.size = "0 B"
   |                   ^^^^^ found "0 B", expected a size from "1 B" to "1 GiB"
"#,
    );
}

#[test]
fn text_for_a_number() {
    changed(
        "n = 3",
        r#"n = "three""#,
        r#"
error: wrong value for `fabric.tree.n`
 --> x.toml:6:5
  |
6 | n = "three"
  |     ^^^^^^^ found "three", expected a whole number from 1 to 16
"#,
    );
}

#[test]
fn tree_too_large() {
    changed(
        "n = 3",
        "n = 9",
        r#"
error: the tree is too large
 --> x.toml:6:5
  |
6 | n = 9
  |     ^ 4^9 leaves, expected at most 65536
"#,
    );
}

#[test]
fn more_hosts_than_leaves() {
    changed(
        "n = 3",
        "n = 3\nhosts = 65",
        r#"
error: more hosts than leaves
 --> x.toml:7:9
  |
7 | hosts = 65
  |         ^^ found 65 hosts, expected at most 4^3 = 64
  |
  = help: leave `hosts` out for a full tree, or raise `n`
"#,
    );
}

#[test]
fn no_load() {
    changed(
        "load = 0.3\n",
        "",
        r#"
error: missing key `load`
 --> x.toml:8:1
  |
8 | [traffic]
  | ^^^^^^^^^ `traffic` needs `load`
  |
  = help: set or sweep `traffic.load`, or add `[measure.saturation]` to search for the highest
"#,
    );
}

#[test]
fn load_and_saturation() {
    with(
        "[measure.saturation]\n",
        r#"
error: a load, although the saturation point is searched for
 --> x.toml:9:8
  |
9 | load = 0.3
  |        ^^^ expected no load here
  |
  = help: remove `traffic.load`, or remove `measure.saturation`
"#,
    );
}

#[test]
fn more_hosts_than_ports() {
    changed(
        "[fabric.tree]\nk = 4\nn = 3\n",
        "[fabric.irregular]\nswitches = 16\nports = 8\nhosts-per-switch = 9\nseed = 1\n",
        r#"
error: more hosts than ports
 --> x.toml:7:20
  |
7 | hosts-per-switch = 9
  |                    ^ found 9, expected at most ports = 8
"#,
    );
}

#[test]
fn links_too_few_or_too_many() {
    changed(
        "[fabric.tree]\nk = 4\nn = 3\n",
        "[fabric.irregular]\nswitches = 16\nports = 8\nhosts-per-switch = 4\nlinks = 33\nseed = 1\n",
        r#"
error: the wrong number of links
 --> x.toml:8:9
  |
8 | links = 33
  |         ^^ found 33, expected 15, which connect the switches, to 32, for which there are ports
"#,
    );
}

#[test]
fn switches_without_ports_for_links() {
    changed(
        "[fabric.tree]\nk = 4\nn = 3\n",
        "[fabric.irregular]\nswitches = 16\nports = 8\nhosts-per-switch = 7\nseed = 1\n",
        r#"
error: the switches cannot be connected
 --> x.toml:7:20
  |
7 | hosts-per-switch = 7
  |                    ^ leaves 1 of 8 ports for links, expected 2 or more
  |
  = help: raise `ports`, or lower `hosts-per-switch`
"#,
    );
}

#[test]
fn too_many_hosts_on_too_many_switches() {
    changed(
        "[fabric.tree]\nk = 4\nn = 3\n",
        "[fabric.irregular]\nswitches = 60000\nports = 8\nhosts-per-switch = 4\nseed = 1\n",
        r#"
error: the wrong number of hosts
 --> x.toml:5:12
  |
5 | switches = 60000
  |            ^^^^^ 60000 switches with 4 hosts each, expected 2 to 65536 hosts
"#,
    );
}

#[test]
fn a_random_network_without_a_seed() {
    changed(
        "[fabric.tree]\nk = 4\nn = 3\n",
        "[fabric.irregular]\nswitches = 16\nports = 8\nhosts-per-switch = 4\n",
        r#"
error: missing key `seed`
 --> x.toml:4:1
  |
4 | [fabric.irregular]
  | ^^^^^^^^^^^^^^^^^^ `fabric.irregular` needs `seed`
"#,
    );
}

#[test]
fn tree_routing_without_a_tree() {
    changed(
        "[fabric.tree]\nk = 4\nn = 3\n",
        "[fabric.single]\nhosts = 8\n[routing.tree-adaptive]\n",
        r#"
error: this routing knows trees only
 --> x.toml:6:2
  |
6 | [routing.tree-adaptive]
  |  ^^^^^^^ expected a fabric of the kind `tree`
  |
  = help: leave `routing` out, or set `routing = "up-down"`
"#,
    );
}

#[test]
fn several_pes_without_a_policy() {
    with(
        "[cluster]\npes = 4\n",
        r#"
error: several processing elements without a policy
  --> x.toml:12:7
   |
12 | pes = 4
   |       ^ in turn, a node sends as one
   |
   = help: say how they share the rails: `policy = "basic"`, or leave `pes` out
"#,
    );
}

#[test]
fn no_pes() {
    with(
        "[cluster]\npes = 0\n",
        r#"
error: wrong value for `cluster.pes`
  --> x.toml:12:7
   |
12 | pes = 0
   |       ^ found `0`, expected a whole number from 1 to 64
"#,
    );
}

#[test]
fn scheme_misspelt() {
    changed(
        "seed = 1",
        "seed = 1\nscheme = 'localdynamic'",
        r#"
error: unknown choice `localdynamic`
 --> x.toml:3:10
  |
3 | scheme = 'localdynamic'
  |          ^^^^^^^^^^^^^^ not a choice for `scheme`
  |
  = help: did you mean `local-dynamic`?
  = help: known here: round-robin, static, basic, local-dynamic, dynamic, hybrid, binding, weighted-round-robin, window-round-robin, even-striping, weighted-striping, adaptive-striping, fastest, pull
"#,
    );
}

#[test]
fn key_that_the_scheme_lacks() {
    with(
        "[scheme.dynamic]\nthreshold = '4 KiB'\n",
        r#"
error: unknown key `threshold`
  --> x.toml:12:1
   |
12 | threshold = '4 KiB'
   | ^^^^^^^^^ `scheme.dynamic` has no such key
   |
   = help: known here: striping, timeout
"#,
    );
}

#[test]
fn striping_beyond_all_rails() {
    with(
        "[scheme.local-dynamic]\nstriping = 4\n",
        r#"
error: wrong value for `scheme.local-dynamic.striping`
  --> x.toml:12:12
   |
12 | striping = 4
   |            ^ found `4`, expected a striping ratio from 0 to 1
"#,
    );
}

#[test]
fn no_time_to_answer() {
    with(
        "[scheme.dynamic]\ntimeout = '0 us'\n",
        r#"
error: wrong value for `scheme.dynamic.timeout`
  --> x.toml:12:11
   |
12 | timeout = '0 us'
   |           ^^^^^^ found "0 us", expected a time from "1 ns" to "1 s"
"#,
    );
}

#[test]
fn static_allocation_with_too_few_rails() {
    with(
        r#"[cluster]
rails = 4
[sweep.product]
scheme = ["basic", "static"]
"#,
        r#"
error: too few rails for static allocation
  --> x.toml:14:20
   |
14 | scheme = ["basic", "static"]
   |                    ^^^^^^^^ 64 hosts need at least 8 rails, but there are 4
   |
   = help: set `cluster.rails = 8`, or take at most 6 hosts, all that 4 rails can join
   = help: found at point 1: scheme = static
"#,
    );
}

#[test]
fn static_allocation_with_more_hosts_than_any_rails_can_join() {
    changed(
        "n = 3\n",
        "n = 8\n[cluster]\nrails = 16\n[scheme.static]\n",
        r#"
error: too few rails for static allocation
 --> x.toml:9:1
  |
9 | [scheme.static]
  | ^^^^^^^^^^^^^^^ 65536 hosts need at least 19 rails, but there are 16
  |
  = help: take at most 12870 hosts, all that 16 rails can join
"#,
    );
}

#[test]
fn control_packet_of_nothing() {
    with(
        "[nic]\ncontrol = '0 B'\nresponse = 200\n",
        r#"
error: wrong value for `nic.control`
  --> x.toml:12:11
   |
12 | control = '0 B'
   |           ^^^^^ found "0 B", expected a size from "1 B" to "64 KiB"
"#,
    );
}

#[test]
fn bits_without_a_power_of_two() {
    with(
        r#"destination = "shuffle"
[sweep.product]
fabric.tree.k = [4, 3]
"#,
        r#"
error: `shuffle` does not fit this number of hosts
  --> x.toml:11:15
   |
11 | destination = "shuffle"
   |               ^^^^^^^^^ there are 27 hosts, expected a power of 2
   |
   = help: found at point 1: fabric.tree.k = 3
"#,
    );
}

#[test]
fn shares_below_one() {
    with(
        "destination.mixture.parts = [{share = 0.5, destination = 'uniform'}]\n",
        r#"
error: the shares do not make a whole
  --> x.toml:11:29
   |
11 | destination.mixture.parts = [{share = 0.5, destination = 'uniform'}]
   |                             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the shares add up to 0.5, expected 1
"#,
    );
}

#[test]
fn wire_too_long() {
    with(
        r#"[link]
wire = "1 ms"
"#,
        r#"
error: the wire is too long
  --> x.toml:12:8
   |
12 | wire = "1 ms"
   |        ^^^^^^ 1 ms is more than 65535 cycles of 5 ns
"#,
    );
}

#[test]
fn empty_sweep() {
    with(
        r#"[sweep.product]
"traffic.load" = []
"#,
        r#"
error: `traffic.load` is swept over nothing
  --> x.toml:12:18
   |
12 | "traffic.load" = []
   |                  ^^ expected at least one value
   |
   = help: give it values, or remove the line
"#,
    );
}

#[test]
fn swept_key_misspelt() {
    with(
        r#"[sweep.product]
"traffic.laod" = [0.1, 0.2]
"#,
        r#"
error: unknown key `laod`
  --> x.toml:12:1
   |
12 | "traffic.laod" = [0.1, 0.2]
   | ^^^^^^^^^^^^^^ `traffic` has no such key
   |
   = help: did you mean `load`?
   = help: known here: load, arrival, size, destination
"#,
    );
}

#[test]
fn swept_value_out_of_range() {
    with(
        "[sweep.product]\ntraffic.load = [0.1, 0.2, 1.5]\n",
        r#"
error: wrong value for `traffic.load`
  --> x.toml:12:27
   |
12 | traffic.load = [0.1, 0.2, 1.5]
   |                           ^^^ found `1.5`, expected a load above 0 and at most 1
"#,
    );
}

#[test]
fn swept_values_that_clash() {
    with(
        "destination.hot-spot = {host = 20, share = 0.5}\n[sweep.product]\nfabric.tree.n = [3, 2]\n",
        r#"
error: no such host
  --> x.toml:11:32
   |
11 | destination.hot-spot = {host = 20, share = 0.5}
   |                                ^^ found 20, expected a host from 0 to 15
   |
   = help: found at point 1: fabric.tree.n = 2
"#,
    );
}

#[test]
fn zip_of_different_lengths() {
    with(
        "[sweep.zip]\ntraffic.load = [0.1, 0.2]\nfabric.tree.n = [1, 2, 3]\n",
        r#"
error: zipped lists have different lengths
  --> x.toml:13:13
   |
12 | traffic.load = [0.1, 0.2]
   |         ---- this one has 2 values
13 | fabric.tree.n = [1, 2, 3]
   |             ^ this one has 3 values
"#,
    );
}

#[test]
fn value_swept_twice() {
    with(
        "[sweep.product]\ntraffic.load = [0.1, 0.2, 0.1]\n",
        r#"
error: `traffic.load` takes the same value twice
  --> x.toml:12:27
   |
12 | traffic.load = [0.1, 0.2, 0.1]
   |                 ---       ^^^ listed again here
   |                 |
   |                 listed here already
   |
   = help: leave one of them out
"#,
    );
}

#[test]
fn value_swept_twice_in_other_words() {
    with(
        "[sweep.product]\ntraffic.destination = ['tornado', { tornado = {} }]\n",
        r#"
error: `traffic.destination` takes the same value twice
  --> x.toml:12:35
   |
12 | traffic.destination = ['tornado', { tornado = {} }]
   |                        ---------  ^^^^^^^^^^^^^^^^ listed again here
   |                        |
   |                        listed here already
   |
   = help: leave one of them out
"#,
    );
}

#[test]
fn points_zipped_twice() {
    with(
        "[sweep.zip]\ntraffic.load = [0.1, 0.1, 0.1]\nswitch.buffer = [64, 32, 64]\n",
        r#"
error: points 0 and 2 are the same
  --> x.toml:12:27
   |
12 | traffic.load = [0.1, 0.1, 0.1]
   |                 ---       ^^^ listed again here
   |                 |
   |                 listed here already
   |
   = help: leave one of them out
"#,
    );
}

#[test]
fn overlapping_keys() {
    with(
        r#"[sweep.product]
bus = ["half"]
"bus.asymmetric.read" = ["1 MB/s"]
"#,
        r#"
error: two swept keys overlap
  --> x.toml:13:1
   |
12 | bus = ["half"]
   | --- swept here already
13 | "bus.asymmetric.read" = ["1 MB/s"]
   | ^^^^^^^^^^^^^^^^^^^^^ `bus.asymmetric.read` and `bus` set the same thing
"#,
    );
}

#[test]
fn title_swept() {
    with(
        r#"[sweep.product]
title = ["a", "b"]
"#,
        r#"
error: `title` cannot be swept
  --> x.toml:12:1
   |
12 | title = ["a", "b"]
   | ^^^^^ the same at all points
"#,
    );
}

#[test]
fn sweep_of_neither_kind() {
    with(
        "[sweep]\nload = [0.1, 0.2]\n",
        r#"
error: unknown kind of sweep `load`
  --> x.toml:12:1
   |
12 | load = [0.1, 0.2]
   | ^^^^ no kind of sweep has this name
   |
   = help: known here: product, zip
   = help: write swept keys under `[sweep.product]` or `[sweep.zip]`
"#,
    );
}

#[test]
fn figure_of_an_unknown_column() {
    with(
        r#"[[figure]]
name = "a"
x = "offered"
y = ["accepted", "latncy_ci"]
"#,
        r#"
error: unknown column `latncy_ci`
  --> x.toml:14:18
   |
14 | y = ["accepted", "latncy_ci"]
   |                  ^^^^^^^^^^^ no column has this name
   |
   = help: did you mean `latency_ci`?
   = help: known here: offered, accepted, accepted_ci, latency_mean, latency_ci, latency_p50, latency_p99, latency_p999, latency_max, network_mean, hops_mean, packets, warmup, cycles, utilisation_mean, utilisation_max, blocked_mean, blocked_max, minimal_share, stops_mean, pool_peak, saturation, saturation_low, saturation_high
"#,
    );
}

#[test]
fn figure_by_a_key_that_is_not_swept() {
    with(
        r#"[[figure]]
name = "a"
x = "offered"
y = "accepted"
series = ["routng"]
[sweep.product]
routing = ["shortest"]
"#,
        r#"
error: unknown swept key `routng`
  --> x.toml:15:11
   |
15 | series = ["routng"]
   |           ^^^^^^^^ no swept key has this name
   |
   = help: did you mean `routing`?
   = help: known here: routing
   = help: a series is told apart by a key of `[sweep]`
"#,
    );
}

#[test]
fn figure_in_single_brackets() {
    with(
        r#"[figure]
name = "a"
"#,
        r#"
error: wrong value for `figure`
  --> x.toml:11:1
   |
11 | [figure]
   | ^^^^^^^^ found a single value, expected a list of figures
   |
   = help: head each figure with `[[figure]]`, in double brackets
"#,
    );
}

#[test]
fn figure_name_unfit_for_a_file() {
    with(
        r#"[[figure]]
name = "../a"
x = "offered"
y = "accepted"
"#,
        r#"
error: wrong value for `figure.name`
  --> x.toml:12:8
   |
12 | name = "../a"
   |        ^^^^^^ found `../a`, expected 1 to 64 lower-case letters, digits and hyphens
"#,
    );
}

#[test]
fn figure_range_upside_down() {
    with(
        r#"[[figure]]
name = "a"
x = "offered"
y = "accepted"
x-range = [1, 0]
"#,
        r#"
error: an empty range
  --> x.toml:15:11
   |
15 | x-range = [1, 0]
   |           ^^^^^^ found 1 and 0, expected the low end first
"#,
    );
}

#[test]
fn too_many_points() {
    let list = |count: u32| (1..=count).map(|i| i.to_string()).collect::<Vec<_>>().join(",");
    let sweep =
        format!("[sweep.product]\nseed = [{}]\nswitch.buffer = [{}]\n", list(500), list(201));
    let mistake = Study::parse("x.toml", &format!("{SOUND}{sweep}")).unwrap_err();
    assert_eq!(mistake.message(), "the sweep has too many points");
    assert_eq!(mistake.line(), Some(13));
}

#[test]
fn too_many_swept_keys() {
    let keys: String = (0..65).map(|i| format!("bus.x{i} = [1]\n")).collect();
    let text = format!("{SOUND}[sweep.product]\n{keys}");
    let mistake = Study::parse("x.toml", &text).unwrap_err();
    assert_eq!((mistake.message(), mistake.line()), ("too many swept keys", Some(76)));
}

#[test]
fn colours_are_added_on_request() {
    let mistake = Study::parse("x.toml", "seed = 1").unwrap_err();
    assert!(mistake.render(true).contains("\u{1b}["));
    assert!(!mistake.render(false).contains('\u{1b}'));
}

#[test]
fn the_file_they_all_derive_from_is_sound() {
    assert_eq!(Study::parse("x.toml", SOUND).unwrap().points().len(), 1);
}

#[test]
fn a_routing_with_stops_and_nics_that_pass_nothing_on() {
    with(
        "[routing.up-down-itb]\n",
        r#"
error: this routing stops at hosts, but NICs pass nothing on
  --> x.toml:11:2
   |
11 | [routing.up-down-itb]
   |  ^^^^^^^ expected NICs with in-transit buffers
   |
   = help: add `nic.in-transit = {}` and `bus = "full"`
"#,
    );
}

#[test]
fn in_transit_buffers_behind_a_shared_bus() {
    with(
        "[nic.in-transit]\nsetup = \"200 ns\"\n",
        r#"
error: in-transit buffers behind a bus of one way at a time
  --> x.toml:11:1
   |
11 | [nic.in-transit]
   | ^^^^^^^^^^^^^^^^ expected a full-duplex bus beside them
   |
   = help: set `bus = "full"`
"#,
    );
}

#[test]
fn in_transit_packets_in_no_time() {
    with(
        "[bus.full]\n[nic.in-transit]\nsetup = \"0 ns\"\nrecognition = \"0 ns\"\n",
        r#"
error: in-transit packets that take no time
  --> x.toml:12:1
   |
12 | [nic.in-transit]
   | ^^^^^^^^^^^^^^^^ expected recognition or setup above 0
"#,
    );
}

#[test]
fn a_pool_smaller_than_what_is_on_the_wire() {
    with(
        "[bus.full]\n[nic.in-transit]\npool = \"24 B\"\n",
        r#"
error: the pool is too small
  --> x.toml:13:8
   |
13 | pool = "24 B"
   |        ^^^^^^ 6 flits per virtual channel, expected more than the 2 x 3 on the wire
"#,
    );
}

#[test]
fn a_go_mark_above_the_stop_mark() {
    with(
        "[switch.flow.stop-and-go]\nstop = 40\ngo = 56\n",
        r#"
error: go is not below stop
  --> x.toml:13:6
   |
13 | go = 56
   |      ^^ found 56, expected less than stop = 40
"#,
    );
}

#[test]
fn a_stop_mark_without_slack() {
    with(
        "[switch]\nbuffer = 61\nflow.stop-and-go = { stop = 56, go = 40 }\n",
        r#"
error: the buffer may overflow before the sender stops
  --> x.toml:13:29
   |
13 | flow.stop-and-go = { stop = 56, go = 40 }
   |                             ^^ 56 flits and 2 x 3 on the wire do not fit in 61
   |
   = help: set `switch.buffer = 62`, lower `stop`, or shorten `link.wire`
"#,
    );
}

#[test]
fn a_flow_control_that_is_none() {
    with(
        "[switch]\nflow = \"stop-and-wait\"\n",
        r#"
error: unknown choice `stop-and-wait`
  --> x.toml:12:8
   |
12 | flow = "stop-and-wait"
   |        ^^^^^^^^^^^^^^^ not a choice for `switch.flow`
   |
   = help: did you mean `stop-and-go`?
   = help: known here: credits, stop-and-go
"#,
    );
}

/// The same file with closed-loop work.
const PING: &str = r#"title = "A tree"
seed = 1

[fabric.tree]
k = 4
n = 3

[work.ping]
size = "64 B"
"#;

#[test]
fn unknown_world() {
    changed(
        "seed = 1",
        "seed = 1\nworld = 'wormwhole'",
        r#"
error: unknown choice `wormwhole`
 --> x.toml:3:9
  |
3 | world = 'wormwhole'
  |         ^^^^^^^^^^^ not a choice for `world`
  |
  = help: did you mean `wormhole`?
  = help: known here: wormhole, frame, ideal, model, live
"#,
    );
}

#[test]
fn ideal_network_without_bandwidth() {
    with(
        "[ideal]\nrate = '0 B/s'\n",
        r#"
error: wrong value for `ideal.rate`
  --> x.toml:12:8
   |
12 | rate = '0 B/s'
   |        ^^^^^^^ found "0 B/s", expected a rate from "1 kB/s" to "1000 GB/s"
"#,
    );
}

#[test]
fn policy_and_its_earlier_name() {
    with(
        "[scheme.dynamic]\nstriping = 0\n[policy.basic]\n",
        r#"
error: `scheme` and `policy` are two names of one key
  --> x.toml:11:2
   |
11 | [scheme.dynamic]
   |  ^^^^^^ `scheme` is its earlier name
12 | striping = 0
13 | [policy.basic]
   |  ------ set here already
   |
   = help: keep `policy`, and leave `scheme` out
"#,
    );
}

#[test]
fn policy_swept_under_both_names() {
    with(
        "[sweep.product]\npolicy = ['basic', 'dynamic']\nscheme.dynamic.striping = [0, 1]\n",
        r#"
error: two swept keys overlap
  --> x.toml:13:16
   |
12 | policy = ['basic', 'dynamic']
   | ------ swept here already
13 | scheme.dynamic.striping = [0, 1]
   |                ^^^^^^^^ `scheme.dynamic.striping` and `policy` set the same thing
"#,
    );
}

#[test]
fn nothing_to_do() {
    complains(
        PING.split("[work").next().unwrap(),
        r#"
error: nothing to do
 --> x.toml:1:1
  |
1 | title = "A tree"
  | ^ an experiment needs `traffic` or `work`
  |
  = help: add `[traffic]`, which hosts send on their own, or `work`, such as `work.ping.size = "1 KiB"`
"#,
    );
}

#[test]
fn traffic_and_work() {
    with(
        "[work.ping]\nsize = '1 KiB'\n",
        r#"
error: both `traffic` and `work`, where there can be one
  --> x.toml:11:2
   |
 8 | [traffic]
   |  ------- open-loop traffic is the first
...
11 | [work.ping]
   |  ^^^^ a second thing to do
"#,
    );
}

#[test]
fn unknown_work() {
    complains(
        &PING.replace("[work.ping]", "[work.pong]"),
        r#"
error: unknown choice `pong`
 --> x.toml:8:7
  |
8 | [work.pong]
  |       ^^^^ not a choice for `work`
  |
  = help: did you mean `ping`?
  = help: known here: ping, stream, pairs, read, goal, barrier, broadcast, gather, scatter, all-gather, reduce, all-reduce, reduce-scatter, scan, exclusive-scan, all-to-all
"#,
    );
}

#[test]
fn no_iterations() {
    complains(
        &format!("{PING}iterations = 0\n"),
        r#"
error: wrong value for `work.ping.iterations`
  --> x.toml:10:14
   |
10 | iterations = 0
   |              ^ found `0`, expected a whole number from 1 to 1000000
"#,
    );
}

#[test]
fn rank_beyond_the_hosts() {
    complains(
        &format!("{PING}[sweep.product]\nwork.ping.to = [63, 64]\n"),
        r#"
error: no such rank
  --> x.toml:11:21
   |
11 | work.ping.to = [63, 64]
   |                     ^^ found 64, expected a rank from 0 to 63
   |
   = help: found at point 1: work.ping.to = 64
"#,
    );
}

#[test]
fn ping_to_oneself() {
    complains(
        &format!("{PING}from = 1\n"),
        r#"
error: a rank that sends to itself
 --> x.toml:8:1
  |
8 | [work.ping]
  | ^^^^^^^^^^^ found 1, as in `from`, expected another rank
"#,
    );
}

#[test]
fn saturation_of_a_ping() {
    complains(
        &format!("{PING}[measure.saturation]\n"),
        r#"
error: a search for saturation under work that waits for the network
  --> x.toml:10:1
   |
10 | [measure.saturation]
   | ^^^^^^^^^^^^^^^^^^^^ expected `traffic` beside it
   |
   = help: remove `measure.saturation`, or replace `work` by `traffic`
"#,
    );
}

#[test]
fn several_pes_that_ping() {
    complains(
        &PING.replace("seed = 1", "seed = 1\npolicy = 'basic'\ncluster.pes = 2"),
        r#"
error: several ranks on a host
 --> x.toml:4:15
  |
4 | cluster.pes = 2
  |               ^ found 2, expected a `profile` beside it, by which ranks of one host reach each other
  |
  = help: add `profile = "live"`, or leave `pes` out
"#,
    );
}

#[test]
fn envelopes_without_ranks() {
    with(
        "[message]\neager = '1 KiB'\n",
        r#"
error: a protocol between ranks that there are not
  --> x.toml:11:1
   |
11 | [message]
   | ^^^^^^^^^ open-loop traffic has no ranks that ask for messages
   |
   = help: remove `message` and `profile`, or replace `traffic` by `work`
"#,
    );
}

#[test]
fn credit_for_less_than_a_message() {
    complains(
        &PING.replace("seed = 1", "seed = 1\nmessage = { eager = '2 KiB', credit = '1 KiB' }"),
        r#"
error: no room for a short message
 --> x.toml:3:39
  |
3 | message = { eager = '2 KiB', credit = '1 KiB' }
  |                                       ^^^^^^^ found 1 KiB, expected at least `message.eager`, 2 KiB
"#,
    );
}

#[test]
fn a_rank_in_two_pairs() {
    complains(
        &PING.replace("[work.ping]", "[work.stream]\nto = 2\npairs = 3"),
        r#"
error: a rank in two pairs
  --> x.toml:10:9
   |
10 | pairs = 3
   |         ^ found 3, expected at most 2: ranks from 0 and from 2 on are to be different
"#,
    );
}

#[track_caller]
fn table(keys: &str, expected: &str) {
    with(
        &format!("[sweep.product]\nbus = ['half', 'full']\nseed = [1, 2]\n[[table]]\n{keys}"),
        expected,
    );
}

#[test]
fn table_of_an_unknown_column() {
    table(
        "rows = 'seed'\nvalue = 'accepts'\n",
        r#"
error: unknown column `accepts`
  --> x.toml:16:9
   |
16 | value = 'accepts'
   |         ^^^^^^^^^ no column has this name
   |
   = help: did you mean `accepted`?
   = help: known here: offered, accepted, accepted_ci, latency_mean, latency_ci, latency_p50, latency_p99, latency_p999, latency_max, network_mean, hops_mean, packets, warmup, cycles, utilisation_mean, utilisation_max, blocked_mean, blocked_max, minimal_share, stops_mean, pool_peak, saturation, saturation_low, saturation_high
"#,
    );
}

#[test]
fn table_by_a_key_that_is_not_swept() {
    table(
        "rows = 'seed'\ncolumns = 'buss'\nvalue = 'accepted'\n",
        r#"
error: unknown swept key `buss`
  --> x.toml:16:11
   |
16 | columns = 'buss'
   |           ^^^^^^ no swept key has this name
   |
   = help: did you mean `bus`?
   = help: known here: bus, seed
   = help: a table is laid out by keys of `[sweep]`
"#,
    );
}

#[test]
fn table_by_one_key_twice() {
    table(
        "rows = 'seed'\ncolumns = 'seed'\nvalue = 'accepted'\n",
        r#"
error: rows and columns are the same
  --> x.toml:16:11
   |
16 | columns = 'seed'
   |           ^^^^^^ expected another key than in `rows`
"#,
    );
}

#[test]
fn table_with_several_values_in_a_cell() {
    table(
        "rows = 'seed'\ncolumns = 'bus'\nvalue = ['offered', 'accepted']\n",
        r#"
error: several values for each cell
  --> x.toml:17:9
   |
17 | value = ['offered', 'accepted']
   |         ^^^^^^^^^^^^^^^^^^^^^^^ found 2, expected one beside `columns`
   |
   = help: make a table of each, or leave `columns` out
"#,
    );
}

#[test]
fn table_in_single_brackets() {
    with(
        "[table]\nrows = 'seed'\n",
        r#"
error: wrong value for `table`
  --> x.toml:11:1
   |
11 | [table]
   | ^^^^^^^ found a single value, expected a list of tables
   |
   = help: head each table with `[[table]]`, in double brackets
"#,
    );
}

#[test]
fn figure_of_a_column_that_other_work_has() {
    complains(
        &format!("{PING}[[figure]]\nname = 'a'\nx = 'bandwidth'\ny = 'latency_mean'\n"),
        r#"
error: unknown column `latency_mean`
  --> x.toml:13:5
   |
13 | y = 'latency_mean'
   |     ^^^^^^^^^^^^^^ no column has this name
   |
   = help: known here: time_mean, time_ci, time_min, time_p50, time_p99, latency, latency_cycles, bandwidth, iterations, warmup_iterations, finish_first, finish_last, lost, overflowed, deaths, sent, resent, acknowledgements, interruption, severity, recovery, envelopes, deferred, busy, host_share, gap_share, wire_share, compute_share
"#,
    );
}

#[test]
fn an_algorithm_of_another_operation() {
    let broadcast = PING.replace("[work.ping]", "[work.broadcast]\nalgorithm = 'bruck'");
    complains(
        &broadcast,
        r#"
error: unknown choice `bruck`
 --> x.toml:9:13
  |
9 | algorithm = 'bruck'
  |             ^^^^^^^ not a choice for `work.broadcast.algorithm`
  |
  = help: known here: binomial, chain, scatter-all-gather, segmented-binomial
"#,
    );
}

#[test]
fn a_barrier_of_a_size() {
    complains(
        &PING.replace("[work.ping]", "[work.barrier]"),
        r#"
error: unknown key `size`
 --> x.toml:9:1
  |
9 | size = "64 B"
  | ^^^^ `work.barrier` has no such key
  |
  = help: known here: algorithm
"#,
    );
}

#[test]
fn more_ranks_than_hosts() {
    let broadcast = PING.replace("[work.ping]", "[schedule]\nranks = 65\n[work.broadcast]");
    complains(
        &broadcast,
        r#"
error: more ranks than hosts have
 --> x.toml:9:9
  |
9 | ranks = 65
  |         ^^ found 65, expected at most 64: there is one per host
"#,
    );
}

#[test]
fn a_schedule_for_a_ping() {
    complains(
        &format!("{PING}[schedule]\nranks = 2\n"),
        r#"
error: there is no schedule to be played
  --> x.toml:10:1
   |
10 | [schedule]
   | ^^^^^^^^^^ expected a collective operation or `work.goal` beside it
   |
   = help: remove `schedule`, or set `work`, such as `work.all-to-all.size = "1 KiB"`
"#,
    );
}

#[test]
fn processors_under_traffic() {
    with(
        "[node]\noverhead.message = '1 us'\n",
        r#"
error: processors under open-loop traffic
  --> x.toml:11:1
   |
11 | [node]
   | ^^^^^^ open-loop traffic asks no processor
   |
   = help: remove `node`, or replace `traffic` by `work`
"#,
    );
}

#[test]
fn an_eager_limit_without_processors() {
    complains(
        &format!("{PING}[node]\neager = '1 KiB'\n"),
        r#"
error: a limit for processors that take no time
  --> x.toml:11:9
   |
11 | eager = '1 KiB'
   |         ^^^^^^^ expected `node.overhead` beside it
   |
   = help: set `node.overhead = {}` for processors that take none
"#,
    );
}

#[test]
fn a_computation_before_a_goal_file() {
    complains(
        "title = 'x'\nseed = 1\nfabric.single.hosts = 2\nwork.goal.file = 'x.goal'\nschedule.compute = '1 ms'\n",
        r#"
error: a computation before a GOAL file
 --> x.toml:5:20
  |
5 | schedule.compute = '1 ms'
  |                    ^^^^^^ the file says what is computed
  |
  = help: leave `compute` out, and write `calc` in the file
"#,
    );
}
