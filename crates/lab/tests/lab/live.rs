//! Points of real ranks: what is checked of them without running any.

use crate::bench::Bench;

const PING: &str = "title = 'Live'\nseed = 1\nworld = 'live'\nfabric.single.hosts = 2\n\
                    work.ping.size = '8 B'\n";

fn refusal(files: &[(&str, &str)], keys: &str) -> String {
    let bench = Bench::with(files);
    let error = bench.check(&format!("{PING}{keys}")).expect_err("a mistake");
    assert!(error.is_the_users(), "{error}");
    error.to_string().replace(&bench.path("").display().to_string(), "")
}

#[test]
fn a_box_has_hosts_and_rails_for_all() {
    let files = [("b.toml", "hosts = 2\n[[rail]]\n")];
    let bench = Bench::with(&files);
    assert!(bench.check(&format!("{PING}live.box = 'b.toml'")).unwrap());
    let rails = refusal(&files, "live.box = 'b.toml'\ncluster.rails = 2");
    assert_eq!(
        rails,
        "`cluster.rails`: found 2, expected at most 1, all rails of the box\n  help: lower it, or \
         add rails to the box"
    );
    let hosts =
        refusal(&[("b.toml", "hosts = 1\n[[rail]]\nshape = 'switch'")], "live.box = 'b.toml'");
    assert!(hosts.contains("found a box of 1 hosts, expected the 2 of `fabric`"), "{hosts}");
}

#[test]
fn a_box_that_is_none() {
    let error = refusal(&[("b.toml", "hosts = 2\n[[rial]]\n")], "live.box = 'b.toml'");
    assert!(error.starts_with("cannot use `b.toml`, named by `live.box`: "), "{error}");
    assert!(error.contains("crosstie check"), "{error}");
}

#[test]
fn without_a_program_no_ranks() {
    let error = Bench::with(&[]).refusal(PING);
    assert!(error.is_the_users(), "{error}");
    assert!(error.to_string().starts_with("`world`: there is no program"), "{error}");
}

#[test]
fn simulated_points_are_done_before_real_ones() {
    let text = format!(
        "{}[sweep.product]\nworld = ['live', 'ideal']\n",
        PING.replace("world = 'live'\n", "")
    );
    let bench = Bench::with(&[]);
    bench.refusal(&text);
    let set = crosstie_study::ResultSet::open(bench.path("results")).unwrap();
    let points: Vec<u32> = set.rows.iter().map(|row| row.point).collect();
    assert_eq!(points, [1]);
    assert!(set.meta.varies.is_some_and(|sentence| sentence.contains("hosts.csv")));
}
