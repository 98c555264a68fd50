//! Rails that differ, from the experiment file to the row.

use crate::bench::{Bench, get};
use crosstie_study::{Row, Status};

/// Rows of a stream between two hosts at opposite ends of a tree.
fn rows(keys: &str) -> Vec<Row> {
    let rows = Bench::with(&[]).rows(&format!(
        "title = 'Rails'\nseed = 1\nfabric.tree = {{ k = 4, n = 2 }}\nnic.packet = '1 KiB'\n\
         link = {{ rate = '1000 MB/s', wire = '1 us' }}\n\
         work.stream = {{ size = '64 KiB', to = 15, window = 16, iterations = 32 }}\n{keys}"
    ));
    for row in &rows {
        assert_eq!(row.status, Status::Completed, "{row:?}");
    }
    rows
}

fn bandwidths(keys: &str) -> Vec<f64> {
    rows(keys).iter().map(|row| get(row, "bandwidth")).collect()
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 0.03, "found {found}, expected {expected}");
}

/// Rails that say what all links are anyway are rails that are alike, to the last digit.
#[test]
fn a_list_of_equal_rails_is_their_number() {
    for world in ["ideal", "frame"] {
        let rows = rows(&format!(
            "world = '{world}'\n[sweep.product]\npolicy = ['round-robin', 'local-dynamic']\n\
             'cluster.rails' = [2, [{{ rate = '1000 MB/s', bus = 3 }}, {{ rate = '1000 MB/s' }}]]"
        ));
        for pair in rows.chunks(2) {
            assert_eq!(pair[0].measured, pair[1].measured, "{world}");
        }
    }
}

/// Who gives every rail as much is as fast as twice the slower one.
#[test]
fn a_slow_rail_holds_up_a_fast_one() {
    for world in ["ideal", "frame"] {
        let found = bandwidths(&format!(
            "world = '{world}'\n[sweep.product]\n\
             'cluster.rails' = [1, 2, [{{}}, {{ rate = '250 MB/s' }}]]"
        ));
        near(found[1], 2.0 * found[0]);
        near(found[2], 0.5 * found[0]);
    }
}

/// Two ports behind one bus gain nothing, two adapters on buses of their own all that there is.
#[test]
fn a_shared_bus_is_one_bus() {
    let found = bandwidths(
        "world = 'ideal'\nnode.bus.asymmetric = { read = '884 MB/s', write = '1008 MB/s' }\n\
         [sweep.product]\n'work.stream.both-ways' = [false, true]\n\
         'cluster.rails' = [1, 2, [{ bus = 0 }, { bus = 0 }], [{ port = 0 }, { port = 0 }]]",
    );
    for (place, expected) in
        [884.0, 1768.0, 884.0, 884.0, 943.0, 1886.0, 943.0, 943.0].into_iter().enumerate()
    {
        near(found[place], expected);
    }
}

/// Ways through one port help where the fabric is what is slow, and only there.
#[test]
fn rails_of_one_port_differ_in_their_way() {
    for routing in ["tree-adaptive", "tree-deterministic", "up-down"] {
        let found = bandwidths(&format!(
            "world = 'frame'\nrouting = '{routing}'\n[sweep.product]\n\
             'frame.uplink.rate' = ['300 MB/s', '1000 MB/s']\n\
             'cluster.rails' = [1, [{{ port = 0 }}, {{ port = 0 }}], [{{ port = 0 }}, {{ port = 0 }}, {{ port = 0 }}]]"
        ));
        // What a way carries beside its frames leaves less for three of them than the port could
        // give.
        assert!(found[1] > 1.9 * found[0] && found[2] > 2.5 * found[0], "{routing}: {found:?}");
        near(found[4], found[3]);
        near(found[5], found[3]);
    }
}

#[test]
fn rails_that_differ_in_nothing_are_said_to() {
    let text = |hosts| {
        format!(
            "title = 'Rails'\nseed = 1\n{hosts}\nworld = 'frame'\nwork.ping.size = '8 B'\n\
             cluster.rails = [{{}}, {{ port = 2 }}, {{ port = 2 }}]"
        )
    };
    let note = |hosts| Bench::with(&[]).rows(&text(hosts)).remove(0).note;
    let words = "rails 1 and 2 share a port, and there is one way between hosts";
    assert!(note("fabric.single.hosts = 4").contains(words));
    assert!(!note("fabric.tree = { k = 2, n = 2 }").contains(words));
}

/// What is lost while a link is down is sent again by channels, and a link that is slow for a while
/// costs that while.
#[test]
fn links_change_while_work_goes_on() {
    for world in ["ideal", "frame"] {
        let rows = rows(&format!(
            "world = '{world}'\nchannel.go-back-n = {{ window = 64, timeout = '2 ms' }}\n[sweep.product]\n\
             event = [[], [{{ at = '1 ms', rail = 0, down = true, for = '10 us' }}], \
             [{{ at = '1 ms', rail = 0, rate = '500 MB/s' }}], \
             [{{ at = '1 ms', rail = 0, hosts = '3', rate = '1 MB/s' }}]]"
        ));
        let all = |place: usize| get(&rows[place], "finish_last");
        assert_eq!(get(&rows[0], "resent"), 0.0);
        assert!(get(&rows[1], "lost") > 0.0 && get(&rows[1], "resent") > 0.0, "{:?}", rows[1]);
        assert!(all(1) > all(0) && all(1) < all(0) + 5_000.0, "{} and {}", all(1), all(0));
        near(all(2), 1_000.0 + 2.0 * (all(0) - 1_000.0));
        assert_eq!(all(3), all(0), "the link of another host");
    }
}

/// A competitor with as many packets under way takes half of the link while it is there, and what
/// it carried is noted.
#[test]
fn a_competitor_takes_its_share() {
    for world in ["ideal", "frame"] {
        let rows = rows(&format!(
            "world = '{world}'\nchannel.go-back-n = {{ window = 16, timeout = '100 ms' }}\n[sweep.product]\n\
             competitor = [[], [{{ rail = 0, from = 0, to = 15, size = '64 KiB', end = '10 s' }}]]"
        ));
        let bandwidth = get(&rows[1], "bandwidth");
        let half = 0.5 * get(&rows[0], "bandwidth");
        assert!((0.9..1.1).contains(&(bandwidth / half)), "{bandwidth}, half is {half}");
        assert!(rows[1].note.starts_with("competitor 0 carried "), "{}", rows[1].note);
    }
}

#[test]
fn events_of_hosts_that_a_file_does_not_have_are_refused() {
    let bench = Bench::with(&[("two.edges", "host a s\nhost b s\n")]);
    let text = "title = 'Rails'\nseed = 1\nfabric.file.path = 'two.edges'\nworld = 'ideal'\nwork.ping.size = '8 B'\n\
                [[event]]\nat = '1 us'\nrail = 0\nhosts = '2'\ndown = true";
    let refused = bench.refusal(text).to_string();
    assert!(refused.contains("found host 2, expected a host from 0 to 1"), "{refused}");
}
