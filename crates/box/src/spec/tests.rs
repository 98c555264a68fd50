use super::*;

fn spec(text: &str) -> Spec {
    toml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn misfit(text: &str) -> (String, String) {
    let misfit = spec(text).check().expect_err(text);
    (misfit.key, misfit.title)
}

const TWO: &str = "[[rail]]\nrate = '1 Gbit/s'\n[[rail]]\n";

#[test]
fn a_box_has_defaults() {
    let two = spec(TWO);
    two.check().unwrap();
    assert_eq!(two.hosts.names(), ["host0", "host1"]);
    assert_eq!(two.rail_names(), ["rail0", "rail1"]);
    assert_eq!(two.rails[0].rate, Some(Rate::from_bytes_per_second(125_000_000)));
    assert_eq!((two.rails[1].rate, two.rails[1].mtu), (None, Bytes::new(1500)));
    assert!(!two.is_switched(0) && two.rails[0].offloads());
    assert_eq!(two.members(1), [0, 1]);
    assert_eq!(two.address(1, 0).to_string(), "10.1.0.1");
    assert!(spec(&format!("hosts = 3\n{TWO}")).is_switched(0));
    assert!(spec(&format!("hosts = ['a']\n{TWO}")).is_switched(0));
}

#[test]
fn a_cable_joins_two_hosts_of_many() {
    let four = spec("hosts = ['a', 'b', 'c', 'd']\n[[rail]]\nshape.cable.between = ['d', 1]\n");
    four.check().unwrap();
    assert!(!four.is_switched(0));
    assert_eq!(four.members(0), [1, 3]);
}

#[test]
fn where_frames_are_counted_they_come_one_by_one() {
    let offloads =
        |text: &str| spec(&format!("[[rail]]\nrate = '1 MB/s'\n{text}")).rails[0].offloads();
    assert!(offloads(""));
    assert!(offloads("queue = '64 KiB'"));
    assert!(!offloads("queue = '64 frames'"));
    assert!(!offloads("shape.switch.buffer = '95 frames'"));
    assert!(!offloads("offloads = false"));
}

#[test]
fn mistakes_are_told_at_their_keys() {
    let rail = |text: &str| format!("[[rail]]\nname = 'a'\nrate = '1 MB/s'\n[[rail]]\n{text}\n");
    let event = |text: &str| format!("{TWO}[[event]]\n{text}\n");
    for (text, key, title) in [
        ("rail = []".to_owned(), "rail", "the wrong number of rails"),
        ("hosts = ['a', 'a']\n[[rail]]".into(), "hosts.1", "two hosts of one name"),
        ("hosts = ['a b']\n[[rail]]".into(), "hosts.0", "not a name for the network"),
        ("hosts = ['localhost']\n[[rail]]".into(), "hosts.0", "a host called `localhost`"),
        (rail("name = 'a'"), "rail.1.name", "two rails of one name"),
        (rail("name = 'lo'"), "rail.1.name", "a rail called `lo`"),
        (rail("name = 'a-name-too-long-for-it'"), "rail.1.name", "not a name for the network"),
        (rail("queue = '1 MiB'"), "rail.1.queue", "a queue without a rate"),
        (
            rail("shape.switch.buffer = '9 frames'"),
            "rail.1.shape.switch.buffer",
            "a buffer without a rate",
        ),
        (
            rail("shape.cable.between = [0, 0]"),
            "rail.1.shape.cable.between",
            "a cable from a host to itself",
        ),
        (
            rail("shape.cable.between = [0, 'x']"),
            "rail.1.shape.cable.between",
            "there is no such host",
        ),
        (
            format!("hosts = 3\n{}", rail("shape = {cable = {}}")),
            "rail.1.shape",
            "a cable between more than two",
        ),
        (
            rail("rate = '1 MB/s'\nqueue = '9 frames'\noffloads = true"),
            "rail.1.offloads",
            "offloads where frames are counted",
        ),
        (
            rail("rate = '1 MB/s'\nqueue = '9 frames'\nwhole = true"),
            "rail.1.whole",
            "segments that pass whole, without offloads",
        ),
        (event("at = '1 s'\nrail = 2\nup = true"), "event.0.rail", "there is no such rail"),
        (
            event("at = '1 s'\nrail = 0\nhost = 'x'\nup = true"),
            "event.0.host",
            "there is no such host",
        ),
        (event("at = '1 s'\nrail = 0"), "event.0.at", "an event without effect"),
        (
            event("at = '1 s'\nrail = 0\nup = true\ndown = true"),
            "event.0.at",
            "an event with two effects",
        ),
        (
            event("at = '1 s'\nrail = 1\nrate = '1 MB/s'"),
            "event.0.rate",
            "another rate for a rail without one",
        ),
        (event("at = '1 s'\nrail = 1\nup = true\nfor = '1 s'"), "event.0.for", "up for a while"),
        (
            event("at = '1 s'\nrail = 1\ndown = true\ntimes = 2"),
            "event.0.times",
            "again and again, but how often?",
        ),
        (
            event("at = '1 s'\nrail = 1\ndown = true\nevery = '1 s'\nrandom = true"),
            "event.0.random",
            "random without a seed",
        ),
        (
            "hosts = 3\n[[rail]]\nshape.cable.between = [0, 1]\n[[event]]\nat = '1 s'\nrail = 0\nhost = 2\ndown = true".to_owned(),
            "event.0.host",
            "a host without such a port",
        ),
    ] {
        assert_eq!(misfit(&text), (key.to_owned(), title.to_owned()), "{text}");
    }
}

#[test]
fn numbers_out_of_range_are_refused() {
    for text in [
        "hosts = 0\n[[rail]]",
        "hosts = 251\n[[rail]]",
        "hosts = []\n[[rail]]",
        "[[rail]]\nmtu = '100 B'",
        "[[rail]]\nrate = '1 B/s'",
        "[[rail]]\n[[event]]\nat = '1 s'\nrail = -1\nup = true",
        "[[rail]]\n[[event]]\nat = '1 s'\nrail = 0\ndown = true\nfor = '1 us'",
        "hosts = 2",
    ] {
        assert!(toml::from_str::<Spec>(text).is_err(), "{text}");
    }
}

#[test]
fn events_are_spread_out_in_time() {
    let both = spec(&format!(
        "seed = 3\n{TWO}[[event]]\nat = '2 s'\nrail = 1\nhost = 'host1'\ndown = true\nfor = '1 s'\nevery = '2 s'\n\
         times = 2\n[[event]]\nat = '3 s'\nrail = 'rail0'\nrate = '10 MB/s'\nfor = '500 ms'\n"
    ));
    both.check().unwrap();
    let told: Vec<String> = both
        .occurrences()
        .iter()
        .map(|o| format!("{} {} {:?} {}", o.at, o.rail, o.host, o.change))
        .collect();
    assert_eq!(
        told,
        [
            "2 s 1 Some(1) down",
            "3 s 1 Some(1) up",
            "3 s 0 None 10 MB/s",
            "3.5 s 0 None 125 MB/s",
            "4 s 1 Some(1) down",
            "5 s 1 Some(1) up",
        ]
    );
}

#[test]
fn chance_follows_from_the_seed() {
    let random = |seed: u32| {
        let text = "[[event]]\nat = '1 s'\nrail = 1\ndown = true\nfor = '1 s'\nevery = '2 s'\ntimes = 9\nrandom = true";
        spec(&format!("seed = {seed}\n{TWO}{text}")).occurrences()
    };
    assert_eq!(random(1), random(1));
    assert_ne!(random(1), random(2));
}

#[test]
fn a_box_has_no_more_hosts_than_addresses_allow() {
    let boxed = |count| Spec { hosts: Hosts::numbered(count), ..spec(TWO) };
    boxed(MOST_HOSTS as usize).check().unwrap();
    let misfit = boxed(MOST_HOSTS as usize + 1).check().unwrap_err();
    assert_eq!((&misfit.key[..], &misfit.problem[..]), ("hosts", "found 251, expected 1 to 250"));
}
