use super::*;

/// Fast Ethernet and Directed Point [tam, table 5.2] with equal gaps, without a buffer.
const TABLE_5_2: &str = "send = '12.5 us'\nsend-gap = '123 us'\nreceive-gap = '123 us'\n\
    latency = { fixed = '149 us', node = '338.7 ns' }\nreceive = '20 us'\npickup = '7 us'\n";

fn with(more: &str) -> Cluster {
    Cluster::read(&format!("{TABLE_5_2}{more}")).unwrap()
}

fn buffer(architecture: &str, frames: u32) -> Cluster {
    with(&format!("buffer = {{ architecture = '{architecture}', frames = {frames} }}"))
}

/// Uplinks that carry 103 MB/s both ways together.
fn two_levels(hosts: u32) -> Cluster {
    with(&format!(
        "buffer = {{ architecture = 'input', frames = 43 }}\n\
         uplink = {{ hosts = {hosts}, outward = '14.485 us', inward = '14.485 us', shared = true, frames = 45 }}"
    ))
}

fn ask(cluster: &Cluster, packets: u64, nodes: u32) -> Advice {
    let window = Some(USUAL_WINDOW);
    let question = ExchangeQuestion { bytes: packets * 1492, nodes, window, algorithm: None };
    advise(cluster, &question).unwrap()
}

/// What becomes of one algorithm.
fn one(cluster: &Cluster, packets: u64, nodes: u32, name: &str) -> Choice {
    let (window, algorithm) = (Some(USUAL_WINDOW), Some(name));
    let question = ExchangeQuestion { bytes: packets * 1492, nodes, window, algorithm };
    advise(cluster, &question).unwrap().ranking.remove(0)
}

fn find<'a>(advice: &'a Advice, name: &str) -> &'a Choice {
    advice.ranking.iter().find(|choice| choice.name == name).unwrap()
}

#[test]
fn all_algorithms_are_ranked() {
    for nodes in 3..=17 {
        let advice = ask(&buffer("input", 43), 4, nodes);
        let mut names: Vec<&str> = advice.ranking.iter().map(|choice| choice.name).collect();
        names.sort_unstable();
        let mut all = Choice::NAMES;
        all.sort_unstable();
        assert_eq!(names, all, "p {nodes}");
        assert!(advice.ranking.is_sorted_by_key(|choice| choice.time), "nothing may be lost");
        assert_eq!(advice.ranking[0].time, advice.forms[0].time, "5.3 is 5.1");
    }
    let question = ExchangeQuestion { bytes: 9, nodes: 8, window: None, algorithm: Some("shift") };
    let only = advise(&buffer("input", 43), &question).unwrap();
    assert_eq!((only.ranking.len(), only.ranking[0].name), (1, "shift"));
}

#[test]
fn windows_are_those_of_chapter_6() {
    for (here, switches, window) in [(8, 2, 5), (8, 3, 4), (6, 4, 5), (8, 4, 3)] {
        let advice = ask(&two_levels(here), 40, here * switches);
        let best = &advice.ranking[0];
        assert_eq!((best.name, best.window), ("modified-shuffle", Some(window)));
        assert_eq!(best.hosts_per_switch, Some(here));
        assert_eq!((best.bottleneck, best.risk.as_ref()), (Limit::Uplink, None));
        let uplinks = &advice.forms[1];
        assert_eq!(uplinks.equation, "6.4");
        assert!(best.time >= uplinks.time && best.time.seconds() < 1.06 * uplinks.time.seconds());
    }
    assert_eq!(one(&buffer("input", 43), 4, 16, "modified-shuffle").window, Some(21));
    // A switch that is not full: the map would not know where ranks are.
    let uneven = ask(&two_levels(8), 4, 12);
    assert_eq!(find(&uneven, "modified-shuffle").hosts_per_switch, None);
    assert!(uneven.remarks[0].contains("12 nodes"), "{:?}", uneven.remarks);
}

#[test]
fn what_may_be_lost_is_told() {
    let risk = |cluster: &Cluster, packets, name: &str| one(cluster, packets, 16, name).risk;
    let narrow = buffer("input", 43);
    for packets in [1, 32] {
        assert_eq!(risk(&narrow, packets, "synchronous-shuffle"), None, "nodes are in step");
    }
    let Some(Risk::OutOfStep { waiting, frames, passes }) =
        risk(&narrow, 200, "synchronous-shuffle")
    else {
        panic!("inputs fill")
    };
    assert_eq!((waiting, frames), (1243, 43), "200 x 15 x (1 - 0.586)");
    assert!((passes.unwrap() - 0.586).abs() < 1e-3);
    assert_eq!(risk(&narrow, 200, "modified-shuffle"), None, "a window keeps nodes in step");
    assert_eq!(risk(&narrow, 200, "pairwise"), None, "nobody else sends to its port");
    assert_eq!(risk(&buffer("output", 95), 200, "synchronous-shuffle"), None);
    let met = Some(Risk::OutOfStep { waiting: 16, frames: 8, passes: None });
    assert_eq!(risk(&buffer("output", 8), 200, "synchronous-shuffle"), met);
    assert_eq!(risk(&buffer("shared", 8 * 16), 200, "synchronous-shuffle"), met);
    let met = Some(Risk::OutOfStep { waiting: 32, frames: 8, passes: None });
    assert_eq!(risk(&buffer("input", 8), 200, "pairwise"), met, "a round apart");
    assert_eq!(risk(&buffer("input", 8), 64, "pairwise"), None);
    let narrow = Some(Risk::Narrow { frames: 1 });
    assert_eq!(risk(&buffer("input", 1), 1, "synchronous-shuffle"), narrow);
    assert_eq!(risk(&buffer("input", 1), 9, "pairwise"), None);
    assert_eq!(risk(&buffer("output", 1), 9, "pairwise"), narrow);
    assert_eq!(risk(&buffer("output", 1), 9, "modified-shuffle"), None, "one packet at a time");
    let tight = ask(&two_levels(8), 40, 32);
    let Some(Risk::Overflows(what)) = &find(&tight, "synchronous-shuffle").risk else {
        panic!("uplinks overflow")
    };
    assert!(what.contains("packets would wait"), "{what}");
    assert_eq!(find(&tight, "synchronous-shuffle").bottleneck, Limit::Memory);
    assert!(tight.ranking.is_sorted_by_key(|it| it.risk.as_ref().map_or(0, Risk::level)));
    // Where all may lose, the fewer meet the better.
    let narrow = ask(&buffer("shared", 16), 40, 16);
    let order: Vec<&str> = narrow.ranking.iter().map(|choice| choice.name).collect();
    assert_eq!(order[2..], ["modified-shuffle", "group-shuffle", "synchronous-shuffle"]);
}

#[test]
fn what_holds_an_exchange_up_has_a_name() {
    let limit =
        |cluster: &Cluster, packets, name: &str| find(&ask(cluster, packets, 16), name).bottleneck;
    let usual = buffer("input", 43);
    assert_eq!(limit(&usual, 64, "synchronous-shuffle"), Limit::NodeLink);
    let far = Cluster::read(&TABLE_5_2.replace("149 us", "600 us")).unwrap();
    assert_eq!(limit(&far, 1, "shift"), Limit::Latency);
    assert_eq!(limit(&buffer("output", 2), 64, "modified-shuffle"), Limit::GlobalWindow);
    let slow = TABLE_5_2.replace("receive = '20 us'", "receive = '200 us'");
    let slow = Cluster::read(&slow).unwrap();
    assert_eq!(limit(&slow, 64, "synchronous-shuffle"), Limit::Processor);
    let unknown = ask(&slow, 4, 16);
    assert!(unknown.ranking.iter().all(|choice| choice.name != "modified-shuffle"));
    assert!(unknown.remarks[0].contains("B_L"), "{:?}", unknown.remarks);
}

#[test]
fn groups_are_as_large_as_a_port_bears() {
    let omega = |cluster: &Cluster, packets| one(cluster, packets, 16, "group-shuffle").omega;
    assert_eq!(omega(&buffer("input", 43), 4), Some(8), "two rounds, all in step");
    assert_eq!(omega(&buffer("input", 43), 64), Some(2), "64 x 2 x (1 - 0.75) packets wait");
    assert_eq!(omega(&buffer("output", 8), 64), Some(3), "a packet of each, of two rounds");
}

#[test]
fn nothing_is_called_best_where_losses_decide() {
    let of = |cluster: &Cluster, packets| ask(cluster, packets, 16).unresolved;
    assert_eq!(of(&buffer("input", 43), 4), None);
    assert_eq!(of(&buffer("input", 43), 1000), None, "a window costs nothing there");
    assert!(of(&buffer("input", 1), 4).unwrap().contains("a single packet"));
    assert!(of(&buffer("shared", 31), 4).unwrap().contains("a single packet"));
    // W_g = 1 waits for every packet.
    assert!(of(&buffer("output", 2), 200).unwrap().contains("times as long as"));
    // Without B_L there is no window, and the advisor does not know what is lost.
    assert_eq!(of(&with(""), 4), None);
}
