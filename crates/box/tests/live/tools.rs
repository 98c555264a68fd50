//! `ip` and `tc` show what the file says.

use crosstie_box::{Cluster, Command, Options};
use serde_json::Value;

use crate::stage::{company, installed, live, live_with, spec, start};

fn told(cluster: &Cluster, host: usize, words: &[&str]) -> Value {
    let text = start(cluster, host, Command::new(words.to_vec())).end().well();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn find<'a>(list: &'a Value, key: &str, value: &str) -> &'a Value {
    let found = list.as_array().unwrap().iter().find(|entry| entry[key] == value);
    found.unwrap_or_else(|| panic!("no {key} {value} in {list:#}"))
}

const FILE: &str = "hosts = 2\n\
    [[rail]]\nname = 'bare'\n\
    [[rail]]\nname = 'fast'\nrate = '1 Gbit/s'\nqueue = '300 kB'\nmtu = '9000 B'\n\
    [[rail]]\nname = 'counted'\nrate = '100 Mbit/s'\nqueue = '50 frames'\nshape.switch = {}\n\
    [[rail]]\nname = 'faster'\nrate = '5 GB/s'\noffloads = false\n";

#[test]
fn ip_shows_addresses_mtu_and_offloads() {
    let _company = company();
    if !installed("ip") {
        return;
    }
    let Some(cluster) = live(&spec(FILE)) else { return };
    for host in [0, 1] {
        let links = told(&cluster, host, &["ip", "-j", "-d", "address"]);
        assert_eq!(links.as_array().unwrap().len(), 5);
        for (rail, (name, mtu, whole)) in [
            ("bare", 1500, true),
            ("fast", 9000, true),
            ("counted", 1500, false),
            ("faster", 1500, false),
        ]
        .into_iter()
        .enumerate()
        {
            let link = find(&links, "ifname", name);
            assert_eq!(link["mtu"], mtu);
            assert_eq!(link["operstate"], "UP");
            assert_eq!(link["linkinfo"]["info_kind"], "veth");
            assert_eq!(link["gso_max_segs"] == 1, !whole, "{name}: {}", link["gso_max_segs"]);
            let addresses = link["addr_info"].as_array().unwrap();
            assert_eq!(addresses.len(), 1, "{addresses:?}");
            assert_eq!(addresses[0]["local"], format!("10.{rail}.0.{}", host + 1));
            assert_eq!(addresses[0]["prefixlen"], 16);
        }
        let routes = told(&cluster, host, &["ip", "-j", "route"]);
        assert_eq!(routes.as_array().unwrap().len(), 4);
        assert_eq!(find(&routes, "dev", "fast")["dst"], "10.1.0.0/16");
        let neighbours = told(&cluster, host, &["ip", "-j", "neighbour"]);
        let other = find(&neighbours, "dst", &format!("10.2.0.{}", 2 - host));
        assert_eq!(other["lladdr"], format!("02:0c:05:02:00:0{}", 2 - host));
        assert_eq!(other["state"][0], "PERMANENT");
    }
}

#[test]
fn tc_shows_rates_and_queues() {
    let _company = company();
    if !installed("tc") {
        return;
    }
    let Some(cluster) = live(&spec(FILE)) else { return };
    let list = told(&cluster, 0, &["tc", "-j", "qdisc"]);
    let of = |device: &str| {
        let all = list.as_array().unwrap().iter();
        let all: Vec<&Value> = all.filter(|entry| entry["dev"] == device).collect();
        let kind =
            |name: &str| all.iter().find(|entry| entry["kind"] == name).map(|e| &e["options"]);
        (kind("tbf").cloned(), kind("bfifo").cloned(), kind("pfifo").cloned())
    };
    assert_eq!(of("bare"), (None, None, None));
    let (bucket, bytes, frames) = of("fast");
    let bucket = bucket.unwrap();
    assert_eq!(bucket["rate"], 125_000_000);
    // The kernel keeps bursts as times.
    let burst = bucket["burst"].as_u64().unwrap();
    assert!(burst.abs_diff(625_000) < 1000, "{bucket}");
    assert_eq!(bytes.unwrap()["limit"], 300_000);
    assert_eq!(frames, None);
    let (bucket, bytes, frames) = of("counted");
    assert_eq!(bucket.unwrap()["rate"], 12_500_000);
    assert_eq!(frames.unwrap()["limit"], 50);
    assert_eq!(bytes, None);
    assert_eq!(of("faster").0.unwrap()["rate"], 5_000_000_000u64);
}

#[test]
fn who_is_root_in_the_box_may_change_links() {
    let _company = company();
    if !installed("ip") {
        return;
    }
    let spec = spec("[[rail]]\n");
    let set = |options: &Options| {
        let cluster = live_with(&spec, options)?;
        let words = ["ip", "link", "set", "rail0", "txqueuelen", "77"];
        let command = Command::new(words).stderr(std::fs::File::create("/dev/null").unwrap());
        Some(start(&cluster, 0, command).end().ending.success())
    };
    let root = Options { root: true, ..Options::default() };
    let Some(changed) = set(&root) else { return };
    assert!(changed);
    // Root stays root; others are who they were.
    let expected = nix::unistd::geteuid().is_root();
    assert_eq!(set(&Options::default()), Some(expected));
}
