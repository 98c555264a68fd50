//! Mistakes that only the built world shows: each is the user's and says what to do, before
//! anything has run.

use crate::bench::{Bench, ring};
use crosstie_study::ResultSet;

fn refusal(files: &[(&str, &str)], keys: &str) -> String {
    let load = if keys.contains("traffic.load") { "" } else { "traffic.load = 0.1" };
    let size = if keys.contains("size") { "" } else { "traffic.size.fixed.size = '64 B'" };
    let text = format!("title = 'Mistake'\nseed = 1\n{load}\n{size}\n{keys}");
    let bench = Bench::with(files);
    let error = bench.refusal(&text);
    let checked = bench.check(&text).expect_err("what `run` refuses, `check` refuses");
    assert_eq!(checked.to_string(), error.to_string());
    assert!(error.is_the_users(), "{error}");
    assert!(ResultSet::open(bench.path("results")).is_err(), "nothing has been published");
    error.to_string().replace(&bench.path("").display().to_string(), "")
}

#[test]
fn a_network_file_that_is_none() {
    let keys = "fabric.file.path = 'net.anynet'";
    assert_eq!(
        refusal(&[("net.anynet", "router 0 node 0\nswitch 1\n")], keys),
        "cannot use `net.anynet`, named by `fabric.file.path`: line 2: found `switch`, expected \
         `router` or `node`\n  help: expected a connected network in BookSim's anynet format"
    );
    let pieces = refusal(&[("net.anynet", "router 0 node 0\nrouter 1 node 1\n")], keys);
    assert!(pieces.contains("the network is in pieces"), "{pieces}");
    let loops = refusal(&[("net", "a b\nb b\n")], "fabric.file.path = 'net'");
    assert!(loops.contains("line 2: found a link from `b` to itself"), "{loops}");
    assert!(loops.contains("expected a connected network in the edge list format"), "{loops}");
    let garbage = refusal(&[("net.graphml", "\u{1}")], "fabric.file.path = 'net.graphml'");
    assert!(garbage.contains("expected a connected network in GraphML"), "{garbage}");
}

#[test]
fn a_switch_with_more_ports_than_a_tag_can_name() {
    let node = |id: &str, data: &str| format!("<node id='{id}'>{data}</node>");
    let host = |id: &str| node(id, "<data key='k'>host</data>");
    let network = |ports: u32| {
        let switch = format!("<data key='k'>switch</data><data key='p'>{ports}</data>");
        format!(
            "<graphml><key id='k' attr.name='kind'/><key id='p' attr.name='ports'/><graph>{}{}{}\
             <edge source='a' target='x'/><edge source='b' target='x'/></graph></graphml>",
            host("a"),
            host("b"),
            node("x", &switch)
        )
    };
    let error = refusal(&[("net.graphml", &network(16_385))], "fabric.file.path = 'net.graphml'");
    assert!(error.contains("switch x has 16385 ports, expected at most 16384"), "{error}");
}

#[test]
fn an_irregular_network_that_is_too_large() {
    let keys =
        "fabric.irregular = {switches = 60000, ports = 4096, hosts-per-switch = 1, seed = 1}";
    let error = refusal(&[], keys);
    assert!(
        error.starts_with("`fabric.irregular`: 60000 hosts and 245760000 switch ports"),
        "{error}"
    );
    assert!(
        error.contains("help: change `switches`, `ports`, `hosts-per-switch` or `links`"),
        "{error}"
    );
}

#[test]
fn a_root_that_is_none() {
    let network = "fabric.irregular = {switches = 8, ports = 6, hosts-per-switch = 2, seed = 1}";
    assert_eq!(
        refusal(&[], &format!("{network}\nrouting.up-down.root = 8")),
        "`routing`: switch 8 cannot be the root: the network has 8 switches, numbered from 0 to 7\n  \
         help: give another `root`, or leave it out"
    );
    let local = "traffic.destination.local = {distance = 2, along.up-down.root = 8}";
    assert_eq!(
        refusal(&[], &format!("{network}\n{local}")),
        "`traffic.destination.local.along.up-down.root`: switch 8 cannot be the root: the network has 8 \
         switches, numbered from 0 to 7\n  help: give another `root`, or leave it out"
    );
}

#[test]
fn a_permutation_that_is_none() {
    let keys = "fabric.tree = {k = 2, n = 2}\ntraffic.destination.permutation.file = 'p.txt'";
    for (content, problem) in [
        ("1\n0\n3\n", "the permutation pattern lists 3 hosts, expected one entry for each of 4"),
        ("1\n0\n3\n4\n", "the permutation pattern names host 4, expected one below 4"),
        ("1\n0\n3\n3\n", "hosts 2 and 3 of the permutation both send to host 3"),
        ("1\n0\nthree\n2\n", "line 3: found `three`, expected the number of a host"),
        ("1\n\n0\n3\n", "line 2: found ``, expected the number of a host"),
    ] {
        let error = refusal(&[("p.txt", content)], keys);
        let place = "cannot use `p.txt`, named by `traffic.destination.permutation.file`: ";
        assert!(error.starts_with(&format!("{place}{problem}")), "{error}");
        assert!(error.contains("help: expected 4 lines"), "{error}");
    }
    let silent = refusal(&[("p.txt", "0\n1\n2\n3\n")], keys);
    assert!(silent.starts_with("`traffic.destination`: no host sends"), "{silent}");
}

#[test]
fn a_pattern_that_does_not_fit_the_network_in_a_file() {
    let ring = ring();
    let on_ring = |keys: &str| {
        refusal(&[("ring.anynet", &ring)], &format!("fabric.file.path = 'ring.anynet'\n{keys}"))
    };
    let error = on_ring("traffic.destination.hot-spot = {host = 15, share = 0.1}");
    assert_eq!(
        error,
        "`traffic.destination.hot-spot.host`: found 15, expected a host from 0 to 14\n  \
         help: choose another destination, or another number of hosts"
    );
    let error = on_ring("traffic.destination = 'bit-reversal'");
    let problem = "`traffic.destination.bit-reversal`: there are 15 hosts, expected a power of 2";
    assert!(error.starts_with(problem), "{error}");
    let error = on_ring(
        "traffic.destination.mixture.parts = [
            {share = 0.5, destination = 'uniform'}, {share = 0.5, destination = 'transpose'}]",
    );
    let place = "`traffic.destination.mixture.parts.1.destination.transpose`: ";
    assert!(error.starts_with(place), "{error}");
}

#[test]
fn a_mistake_late_in_a_sweep_is_found_before_anything_runs() {
    let error = refusal(
        &[("good.txt", "1\n0\n3\n2\n"), ("bad.txt", "1\n0\n")],
        "fabric.tree = {k = 2, n = 2}
         [sweep.product]
         traffic.destination = [
             'uniform', {permutation.file = 'good.txt'}, {permutation.file = 'bad.txt'}]",
    );
    assert!(error.contains("cannot use `bad.txt`"), "{error}");
    assert!(error.contains("(found at point 2: traffic.destination = "), "{error}");
}

#[test]
fn traffic_and_hardware_out_of_reach() {
    let tree = "fabric.tree = {k = 2, n = 2}\n";
    for (keys, problem) in [
        (
            "cluster.rails = 4\ntraffic.arrival = 'bernoulli'\ntraffic.load = 1.0\n\
             traffic.size.fixed.size = '2 B'",
            "`traffic.arrival`: load 1 takes 4.000 messages per cycle from each sender, of 1 flits on \
             average, but Bernoulli arrivals start at most one",
        ),
        (
            "traffic.size.fixed.size = '1 GiB'\nnic.packet = '1000 B'",
            "`traffic.size.fixed.size`: found 1 GiB, which is 1073742 packets of 1000 B, expected \
             at most 1048576",
        ),
        (
            "world = 'frame'\nframe.mtu = '1000 B'\ntraffic.size.fixed.size = '1 GiB'",
            "`traffic.size.fixed.size`: found 1 GiB, which is 1073742 packets of 1000 B, expected \
             at most 1048576",
        ),
        (
            "bus.asymmetric = {read = '1 kB/s', write = '200 MB/s'}",
            "`bus.asymmetric.read`: found 1 kB/s, expected at least a thousandth of the link's \
             400 MB/s",
        ),
        (
            "bus = 'full'\nlink = {flit = '1 B', rate = '100 GB/s', wire = '1 ns'}\n\
             nic.in-transit.setup = '1 ms'",
            "`nic.in-transit.setup`: found 1 ms, 100000000 cycles, expected at most 1048576 cycles",
        ),
        (
            "cluster.rails = 16\nswitch.virtual-channels = 8\nlink.wire = '327 us'",
            "`fabric`: 2048 virtual channels with wires of 65400 cycles take about",
        ),
    ] {
        let error = refusal(&[], &format!("{tree}{keys}"));
        assert!(error.starts_with(problem), "{error}");
        assert!(error.contains("\n  help: "), "{error}");
    }
}

#[test]
fn processing_elements_share_the_load_of_bernoulli_arrivals() {
    let text = |pes: u32| {
        format!(
            "title = 'Elements'\nseed = 1\nfabric.single.hosts = 4\nscheme = 'basic'\n\
             cluster = {{rails = 4, pes = {pes}}}\ntraffic.arrival = 'bernoulli'\n\
             traffic.load = 0.5\ntraffic.size.fixed.size = '2 B'\n\
             measure = {{precision = 0.2, min-cycles = 2000, max-cycles = 10_000}}"
        )
    };
    let bench = Bench::with(&[]);
    let error = bench.check(&text(1)).unwrap_err().to_string();
    assert!(error.contains("load 0.5 takes 2.000 messages per cycle"), "{error}");
    assert!(bench.check(&text(2)).unwrap());
    assert_eq!(bench.rows(&text(2)).len(), 1);
}

#[test]
fn check_does_not_search_for_routes() {
    // Searching would take a quarter of an hour or more.
    let text = "title = 'Smart'\nseed = 1\ntraffic = {load = 0.1, size.fixed.size = '64 B'}\n\
                fabric.irregular = {switches = 64, ports = 8, hosts-per-switch = 4, seed = 1}\n\
                routing.smart.moves = 1_000_000";
    assert!(Bench::with(&[]).check(text).unwrap());
}

#[test]
fn the_largest_mean_size_runs() {
    let text = "title = 'Large'\nseed = 1\nfabric.single.hosts = 2\ntraffic.load = 0.5\n\
                traffic.size.exponential.mean = '1 GiB'\nlink.flit = '1 B'\nnic.overhead = '1 MiB'\n\
                measure = {min-cycles = 1000, max-cycles = 1000}";
    assert_eq!(Bench::with(&[]).rows(text).len(), 1);
}

#[test]
fn a_mistake_is_shown_at_its_place_in_the_file() {
    let bench = Bench::with(&[]);
    let text = "title = 'Place'\nseed = 1\ntraffic = {load = 0.1, size.fixed.size = '64 B'}\n\
                fabric.irregular = {switches = 8, ports = 6, hosts-per-switch = 2, seed = 1}\n\
                sweep.product.routing = [\n'up-down',\n{up-down.root = 8}]\n";
    let shown = bench.check(text).unwrap_err().diagnostic(&bench.study(text)).unwrap();
    assert_eq!(shown.line(), Some(7), "{shown}");
    let shown = shown.to_string();
    assert!(shown.contains("switch 8 cannot be the root"), "{shown}");
    assert!(shown.contains("help: found at point 1: routing = "), "{shown}");
}

#[test]
fn what_is_ignored_is_said_in_the_note() {
    let net = "router 0 node 0 node 1 7 router 1 15\nrouter 1 node 2\n";
    let rows = Bench::with(&[("net.anynet", net)]).rows(
        "title = 'Latencies'
         seed = 1
         fabric.file.path = 'net.anynet'
         bus.asymmetric = {read = '800 MB/s', write = '400 MB/s'}
         traffic = {load = 0.1, size.fixed.size = '64 B'}
         measure = {precision = 0.2, min-cycles = 2000, max-cycles = 10_000}",
    );
    let note = &rows[0].note;
    assert!(note.contains("`net.anynet` gives 3 of 8 channels a latency of their own"), "{note}");
    assert!(note.contains("bus.asymmetric.read is faster than a link"), "{note}");
}
