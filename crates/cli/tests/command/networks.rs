//! `crosstie fabric` and `crosstie routes`.

use std::fs;

use crate::invocation::{RING, repository, run, run_in};
use tempfile::tempdir;

#[test]
fn a_tree_is_described() {
    let end = run(&["fabric", "--tree", "4,3"]).expect(0);
    for line in [
        "4-ary 3-tree\n",
        "  hosts          64\n",
        "  switches       48\n",
        "  bisection      32 links\n",
        "  mean distance  5.4286 channels; 5.3438 with each host at 0 from itself\n",
    ] {
        assert!(end.stdout.contains(line), "{}", end.stdout);
    }
    assert_eq!(end.stderr, "");
}

#[test]
fn the_same_in_json() {
    let document = run(&["fabric", "--tree", "4,3,32", "--json"]).expect(0).json();
    let network = &document["networks"][0];
    assert_eq!((network["hosts"].as_u64(), network["switches"].as_u64()), (Some(32), Some(32)));
    assert_eq!(network["shape"], "pruned tree");
    assert_eq!(network["degrees"][0]["links"], 2);
    assert_eq!(run(&["fabric", "--single", "8", "--json"]).json()["networks"][0]["links"], 8);
}

#[test]
fn every_format_can_be_written_and_the_readable_ones_read() {
    let folder = tempdir().unwrap();
    let described = run(&["fabric", "--tree", "2,3", "--json"]).json();
    for (file, beginning) in [
        ("net.dot", "graph \"2-ary 3-tree\""),
        ("net.graphml", "<?xml"),
        ("net.anynet", "router 0"),
        ("net.svg", "<svg"),
    ] {
        let end = run_in(folder.path(), &["fabric", "--tree", "2,3", "--out", file]).expect(0);
        assert!(end.stdout.starts_with("2-ary 3-tree\n"), "{end:?}");
        assert_eq!(end.stderr, format!("wrote {file}\n"));
        let text = fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(text.starts_with(beginning), "{file}: {text}");
        let format = file.split_once('.').unwrap().1;
        let printed = run(&["fabric", "--tree", "2,3", "--format", format]).expect(0);
        assert_eq!(printed.stdout, text, "{format}");
        let document = run(&["fabric", "--tree", "2,3", "--format", format, "--json"]).expect(0);
        assert_eq!(document.json()["network"][format], text.as_str());
    }
    let graphml = run_in(folder.path(), &["fabric", "net.graphml", "--json"]).expect(0).json();
    assert_eq!(graphml, described, "GraphML keeps everything");
    let anynet = run_in(folder.path(), &["fabric", "net.anynet", "--json"]).expect(0).json();
    assert_eq!(anynet["networks"][0]["distances"], described["networks"][0]["distances"]);
    assert_eq!(anynet["networks"][0]["name"], "net");
}

#[test]
fn an_irregular_network_follows_from_its_seed() {
    let described = |seed: &str| {
        let arguments = ["fabric", "--irregular", "16,8,4", "--seed", seed, "--json"];
        run(&arguments).expect(0).json()["networks"][0].clone()
    };
    let network = described("7");
    let name = "irregular network of 16 switches with 8 ports and 4 hosts each, seed 7";
    assert_eq!(network["name"], name);
    assert_eq!((network["hosts"].as_u64(), network["links"].as_u64()), (Some(64), Some(96)));
    assert_eq!(
        (network["free_ports"].as_u64(), network["parallel_links"].as_u64()),
        (Some(0), Some(0))
    );
    assert_eq!(described("7"), network);
    assert_ne!(described("8")["distances"], network["distances"]);
}

#[test]
fn networks_are_read_whatever_their_files_are_called() {
    let folder = tempdir().unwrap();
    let subnet = "#\n# Topology file: generated on a day\n#\n\nvendid=0x2c9\n\
                  Switch\t36 \"S-1\"\t\t# \"leaf\" base port 0 lid 1 lmc 0\n\
                  [1]\t\"H-1\"[1](1) \t\t# \"node 1 HCA-1\" lid 2 4xEDR\n\
                  [2]\t\"H-2\"[1](2) \t\t# \"node 2 HCA-1\" lid 3 4xEDR\n";
    // The same without its head and without what --full adds.
    let bare = subnet.replace("#\n# Topology file: generated on a day\n#\n\nvendid=0x2c9\n", "");
    let bare = format!("switchguid=0x8f1(8f1)\n{bare}");
    for (file, text, hosts) in [
        ("ring.txt", RING, 5),
        ("bare.out", &bare, 2),
        ("subnet.out", subnet, 2),
        ("links", "a s\nb s\ns t\nt c\n", 3),
        ("links.edges", "# three switches\n0 1\n1 2\n2 0\nhosts-per-switch 4\n", 12),
    ] {
        fs::write(folder.path().join(file), text).unwrap();
        let network = run_in(folder.path(), &["fabric", file, "--json"]).expect(0).json();
        assert_eq!(network["networks"][0]["hosts"], hosts, "{file}");
    }
    let arguments = ["routes", "subnet.out", "--from", "node 1 HCA-1", "--to", "1"];
    let end = run_in(folder.path(), &arguments).expect(0);
    assert!(end.stdout.contains("leave by port 2"), "the port numbers of InfiniBand: {end:?}");
}

#[test]
fn the_networks_of_an_experiment() {
    let file = repository("experiments/tree-size.toml");
    let file = file.to_str().unwrap();
    let document = run(&["fabric", file, "--json"]).expect(0).json();
    let hosts: Vec<_> =
        document["networks"].as_array().unwrap().iter().map(|n| n["hosts"].as_u64()).collect();
    assert_eq!(hosts, [16, 64, 256, 1024].map(Some));
    let one = run(&["fabric", file, "--point", "2", "--json"]).expect(0).json();
    assert_eq!(one["networks"][0]["hosts"], 256);
    let end = run(&["fabric", file, "--format", "dot"]).expect(2);
    assert!(end.stderr.contains("4 different networks: choose one with --point N"), "{end:?}");
    let end = run(&["fabric", file, "--point", "12"]).expect(2);
    assert!(end.stderr.contains("it has 12 points, counted from 0"), "{end:?}");
}

#[test]
fn routes_are_summed_up() {
    let end = run(&["routes", "--tree", "4,3"]).expect(0);
    assert!(end.stdout.starts_with("4-ary 3-tree, tree-adaptive\n"), "{end:?}");
    assert!(end.stdout.contains("4032, all minimal"), "{end:?}");
    let file = repository("experiments/quickstart.toml");
    let document = run(&["routes", file.to_str().unwrap(), "--json"]).expect(0).json();
    let names: Vec<_> =
        document["routes"].as_array().unwrap().iter().map(|r| &r["routing"]).collect();
    assert_eq!(names, ["tree-adaptive", "tree-deterministic"]);
    assert_eq!(document["routes"][1]["load"]["max"], 60.0);
}

#[test]
fn a_tree_certifies_in_words_and_in_json() {
    for routing in ["tree-adaptive", "tree-deterministic", "shortest"] {
        let end = run(&["routes", "--tree", "4,2", "--routing", routing, "--certify"]).expect(0);
        assert!(end.stdout.contains("deadlock-free: order of "), "{end:?}");
    }
    let document = run(&["routes", "--tree", "4,2", "--certify", "--json"]).expect(0).json();
    let proof = &document["routes"][0];
    assert_eq!(proof["deadlock_free"], true);
    assert_eq!(
        proof["order"].as_array().unwrap().len() as u64,
        proof["channels"].as_u64().unwrap()
    );
}

#[test]
fn ranges_of_a_tree_certify_and_bad_ones_are_refused() {
    let certify = ["routes", "--tree", "4,2", "--certify", "--ranges"];
    let with = |ranges: &str| run(&[&certify[..], &[ranges]].concat());
    let end = with("all").expect(0);
    assert!(end.stdout.contains("deadlock-free: 120 ranges from every host"), "{end:?}");
    let document = run(&[&certify[..], &["0..15,4..5", "--json"]].concat()).expect(0).json();
    assert_eq!(document["routes"][0]["ranges"], 2);
    let beyond = with("0..16").expect(2);
    assert!(beyond.stderr.contains("has hosts 0 to 15, --ranges asks for 0..16"), "{beyond:?}");
    with("7").expect(2);
    let other = [&certify[..], &["all", "--routing", "shortest"]].concat();
    let refused = run(&other).expect(2);
    assert!(refused.stderr.contains("`tree-adaptive` and"), "{refused:?}");
    run(&["routes", "--tree", "4,2", "--ranges", "all"]).expect(2);
}

#[test]
fn a_ring_does_not_certify_and_shows_the_cycle() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("ring.anynet"), RING).unwrap();
    let certify = ["routes", "ring.anynet", "--routing", "shortest", "--certify"];
    let end = run_in(folder.path(), &certify).expect(1);
    assert!(end.stdout.contains("can deadlock: 5 of 20 channels wait"), "{end:?}");
    assert_eq!(end.stdout.matches(" -> ").count(), 5, "{end:?}");
    let document = run_in(folder.path(), &[&certify[..], &["--json"]].concat()).expect(1).json();
    assert_eq!(document["routes"][0]["cycle"].as_array().unwrap().len(), 5);
    let usual = run_in(folder.path(), &["routes", "ring.anynet", "--certify"]).expect(0);
    let chosen = "  chosen         up-down,root=central,pick=balanced,seed=1: the most even that cannot \
                  deadlock\n  deadlock-free";
    assert!(usual.stdout.contains(&format!("ring, up-down\n{chosen}")), "{usual:?}");
}

#[test]
fn one_route_is_shown_switch_by_switch() {
    let end = run(&["routes", "--tree", "4,2", "--from", "1", "--to", "3,2"]).expect(0);
    assert!(end.stdout.contains("host 1 (0,1) to host 14 (3,2), 3 switches"), "{end:?}");
    assert!(end.stdout.contains("leave by any free port of 4, 5, 6, 7"), "{end:?}");
    let document =
        run(&["routes", "--tree", "4,2", "--from", "1", "--to", "14", "--json"]).expect(0).json();
    let steps = &document["routes"][0]["legs"][0]["steps"];
    assert_eq!(steps[0]["ports"], serde_json::json!([4, 5, 6, 7]));
    assert_eq!(steps[1]["switches"].as_array().unwrap().len(), 4);
    assert_eq!(steps[2]["ports"], serde_json::json!([2]));
}

#[test]
fn many_networks_are_summed_up() {
    let arguments = ["routes", "--irregular", "16,8,4", "--seeds", "1..3", "--routing"];
    let with = |routing| run(&[&arguments[..], &[routing]].concat()).expect(0).stdout;
    let text = with("up-down");
    assert!(text.contains("seed 1 to 3, up-down\n"), "{text}");
    assert!(text.contains("deadlock-free       3 of 3"), "{text}");
    let text = with("minimal");
    assert!(text.contains("deadlock-free       0 of 3"), "{text}");
    assert!(text.contains("minimal routes, %       100.0     100.0     100.0"), "{text}");
    let arguments = [&arguments[..], &["up-down-itb", "--json"]].concat();
    let document = run(&arguments).expect(0).json();
    let spread = &document["routes"][0];
    assert_eq!((&spread["deadlock_free"], &spread["networks"]), (&3.into(), &3.into()));
    assert!(spread["mean_stops"]["min"].as_f64().unwrap() > 0.1);
}

#[test]
fn a_ring_is_made_safe() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("ring.anynet"), RING).unwrap();
    for routing in ["up-down,root=0", "dfs", "smart,moves=10", "up-down-itb", "balanced-itb"] {
        let arguments = ["routes", "ring.anynet", "--certify", "--routing", routing];
        run_in(folder.path(), &arguments).expect(0);
    }
    let export = |routing: &str, format: &str| {
        let arguments = ["routes", "ring.anynet", "--routing", routing, "--export", format];
        run_in(folder.path(), &arguments).expect(0)
    };
    let text = export("up-down-mitb,root=0", "text").stdout;
    assert_eq!(text.lines().filter(|line| line.contains('(')).count(), 1 + 2, "{text}");
    assert_eq!(export("up-down-itb", "json").json()["routes"].as_array().unwrap().len(), 20);
    assert!(export("shortest", "opensm").stdout.starts_with("Unicast lids [0x0-0xa] of switch "));
}

#[test]
fn every_routing_is_documented() {
    let text = run(&["routes", "--list"]).expect(0).stdout;
    let document = run(&["routes", "--list", "--json"]).expect(0).json();
    for routing in document["routings"].as_array().unwrap() {
        let name = routing["name"].as_str().unwrap();
        assert!(text.contains(&format!("{name} (on ")), "{name}");
        assert!(routing["description"].as_str().unwrap().len() > 100);
        for page in ["docs/routing.md", "experiments/README.md"] {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../").to_owned() + page;
            let page_text = fs::read_to_string(path).unwrap();
            assert!(page_text.contains(&format!("`{name}`")), "{name} is missing in {page}");
        }
    }
}

#[test]
fn mistakes_about_networks_are_told_and_exit_2() {
    let folder = tempdir().unwrap();
    let write = |name: &str, text: &[u8]| fs::write(folder.path().join(name), text).unwrap();
    write("ring.anynet", RING.as_bytes());
    write("broken.anynet", b"router 0 node 0\nrouter 1 nod 1\n");
    write("links.txt", b"a b\noops\n");
    write("subnet.txt", b"Switch 8 \"S-1\"\noops\n");
    write("binary.graphml", &[0xff; 100]);
    write("name.graphml", b"<graphml><graph><node id='a'/></graph></graphml>");
    for (arguments, words) in [
        ("fabric", "required arguments were not provided"),
        ("fabric --tree 0,3", "k must be from 2"),
        ("fabric --tree 4,3,65", "from 2 to its 64 leaves"),
        ("fabric --tree 4,30", "lower k or n"),
        ("fabric --tree four", "such as 4,3 or 4,3,32"),
        ("fabric --single 1", "at least 2"),
        ("fabric --single 70000", "at most 65535 ports"),
        ("fabric --tree 4,2 --single 4", "cannot be used with"),
        ("fabric absent.anynet", "`absent.anynet`: No such file"),
        ("fabric absent.toml", "there is no such file"),
        ("fabric absent.txt", "`absent.txt`: No such file"),
        ("fabric links.txt", "as a network in the edge list format: line 2: found 1 words"),
        ("fabric subnet.txt", "as a network in the format of ibnetdiscover: line 2: found `oops`"),
        ("fabric --irregular 16,8,4", "--seed <N>"),
        ("fabric --tree 4,2 --seed 1", "cannot be used with"),
        ("fabric --irregular 16,8 --seed 1", "such as 16,8,4"),
        ("fabric --irregular 16,5,4 --seed 1", "take more ports or fewer hosts per switch"),
        ("fabric --irregular 16,8,4 --single 4", "cannot be used with"),
        ("fabric broken.anynet", "line 2: found `nod`"),
        ("fabric binary.graphml", "not text in UTF-8"),
        ("fabric name.graphml", "line 1: "),
        ("fabric ring.anynet --point 0", "this is a network"),
        ("fabric --tree 4,2 --point 1", "cannot be used with"),
        ("fabric ring.anynet --out ring.pdf", ".dot, .graphml, .anynet or .svg"),
        ("fabric ring.anynet --out absent/ring.dot", "cannot write `absent/ring.dot`"),
        ("fabric --tree 4,5 --format svg", "write DOT or GraphML"),
        ("fabric --tree 4,2 --format pdf", "invalid value 'pdf'"),
        ("routes ring.anynet --routing tree-adaptive", "\"ring\" is not one"),
        ("routes ring.anynet --routing up-dwn", "did you mean `up-down`?"),
        ("routes ring.anynet --routing up-down,root=7", "switch 7 cannot be the root"),
        ("routes ring.anynet --routing up-down-itb --export opensm", "stops at host"),
        ("routes --tree 4,2 --export opensm", "use a deterministic routing"),
        ("routes --irregular 16,8,4 --seeds 1..2 --export text", "one network under one routing"),
        ("routes --irregular 16,8,4 --seeds 2..1", "such as 1..30"),
        ("routes ring.anynet --from 0 --to 5", "numbered from 0 to 4"),
        ("routes ring.anynet --from 0 --to 0", "two different hosts"),
        ("routes ring.anynet --from 0", "--to <HOST>"),
        ("routes --tree 4,8", "between at most 16384"),
    ] {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let end = run_in(folder.path(), &arguments).expect(2);
        assert!(end.stderr.contains(words), "{arguments:?}: {}", end.stderr);
        assert_eq!(end.stdout, "", "{arguments:?}");
    }
}

#[test]
fn labels_from_files_cannot_command_the_terminal() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("net.graphml");
    let text = run(&["fabric", "--tree", "2,1", "--format", "graphml"]).stdout;
    fs::write(&file, text.replace("2-ary 1-tree", "a&#x9b;b\u{7f}")).unwrap();
    let end = run(&["fabric", file.to_str().unwrap()]).expect(0);
    assert!(end.stdout.starts_with("a\u{fffd}b\u{fffd}\n"), "{end:?}");
}
