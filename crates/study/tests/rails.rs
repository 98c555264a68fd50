//! What a user sees after a mistake about rails, their buses, events and competitors.

mod mistakes;

use mistakes::{SOUND, complains};

/// The same on the ideal network.
fn ideal() -> String {
    SOUND.replace("seed = 1\n", "seed = 1\nworld = \"ideal\"\n")
}

#[test]
fn more_rails_than_there_can_be() {
    complains(
        &(SOUND.to_owned() + "[cluster]\nrails = 17\n"),
        r#"
error: wrong value for `cluster.rails`
  --> x.toml:12:9
   |
12 | rails = 17
   |         ^^ found `17`, expected a whole number from 1 to 16, or a list of as many rails, such as [{ rate = "1 GB/s" }, { rate = "250 MB/s" }]
"#,
    );
}

#[test]
fn rails_in_words() {
    complains(
        &(SOUND.to_owned() + "[cluster]\nrails = \"two\"\n"),
        r#"
error: wrong value for `cluster.rails`
  --> x.toml:12:9
   |
12 | rails = "two"
   |         ^^^^^ found "two", expected a whole number from 1 to 16, or a list of as many rails, such as [{ rate = "1 GB/s" }, { rate = "250 MB/s" }]
"#,
    );
}

#[test]
fn no_rails() {
    complains(
        &(SOUND.to_owned() + "[cluster]\nrails = []\n"),
        r#"
error: wrong value for `cluster.rails`
  --> x.toml:12:9
   |
12 | rails = []
   |         ^^ found 0 of them, expected a list of 1 to 16 rails
"#,
    );
}

#[test]
fn an_unknown_key_of_a_rail() {
    complains(
        &(ideal() + "[cluster]\nrails = [{}, { rte = \"1 GB/s\" }]\n"),
        r#"
error: unknown key `rte`
  --> x.toml:13:16
   |
13 | rails = [{}, { rte = "1 GB/s" }]
   |                ^^^ `cluster.rails` has no such key
   |
   = help: did you mean `rate`?
   = help: known here: rate, bus, port
"#,
    );
}

#[test]
fn a_rate_without_its_unit() {
    complains(
        &(ideal() + "[cluster]\nrails = [{}, { rate = \"1 mile\" }]\n"),
        r#"
error: wrong value for `cluster.rails.rate`
  --> x.toml:13:23
   |
13 | rails = [{}, { rate = "1 mile" }]
   |                       ^^^^^^^^ `mile` is not a unit of a rate (units: B/s, kB/s, MB/s, GB/s, Mbit/s, Gbit/s)
"#,
    );
}

#[test]
fn a_port_with_two_rates() {
    complains(
        &(ideal()
            + "[cluster]\nrails = [{ port = 1, rate = \"1 GB/s\" }, { port = 1, rate = \"2 GB/s\" }]\n"),
        r#"
error: a port with two rates
  --> x.toml:13:60
   |
13 | rails = [{ port = 1, rate = "1 GB/s" }, { port = 1, rate = "2 GB/s" }]
   |                                                            ^^^^^^^^ found 2 GB/s, expected 1 GB/s, as of the rail before on port 1
   |
   = help: rails of one port share its links: leave `rate` out, or take another `port`
"#,
    );
}

#[test]
fn a_port_on_two_buses() {
    complains(
        &(ideal() + "[cluster]\nrails = [{ port = 1, bus = 0 }, { port = 1, bus = 1 }]\n"),
        r#"
error: a port on two buses
  --> x.toml:13:51
   |
13 | rails = [{ port = 1, bus = 0 }, { port = 1, bus = 1 }]
   |                                                   ^ found 1, expected 0, as of the rail before on port 1
   |
   = help: a port belongs to one NIC: leave `bus` out, or take another `port`
"#,
    );
}

#[test]
fn rails_of_other_rates_in_the_wormhole_network() {
    complains(
        &(SOUND.to_owned() + "[cluster]\nrails = [{}, { rate = \"250 MB/s\" }]\n"),
        r#"
error: rails that differ in the wormhole network
  --> x.toml:12:9
   |
12 | rails = [{}, { rate = "250 MB/s" }]
   |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^ found a rail of 250 MB/s beside links of 400 MB/s, expected rails that are alike
   |
   = help: set `world = "ideal"` or `world = "frame"`, or write the number of rails
"#,
    );
}

#[test]
fn rails_of_one_port_in_the_wormhole_network() {
    complains(
        &(SOUND.to_owned() + "[cluster]\nrails = [{ port = 0 }, { port = 0 }]\n"),
        r#"
error: rails that differ in the wormhole network
  --> x.toml:12:9
   |
12 | rails = [{ port = 0 }, { port = 0 }]
   |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ found rails that share a port, expected rails that are alike
   |
   = help: set `world = "ideal"` or `world = "frame"`, or write the number of rails
"#,
    );
}

#[test]
fn a_bus_of_packets_in_the_wormhole_network() {
    complains(
        &(SOUND.to_owned() + "[node]\nbus = \"half\"\n"),
        r#"
error: `node.bus` in the wormhole network
  --> x.toml:12:7
   |
12 | bus = "half"
   |       ^^^^^^ found buses that take packets whole, expected the ideal network or frames below
   |
   = help: set `world = "ideal"` or `world = "frame"`; the wormhole network has `bus`
"#,
    );
}

#[test]
fn events_in_the_wormhole_network() {
    complains(
        &(SOUND.to_owned() + "[[event]]\nat = \"1 ms\"\nrail = 0\ndown = true\n"),
        r#"
error: links that change in the wormhole network
  --> x.toml:11:1
   |
11 | [[event]]
   | ^^^^^^^^^ found events, expected the ideal network or frames below
   |
   = help: set `world = "ideal"` or `world = "frame"`
"#,
    );
}

#[test]
fn competitors_in_the_wormhole_network() {
    complains(
        &(SOUND.to_owned()
            + "[[competitor]]\nrail = 0\nfrom = 0\nto = 1\nsize = \"1 KiB\"\nend = \"1 ms\"\n"),
        r#"
error: competitors in the wormhole network
  --> x.toml:11:1
   |
11 | [[competitor]]
   | ^^^^^^^^^^^^^^ found a competitor, expected the ideal network or frames below
   |
   = help: set `world = "ideal"` or `world = "frame"`
"#,
    );
}

#[test]
fn an_event_in_which_nothing_happens() {
    complains(
        &(ideal() + "[[event]]\nat = \"1 ms\"\nrail = 0\n"),
        r#"
error: nothing happens
  --> x.toml:12:1
   |
12 | [[event]]
   | ^^^^^^^^^ expected one of `rate`, `down = true` and `up = true`
"#,
    );
}

#[test]
fn an_event_in_which_two_things_happen() {
    complains(
        &(ideal() + "[[event]]\nat = \"1 ms\"\nrail = 0\ndown = true\nup = true\n"),
        r#"
error: two things at once
  --> x.toml:16:6
   |
16 | up = true
   |      ^^^^ found `down` as well, expected one of `rate`, `down` and `up`
   |
   = help: write two events, each headed `[[event]]`
"#,
    );
}

#[test]
fn an_event_on_a_rail_that_is_not_there() {
    complains(
        &(ideal() + "[[event]]\nat = \"1 ms\"\nrail = 1\ndown = true\n"),
        r#"
error: no such rail
  --> x.toml:14:8
   |
14 | rail = 1
   |        ^ found 1, expected 0: there is one rail
   |
   = help: raise `cluster.rails`
"#,
    );
}

#[test]
fn an_event_of_hosts_that_are_not_there() {
    complains(
        &(ideal() + "[[event]]\nat = \"1 ms\"\nrail = 0\nhosts = \"0, 64\"\ndown = true\n"),
        r#"
error: no such host
  --> x.toml:15:9
   |
15 | hosts = "0, 64"
   |         ^^^^^^^ found 64, expected a host from 0 to 63
"#,
    );
}

#[test]
fn an_unknown_key_of_an_event() {
    complains(
        &(ideal() + "[[event]]\nat = \"1 ms\"\nrail = 0\ndwn = true\n"),
        r#"
error: unknown key `dwn`
  --> x.toml:15:1
   |
15 | dwn = true
   | ^^^ `event` has no such key
   |
   = help: did you mean `down`?
   = help: known here: at, rail, hosts, rate, down, up, for, every, times, random
"#,
    );
}

#[test]
fn an_event_at_no_time() {
    complains(
        &(ideal() + "[[event]]\nrail = 0\ndown = true\n"),
        r#"
error: missing key `at`
  --> x.toml:12:1
   |
12 | [[event]]
   | ^^^^^^^^^ `event` needs `at`
"#,
    );
}

#[test]
fn an_event_again_at_no_interval() {
    complains(
        &(ideal() + "[[event]]\nat = \"1 ms\"\nrail = 0\ndown = true\ntimes = 3\n"),
        r#"
error: again and again, but how often?
  --> x.toml:16:9
   |
16 | times = 3
   |         ^ expected `every` beside it, the time from one to the next
   |
   = help: add `every = "10 ms"`
"#,
    );
}

#[test]
fn an_event_longer_than_its_interval() {
    complains(
        &(ideal()
            + "[[event]]\nat = \"1 ms\"\nrail = 0\ndown = true\nfor = \"2 ms\"\nevery = \"1 ms\"\n"),
        r#"
error: it happens again before it is over
  --> x.toml:16:7
   |
16 | for = "2 ms"
   |       ^^^^^^ found 2 ms, expected less than every = 1 ms
"#,
    );
}

#[test]
fn links_that_are_up_for_a_while() {
    complains(
        &(ideal() + "[[event]]\nat = \"1 ms\"\nrail = 0\nup = true\nfor = \"2 ms\"\n"),
        r#"
error: links that are up for a while
  --> x.toml:16:7
   |
16 | for = "2 ms"
   |       ^^^^^^ expected it with `rate` or `down`
   |
   = help: write when they go down: `down = true`
"#,
    );
}

#[test]
fn an_event_in_single_brackets() {
    complains(
        &(ideal() + "[event]\nat = \"1 ms\"\nrail = 0\ndown = true\n"),
        r#"
error: wrong value for `event`
  --> x.toml:12:1
   |
12 | [event]
   | ^^^^^^^ found a table, expected a list of tables, each headed by its name in double brackets
"#,
    );
}

#[test]
fn a_competitor_that_sends_to_itself() {
    complains(
        &(ideal()
            + "[[competitor]]\nrail = 0\nfrom = 1\nto = 1\nsize = \"1 KiB\"\nend = \"1 ms\"\n"),
        r#"
error: a competitor that sends to itself
  --> x.toml:15:6
   |
15 | to = 1
   |      ^ found 1, as in `from`, expected another host
"#,
    );
}

#[test]
fn a_competitor_that_ends_too_soon() {
    complains(
        &(ideal()
            + "[[competitor]]\nrail = 0\nfrom = 0\nto = 1\nsize = \"1 KiB\"\nbegin = \"2 ms\"\nend = \"1 ms\"\n"),
        r#"
error: a competitor that ends before it begins
  --> x.toml:18:7
   |
18 | end = "1 ms"
   |       ^^^^^^ found 1 ms, expected more than begin = 2 ms
"#,
    );
}

#[test]
fn a_competitor_on_a_host_that_is_not_there() {
    complains(
        &(ideal()
            + "[[competitor]]\nrail = 0\nfrom = 0\nto = 64\nsize = \"1 KiB\"\nend = \"1 ms\"\n"),
        r#"
error: no such host
  --> x.toml:15:6
   |
15 | to = 64
   |      ^^ found 64, expected a host from 0 to 63
"#,
    );
}

#[test]
fn a_competitor_that_takes_no_time() {
    complains(
        &(ideal()
            + "[[competitor]]\nrail = 0\nfrom = 0\nto = 1\nsize = \"1 KiB\"\nend = \"1 ms\"\n[ideal]\nlatency = \"0 ns\"\ngap = \"0 ns\"\n"),
        r#"
error: a competitor whose packets may take no time
  --> x.toml:20:7
   |
20 | gap = "0 ns"
   |       ^^^^^^ found 0, expected more, or `ideal.latency` above 0, beside a competitor
"#,
    );
}

#[test]
fn an_unknown_bus() {
    complains(
        &(ideal() + "[node]\nbus = \"hlaf\"\n"),
        r#"
error: unknown choice `hlaf`
  --> x.toml:13:7
   |
13 | bus = "hlaf"
   |       ^^^^^^ not a choice for `node.bus`
   |
   = help: did you mean `half`?
   = help: known here: half, asymmetric, full
"#,
    );
}
