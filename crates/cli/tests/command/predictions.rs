//! `crosstie predict`.

use crate::invocation::{End, run, run_in};
use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

/// Fast Ethernet and Directed Point, with both switches of Table 5.2, and Figures 2.3 and 2.4.
fn models() -> TempDir {
    let folder = tempdir().unwrap();
    let table = |latency: &str| {
        format!(
            "send = '12.5 us'\nsend-gap = '122 us'\nreceive-gap = '123 us'\nlatency = {latency}\n\
             receive = '20 us'\npickup = '7 us'\n"
        )
    };
    let figure = |g: u32| {
        format!(
            "packet = '1 B'\nsend = '1 us'\nsend-gap = '{g} us'\nlatency = '4 us'\n\
             receive-gap = '{g} us'\nreceive = '1.5 us'\npickup = '0.5 us'\n"
        )
    };
    for (name, text) in [
        ("326.toml", table("{ fixed = '149 us', node = '338.7 ns' }")),
        ("416.toml", table("{ fixed = '264 us', node = '341.3 ns' }")),
        ("2-3.toml", figure(2)),
        ("2-4.toml", figure(1)),
        ("wrong.toml", "gap = '1 us'\n".to_owned()),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn predict(folder: &TempDir, arguments: &[&str]) -> End {
    run_in(folder.path(), &[&["predict"], arguments].concat())
}

#[test]
fn transfers_of_table_5_2() {
    let folder = models();
    for (model, times) in [
        ("326.toml", ["189.177", "1296.177", "12366.177"]),
        ("416.toml", ["304.183", "1411.183", "12481.183"]),
    ] {
        for what in ["transfer", "exchange"] {
            let sizes = "1492,14920,149200";
            let end = predict(&folder, &[what, "--model", model, "--sizes", sizes]).expect(0);
            let lines: Vec<&str> = end.stdout.lines().collect();
            assert_eq!(lines[0], format!("# {what}, 2 nodes on {model}"));
            for (line, time) in lines[4..].iter().zip(times) {
                assert_eq!(line.split_whitespace().nth(2), Some(time), "{}", end.stdout);
            }
        }
    }
    let one = predict(&folder, &["transfer", "--model", "326.toml", "--sizes", "14920", "--path"]);
    let text = one.expect(0).stdout;
    for words in [
        "\n# 14920 B: 10 packets, times in us\n",
        "\n  L    from memory to memory               149.677\n",
        "full duplex: yes: O_s + O_r + U_r = 39.500 < g = 123.000 < L = 149.677",
        "\ntime           1296.177 = host 39.500 + gap 1107.000 + wire 149.677\n",
        "\nbottleneck     gap: g_r\n",
        "\nformula 2.6    1296.177 = O_s + (k-1) g + L + O_r + U_r, one way\n",
        "\nbecause        O_r + U_r is 27.000 <= g, 123.000\n",
        "\n       162.177 to     1269.177  rank 1     packets follow each other: g\n",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn trees_of_figures_2_3_and_2_4() {
    let folder = models();
    for (model, equation, times, rule) in [
        ("2-3.toml", "2.8'", [28.0, 36.0, 44.0, 52.0, 60.0, 100.0], ("<", 4.0)),
        ("2-4.toml", "2.9'", [28.0, 33.0, 38.0, 43.0, 48.0, 73.0], (">=", 2.0)),
    ] {
        let sizes = ["--sizes", "1,2,3,4,5,10", "--ranks", "16", "--json"];
        let arguments = [&["bcast", "--model", model], &sizes[..]].concat();
        let document = predict(&folder, &arguments).expect(0).json();
        assert_eq!((&document["what"], &document["unit"]), (&json!("broadcast"), &json!("us")));
        for (found, time) in document["predictions"].as_array().unwrap().iter().zip(times) {
            let form = &found["form"];
            assert_eq!((&form["equation"], &form["time"]), (&json!(equation), &json!(time)));
            assert_eq!(form["rule"]["left_time"], json!(3.0));
            assert_eq!(form["rule"]["sign"], json!(rule.0));
            assert_eq!(form["rule"]["right_time"], json!(rule.1));
            let duplex = &found["packet"]["full_duplex"];
            assert_eq!(
                (&duplex["holds"], duplex["fails"][0].as_str()),
                (&json!(false), Some("O_s + O_r + U_r < g"))
            );
            let times: Vec<f64> = (found["ranking"].as_array().unwrap().iter())
                .map(|way| way["time"].as_f64().unwrap())
                .collect();
            assert!(times.is_sorted(), "{times:?}");
        }
        let text =
            predict(&folder, &["broadcast", "--model", model, "--sizes", "5", "--ranks", "16"]);
        let text = text.expect(0).stdout;
        assert!(text.contains("no, processors are slower than g"), "{text}");
        let because = format!("T_0 = O_r + U_r + O_s is 3.000 {} 2 G = 2 max(g, O_s)", rule.0);
        assert!(text.contains(&because), "{text}");
    }
}

/// The bandwidths of section 3.2 and what holds them up.
#[test]
fn presets_of_chapter_3() {
    for (preset, equation, bandwidth, bottleneck) in [
        ("fedp", "2.6", 12.2, "gap: g_s"),
        ("gedp-up", "3.1", 75.2, "host: O_r + U_r"),
        ("gedp-smp", "2.6", 79.5, "gap: g_s"),
    ] {
        let text = run(&["predict", "transfer", "--sim", preset, "--sizes", "10MB"]).expect(0);
        let text = text.stdout;
        assert!(text.contains(&format!("\nformula {equation} ")), "{text}");
        assert!(text.contains(&format!("\nbottleneck     {bottleneck}\n")), "{text}");
        let line = text.lines().find_map(|line| line.strip_prefix("bandwidth ")).unwrap();
        let found: f64 = line.split_whitespace().next().unwrap().parse().unwrap();
        assert!((found / bandwidth - 1.0).abs() < 0.01, "{text}");
    }
}

#[test]
fn a_gather_tells_of_windows() {
    let arguments = ["predict", "gather", "--sim", "p733-ibm-8275-326", "--ranks", "16"];
    let once = run(&[&arguments[..], &["--window", "44"]].concat()).expect(0).stdout;
    assert!(once.contains("is not filled by a block of 1 packet, and nothing is lost"), "{once}");
    assert!(once.contains("  gap: g_r\n"), "the root's NIC: {once}");
    let arguments = [&arguments[..], &["--sizes", "1MiB"]].concat();
    let text = run(&[&arguments[..], &["--window", "44"]].concat()).expect(0).stdout;
    for words in [
        "many to one    15 senders, 43 frames at the input, a slot of 123.040\n",
        "window         at most 43, and nothing is lost\n",
        "time-out       1290 to 1935 slots, ",
        "a window of 44 overflows: 0.4842 of the port's rate is left (4.2); ",
        "  buffer: B_L\nbinomial ",
        "packets would wait at the input port of rank ",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let fits = run(&[&arguments[..], &["--window", "43"]].concat()).expect(0).stdout;
    assert!(fits.contains("loses nothing"), "{fits}");
    // The first line of table 4.1.
    let arguments = ["predict", "gather", "--sim", "p733-ibm-8275-416", "--ranks", "8", "--json"];
    let flow = ["--sizes", "1MiB", "--window", "18", "--timeout", "400"];
    let loss = ["--loss", "0.0218,0.0547,0.5329"];
    let found = |more: &[&[&str]]| -> Value {
        let document = run(&[&arguments[..], &more.concat()].concat()).expect(0).json();
        document["predictions"][0]["many_to_one"]["flow"].clone()
    };
    let known = found(&[&flow, &loss]);
    assert_eq!(known["equation"], json!("4.10"));
    assert!((known["efficiency"].as_f64().unwrap() - 0.7639).abs() < 0.002, "{known}");
    assert_eq!(found(&[&flow])["efficiency"], Value::Null);
}

#[test]
fn an_exchange_among_many_names_its_algorithm() {
    let ask = ["predict", "exchange", "--preset", "p733-ibm-8275-326", "--ranks", "16"];
    let text = run(&[&ask[..], &["--size", "298400"]].concat()).expect(0).stdout;
    for words in [
        "# exchange, 16 nodes on p733-ibm-8275-326\n",
        "# 298400 B for each other node: 200 packets, times in us\n",
        "\nsynchronous-shuffle: may lose packets: out of step, inputs pass 59 % and ",
        "\nformula 5.1 ",
        "\nbest           modified-shuffle, W_g = 21\n",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let several = run(&[&ask[..], &["--sizes", "1492,59680"]].concat()).expect(0).stdout;
    assert_eq!(several.matches("  modified-shuffle  ").count(), 2, "{several}");
    // What is simulated stands beside what is predicted.
    let ask = ["predict", "exchange", "--sim", "p733-ibm-8275-326", "--ranks", "4", "--simulate"];
    let document = run(&[&ask[..], &["--sizes", "5968", "--json"]].concat()).expect(0).json();
    let sheet = &document["predictions"][0];
    assert_eq!((&sheet["nodes"], &sheet["packets"]), (&json!(4), &json!(4)));
    let (ranking, trials) =
        (sheet["ranking"].as_array().unwrap(), sheet["trials"].as_array().unwrap());
    assert_eq!((ranking.len(), trials.len()), (5, 5));
    for (choice, trial) in ranking.iter().zip(trials) {
        assert_eq!(choice["name"], trial["algorithm"]);
        let (predicted, found) = (&choice["time"], &trial["simulated"]["time"]);
        let ratio = found.as_f64().unwrap() / predicted.as_f64().unwrap();
        assert!((0.95..1.05).contains(&ratio), "{choice}: {trial}");
        assert_eq!(trial["simulated"]["lost"], json!(0.0));
    }
    let one = run(&[&ask[..], &["--algorithm", "pairwise"]].concat()).expect(0).stdout;
    assert!(one.contains("  simulated  ") && !one.contains("shift"), "{one}");
    // Chance is not called the best.
    let narrow = ["--set", "frame.switch.memory.input.capacity=1 frames", "--ranks", "4"];
    let ask = [&["predict", "exchange", "--sim", "p733-ibm-8275-326"], &narrow[..]].concat();
    let text = run(&[&ask[..], &["--size", "5968"]].concat()).expect(0).stdout;
    assert!(text.contains("\nbest           not resolved: a port keeps a single packet"), "{text}");
    assert!(text.contains("`--simulate` tries all of them"), "{text}");
    let tried = run(&[&ask[..], &["--size", "5968", "--simulate"]].concat()).expect(0).stdout;
    assert!(tried.contains("\nsimulated      ") && !tried.contains("tries all"), "{tried}");
    let several = run(&[&ask[..], &["--sizes", "1492,5968"]].concat()).expect(0).stdout;
    assert_eq!(several.matches(" ?  ").count(), 2, "{several}");
    assert_eq!(several.matches("?: not resolved: ").count(), 1, "{several}");
    let document = run(&[&ask[..], &["--size", "5968", "--json"]].concat()).expect(0).json();
    assert!(document["predictions"][0]["unresolved"].is_string(), "{document}");
}

#[test]
fn machines_are_files_too_and_can_be_changed() {
    let folder = tempdir().unwrap();
    let text = "title = 'Mine'\nseed = 1\nworld = 'frame'\nfabric.single.hosts = 4\n\
                link.rate = '100 Mbit/s'\n";
    std::fs::write(folder.path().join("mine.toml"), text).unwrap();
    let arguments = ["all-to-all", "mine.toml", "--sizes", "1KiB..4KiB", "--path"];
    let text = predict(&folder, &arguments).expect(0).stdout;
    assert!(text.starts_with("# all-to-all, 4 nodes on mine.toml\n# Mine\n"), "{text}");
    assert!(text.contains("critical path, ") && text.contains("fastest, bottleneck"), "{text}");
    let time = |more: &[&str]| {
        let arguments = [&["transfer", "mine.toml", "--sizes", "1500", "--json"], more].concat();
        let document = predict(&folder, &arguments).expect(0).json();
        document["predictions"][0]["ranking"][0]["time"].as_f64().unwrap()
    };
    assert!(time(&[]) > 9.0 * time(&["--set", "link.rate=1 Gbit/s"]));
    // A machine for wormholes is taken for Ethernet, and that is said.
    let end = run(&["predict", "barrier", "--sim", "qsnet"]).expect(0);
    assert!(end.stderr.contains("its world is wormhole"), "{end:?}");
    let end = run(&["bench", "barrier", "--sim", "qsnet", "--predict"]).expect(0);
    assert!(end.stdout.contains("\n# model: its world is wormhole; the parameters"), "{end:?}");
    // What is no Ethernet at all has no price.
    for command in [&["predict", "transfer"][..], &["bench", "ping", "--predict"]] {
        let end = run(&[command, &["--sim", "myrinet"]].concat()).expect(2);
        assert!(end.stderr.contains("stops at hosts, which frames do not"), "{end:?}");
    }
}

#[test]
fn what_the_model_leaves_out_is_told() {
    let folder = tempdir().unwrap();
    let machine = |rails: &str, more: &str| {
        let text = format!(
            "title = 'Mine'\nseed = 1\nworld = 'frame'\nfabric.single.hosts = 2\n\
             link.rate = '1 Gbit/s'\nnode.overhead.message = '10 us'\nmessage = {{}}\n\
             cluster.rails = {rails}\n{more}\n"
        );
        std::fs::write(folder.path().join("mine.toml"), text).unwrap();
    };
    let ask = ["transfer", "--sim", "mine.toml", "--sizes", "64KiB", "--json"];
    let bench = ["bench", "ping", "--sim", "mine.toml", "--sizes", "64KiB", "--predict", "--json"];
    let told = "not used by the model: node.bus";
    machine("2", "node.bus = 'half'");
    let end = predict(&folder, &ask).expect(0);
    let estimated = "only estimated by the model: channel, policy, node.overhead";
    assert_eq!(end.stderr, format!("mine.toml: {told}\nmine.toml: {estimated}\n"));
    assert_eq!(end.json()["remarks"], json!([told, estimated]));
    // The column of a benchmark says the same.
    assert_eq!(run_in(folder.path(), &bench).expect(0).json()["remarks"], json!([told]));
    // Rails are priced, and it is told what each of them carries.
    for (rails, shares) in [
        ("2", [0.5, 0.5]),
        ("[{}, {rate = '250 Mbit/s'}]", [0.8, 0.2]),
        ("[{rate = '250 Mbit/s'}, {}]", [0.2, 0.8]),
    ] {
        machine(rails, "");
        let end = predict(&folder, &ask).expect(0);
        assert_eq!(end.stderr, format!("mine.toml: {estimated}\n"), "{rails}");
        let document = end.json();
        let found = &document["predictions"][0]["ranking"][0]["rails"];
        for (rail, share) in shares.iter().enumerate() {
            let found = found[rail]["share"].as_f64().unwrap();
            assert!((found - share).abs() < 0.03, "{rails}: {found}, expected {share}");
        }
        let line = &run_in(folder.path(), &bench).expect(0).json()["rows"][0];
        let carried = &line["rails"][0]["shares"];
        assert!((carried[0].as_f64().unwrap() - shares[0]).abs() < 0.03, "{line}");
    }
    // One rail, and nothing that packets are not: a price is all there is to say.
    let end = predict(&folder, &["transfer", "--sim", "fedp"]).expect(0);
    assert_eq!(end.stderr, "");
}

#[test]
fn earlier_spellings_still_work() {
    let folder = tempdir().unwrap();
    let ask = |arguments: &[&str]| predict(&folder, arguments).expect(0).stdout;
    let now = ask(&["transfer", "--sim", "fedp", "--sizes", "8"]);
    assert_eq!(ask(&["transfer", "--preset", "fedp", "--size", "8"]), now);
}

#[test]
fn mistakes_say_what_was_found_and_expected() {
    let folder = models();
    for (arguments, expected) in [
        (&["transfer"][..], "--sim <PRESET>"),
        (&["transfr", "--sim", "fedp"], "tip: a similar value exists: 'transfer'"),
        (&["transfer", "--sim", "p450-ibm-8275-236"], "did you mean `p450-ibm-8275-326`?"),
        (&["transfer", "--sim", "fedp", "--model", "326.toml"], "cannot be used with"),
        (&["transfer", "--model", "nosuch.toml"], "expected the parameters of a cluster"),
        (&["transfer", "--model", "wrong.toml"], "unknown field `gap`, expected one of `packet`"),
        (&["transfer", "nosuch.toml"], "expected a file, or a preset: qsnet"),
        (&["transfer", "--model", "/dev/null"], "found no parameter that takes time"),
        (&["barrier", "--sim", "fedp", "--sizes", "8"], "sends nothing of any size"),
        (&["gather", "--model", "326.toml"], "expected --ranks N"),
        (&["gather", "--sim", "fedp", "--ranks", "3"], "found 3, expected at most 2"),
        (&["transfer", "--sim", "fedp", "--ranks", "1"], "found 1, expected at least 2"),
        (&["transfer", "--sim", "fedp", "--sizes", "0"], "expected 1 B to 1 GiB"),
        (&["transfer", "--sim", "fedp", "--window", "3"], "expected gather"),
        (&["transfer", "--sim", "fedp", "--algorithm", "ring"], "has no algorithms"),
        (&["exchange", "--sim", "fedp", "--simulate"], "expected an exchange among 3 or more"),
        (&["exchange", "--sim", "fedp", "--algorithm", "shift"], "found exchange with 2 nodes"),
        (&["transfer", "--sim", "fedp", "--box", "x.toml"], "--box: found transfer with 2 nodes"),
        (&["exchange", "--model", "326.toml", "--ranks", "4", "--simulate"], "cannot be used with"),
        (&["exchange", "--model", "326.toml", "--ranks", "4", "--path"], "expected 2"),
        (&["exchange", "--model", "326.toml", "--algorithm", "shfit"], "did you mean `shift`?"),
        (&["bcast", "--sim", "fedp", "--algorithm", "chian"], "did you mean `chain`?"),
        (&["gather", "--sim", "fedp", "--loss", "1,1,1"], "--window <PACKETS>"),
        (&["gather", "--sim", "fedp", "--window", "3", "--loss", "1,2"], "c,1-a,f from 0 to 1"),
        (&["gather", "--sim", "fedp", "--window", "3", "--timeout", "x"], "such as 400"),
        (&["transfer", "--sim", "fedp", "--set", "link.rat=1 B/s"], "did you mean `rate`?"),
    ] {
        let end = predict(&folder, arguments).expect(2);
        assert!(end.stderr.contains(expected), "{arguments:?}: {}", end.stderr);
        assert_eq!(end.stdout, "");
    }
}
