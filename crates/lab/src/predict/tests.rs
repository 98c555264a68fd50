use super::*;

/// Fast Ethernet and Directed Point [tam, table 5.2].
const TABLE_5_2: &str = "send = '12.5 us'\nsend-gap = '122 us'\nreceive-gap = '123 us'\n\
    latency = { fixed = '149 us', node = '338.7 ns' }\nreceive = '20 us'\npickup = '7 us'\n\
    buffer = { architecture = 'input', frames = 43 }\n";

fn ask(text: &str, what: &str, bytes: u64, nodes: u32) -> Prediction {
    asked(text, what, bytes, nodes, None)
}

fn asked(text: &str, what: &str, bytes: u64, nodes: u32, flow: Option<FlowQuestion>) -> Prediction {
    let subject = Subject::find(what).unwrap();
    let question = Question { subject, bytes, nodes, algorithm: None, flow, path: true };
    predict(&Cluster::read(text).unwrap(), &question).unwrap()
}

#[test]
fn transfers_take_what_2_6_says() {
    for (packets, expected) in [(1, 189.177), (10, 1296.177), (100, 12366.177)] {
        for what in ["transfer", "exchange"] {
            let found = ask(TABLE_5_2, what, packets * 1492, 2);
            let best = &found.ranking[0];
            // L has a tenth of a nanosecond more.
            assert_eq!((us(&best.time) * 1e3).round() / 1e3, expected);
            assert_eq!(best.host + best.gap + best.wire, best.time);
            assert_eq!(found.form.as_ref().unwrap().time, best.time);
            let path = best.path.as_ref().unwrap();
            assert_eq!(path.last().unwrap().to, best.time, "{what}: {path:?}");
            assert!(found.packet.full_duplex.holds);
        }
    }
    let form = ask(TABLE_5_2, "transfer", 14_920, 2).form.unwrap();
    assert_eq!((form.equation, form.rule.unwrap().sign), ("2.6", "<="));
    assert_eq!(ask(TABLE_5_2, "exchange", 14_920, 2).form.unwrap().equation, "2.7");
    let slow = format!("{}receive = '130 us'\n", TABLE_5_2.replace("receive = '20 us'\n", ""));
    let slow = slow.replace("buffer", "#");
    let found = ask(&slow, "transfer", 14_920, 2);
    let bottleneck = &found.ranking[0].bottleneck;
    assert_eq!((bottleneck.resource, bottleneck.stage), ("host", "O_r + U_r"));
    assert_eq!(found.form.unwrap().equation, "3.1");
    assert_eq!(ask(&slow, "exchange", 149_200, 2).form.unwrap().equation, "2.7'");
}

#[test]
fn a_tree_is_disturbed_or_not() {
    let figure = |g: u64| {
        format!(
            "packet = '1 B'\nsend = '1 us'\nsend-gap = '{g} us'\nlatency = '4 us'\n\
             receive-gap = '{g} us'\nreceive = '1.5 us'\npickup = '0.5 us'\n"
        )
    };
    for (g, equation, sign, times) in
        [(2, "2.8'", "<", [28, 36, 44, 52, 60, 100]), (1, "2.9'", ">=", [28, 33, 38, 43, 48, 73])]
    {
        for (packets, expected) in [1, 2, 3, 4, 5, 10].into_iter().zip(times) {
            let found = ask(&figure(g), "broadcast", packets, 16);
            let form = found.form.unwrap();
            assert_eq!((form.equation, form.rule.unwrap().sign), (equation, sign));
            assert_eq!(form.time, Time::from_ns(expected * 1000), "g {g}, k {packets}");
            let tree = found.ranking.iter().find(|way| {
                way.algorithm.as_deref() == Some("segmented-binomial, segments of 1 B")
            });
            assert_eq!(tree.map(|way| way.time), (packets > 1).then_some(form.time));
        }
        let best = ask(&figure(g), "broadcast", 10, 16).ranking;
        assert!(best.is_sorted_by_key(|way| way.time) && best.len() == 6, "{best:?}");
    }
}

#[test]
fn a_complete_exchange_has_a_least_time() {
    // T_sync for 16 nodes and 4 packets.
    let found = ask(TABLE_5_2, "all-to-all", 4 * 1492, 16);
    let form = found.form.unwrap();
    assert_eq!((form.equation, (us(&form.time) * 10.0).round()), ("5.1", 74_509.0));
    assert!(found.ranking.iter().all(|way| way.time >= form.time), "{:?}", found.ranking);
}

#[test]
fn windows_that_overflow_leave_what_4_2_and_4_10_say() {
    let flow = |text: &str, nodes, window, timeout, losses: Option<&str>| {
        let losses = losses.map(|text| text.parse().unwrap());
        let flow = FlowQuestion { window, timeout, losses };
        asked(text, "gather", 1492 * 100, nodes, Some(flow)).many_to_one.unwrap()
    };
    let found = flow(TABLE_5_2, 16, 44, None, None);
    assert_eq!((found.senders, found.largest_window), (15, 43));
    assert_eq!(found.timeout_slots, [1290.0, 1935.0]);
    let way = found.flow.unwrap();
    assert_eq!((way.loses, way.equation), (true, Some("4.2")));
    assert_eq!((way.efficiency.unwrap() * 1e4).round(), 4842.0);
    assert_eq!(flow(TABLE_5_2, 16, 43, None, None).flow.unwrap().efficiency, Some(1.0));
    let once = FlowQuestion { window: 44, timeout: None, losses: None };
    let once = asked(TABLE_5_2, "gather", 1492, 16, Some(once)).many_to_one.unwrap().flow.unwrap();
    assert_eq!((once.outstanding, once.loses), (1, false), "a block is a packet");
    // The first line of table 4.1.
    let output = TABLE_5_2.replace("'input', frames = 43", "'output', frames = 95");
    let timeout = Some(Patience::Slots(400.0));
    let way = flow(&output, 8, 18, timeout, Some("0.0218,0.0547,0.5329")).flow.unwrap();
    assert_eq!((way.efficiency.unwrap() * 1e4).round(), 7638.0);
    let way = flow(&output, 8, 18, timeout, None).flow.unwrap();
    assert!(way.efficiency.is_none() && way.unknown.unwrap().contains("--loss"));
    assert_eq!("49.2ms".parse(), Ok(Patience::Time(Time::from_ns(49_200_000))));
    assert!("0".parse::<Patience>().is_err() && "0,1,1".parse::<Losses>().is_err());
    assert!("0.1,x,1".parse::<Losses>().is_err() && "0.1,0.1,1,x".parse::<Losses>().is_err());
}

#[test]
fn every_subject_has_a_prediction() {
    for subject in Subject::all() {
        for nodes in [1, 2, 3, 16] {
            let found = ask(TABLE_5_2, subject.name(), 5000, nodes);
            assert!(!found.ranking.is_empty(), "{subject:?}");
            assert_eq!(found.size.is_some(), subject != Subject::Collective("barrier"));
        }
    }
}
