//! Schedules from experiment files: the LogGOPS machine, GOAL files, and what is wrong with them.

use crate::bench::{Bench, get};
use crosstie_lab::Preset;
use crosstie_study::Status;

/// The finish times of a GOAL text on the preset `loggops`, in nanoseconds.
fn finish(goal: &str) -> Vec<f64> {
    let bench = Bench::with(&[("trace.goal", goal)]);
    let preset = Preset::find("loggops").unwrap().text;
    let rows = bench.rows(&format!("work.goal.file = 'trace.goal'\n{preset}"));
    assert_eq!(rows[0].status, Status::Completed, "{rows:?}");
    let ranks = String::from_utf8(bench.bytes("results").remove("ranks.csv").unwrap()).unwrap();
    let finish = |line: &str| line.rsplit(',').next().unwrap().parse::<f64>().unwrap() * 1000.0;
    ranks.lines().skip(1).map(|line| finish(line).round()).collect()
}

/// A text of eight ranks.
fn eight(rank: impl Fn(u32) -> String) -> String {
    let ranks = (0..8).map(|number| format!("rank {number} {{\n{}}}\n", rank(number)));
    format!("num_ranks 8\n{}", ranks.collect::<String>())
}

#[test]
fn goal_files_take_what_loggopsim_says() {
    let broadcast = eight(|rank| {
        let parent = [4, 2, 1].into_iter().find(|bit| rank & bit != 0);
        let mut text = String::new();
        if let Some(bit) = parent {
            text += &format!("r: recv 1024b from {}\n", rank - bit);
        }
        for bit in [1, 2, 4].into_iter().filter(|&bit| bit > parent.unwrap_or(0)) {
            text += &format!("s{bit}: send 1024b to {}\n", rank + bit);
            if parent.is_some() {
                text += &format!("s{bit} requires r\n");
            }
        }
        text
    });
    let expected = [15776., 20276., 20276., 24776., 25914., 30414., 30414., 34914.];
    assert_eq!(finish(&broadcast), expected);
    let all_to_all = eight(|rank| {
        let send = |step| format!("send 1024b to {}\n", (rank + step) % 8);
        let receive = |step| format!("recv 1024b from {}\n", (rank + step) % 8);
        (1..8).map(send).chain((1..8).map(receive)).collect()
    });
    assert_eq!(finish(&all_to_all), [81466.; 8]);
    // A rendezvous: the receive comes late.
    let late = "num_ranks 2
        rank 0 {\n a: send 100000b to 1\n b: calc 10\n b requires a\n }
        rank 1 {\n a: calc 2000000\n b: recv 100000b from 0\n b requires a\n }";
    assert_eq!(finish(late), [2_000_010., 2_601_494.]);
    // Both receives are posted before a long send and a short one.
    let early = "num_ranks 2
        rank 0 {\n a: calc 5000\n b: send 100000b to 1 tag 1\n b requires a
        c: send 8b to 1 tag 2\n c requires b\n }
        rank 1 {\n a: recv 100000b from 0 tag 1\n b: recv 8b from 0 tag 2
        c: calc 100\n c requires b\n }";
    assert_eq!(finish(early), [607_494., 612_136.]);
    // A long send before a handshake.
    let handshake = "num_ranks 2
        rank 0 {\n a: send 100000b to 1 tag 1\n b: recv 8b from 1 tag 2
        c: send 8b to 1 tag 3\n c requires b\n }
        rank 1 {\n a: send 8b to 0 tag 2\n b: recv 8b from 0 tag 3
        c: recv 100000b from 0 tag 1\n c requires b\n }";
    assert_eq!(finish(handshake), [607_036.; 2]);
    // Of what waits for nothing, sends go before computations.
    let order = "num_ranks 2
        rank 0 {\n a: calc 3290\n b: send 1b to 1 tag 6\n }
        rank 1 {\n a: recv 1b from 0 tag 6\n }";
    assert_eq!(finish(order), [4790., 5500.]);
}

/// What a collective operation costs on the preset does not depend on how it is written.
#[test]
fn a_collective_operation_and_its_text_are_the_same() {
    let preset = Preset::find("loggops").unwrap().text;
    let text = format!("work.broadcast.size = '1 KiB'\nschedule.ranks = 8\n{preset}");
    let rows = Bench::with(&[]).rows(&text);
    assert_eq!((get(&rows[0], "time_mean") * 1000.0).round(), 34914.);
}

#[test]
fn what_is_wrong_with_a_file_is_told_at_its_line() {
    let machine = "title = 'x'\nseed = 1\nfabric.single.hosts = 2\n";
    let told = |goal: &str, keys: &str| {
        let bench = Bench::with(&[("trace.goal", goal)]);
        bench.refusal(&format!("{machine}work.goal.file = 'trace.goal'\n{keys}")).to_string()
    };
    let text = |body: &str| format!("num_ranks 2\nrank 0 {{\n{body}\n}}\n");
    for (goal, keys, expected) in [
        (text("a: clac 5"), "", "line 3"),
        (text("a: calc 5\nb requires a"), "", "line 4"),
        (text("a: send 8b to 7"), "", "line 3"),
        (text("a: calc 1\nb: calc 1\na requires b\nb requires a"), "", "line"),
        (text("a: send 8b to 1 nic 3"), "", "line 3: found nic 3, expected 0 to 0"),
        (
            text("a: send 8b to 1 nic 1"),
            "cluster.rails = 2\npolicy = 'basic'",
            "line 3: names a nic, which a policy would choose",
        ),
        ("num_ranks 9\n".to_owned(), "", "found 9 ranks, expected at most 2"),
    ] {
        let found = told(&goal, keys);
        assert!(found.contains(expected), "{found}");
    }
}

/// A rank reads what another has, which computes meanwhile; then it reads with two rails in turn.
#[test]
fn elans_serve_gets_and_nobody_else_does() {
    let preset = Preset::find("qsnet-elan3").unwrap().text;
    let goal = "num_ranks 3\nrank 0 {\ncalc 100000\n}\n\
                rank 1 {\na: get 64000b from 0\nb: get 64000b from 0\n}\n\
                rank 2 {\na: get 64b from 0\nb: get 0b from 1\nb requires a\n}\n";
    let bench = Bench::with(&[("trace.goal", goal)]);
    let text =
        format!("work.goal.file = 'trace.goal'\nsweep.product.cluster.rails = [1, 2]\n{preset}");
    let rows = bench.rows(&text);
    assert!(rows.iter().all(|row| row.status == Status::Completed), "{rows:?}");
    let ranks = String::from_utf8(bench.bytes("results").remove("ranks.csv").unwrap()).unwrap();
    let finish: Vec<f64> = ranks
        .lines()
        .skip(1)
        .map(|line| line.rsplit(',').next().unwrap().parse().unwrap())
        .collect();
    let [one, two] = [&finish[..3], &finish[3..]];
    // 200 MB/s are what one bus carries; a bus for each rail carries twice as much.
    assert!(one[1] > 640.0 && one[1] < 650.0, "{finish:?}");
    assert!(two[1] > 320.0 && two[1] < 330.0, "{finish:?}");
    assert!(one[2] > 5.0 && one[2] < 20.0, "{finish:?}");
    // Messages and gets do not hinder each other.
    let more = format!("profile = 'liu'\n{text}");
    let rows = Bench::with(&[("trace.goal", goal)]).rows(&more);
    assert!(rows.iter().all(|row| row.status == Status::Completed), "{rows:?}");
    for (keys, expected) in [
        ("world = 'ideal'", "line 6: gets memory of another rank, which nobody serves here"),
        ("world = 'model'", "line 6: gets memory of another rank, which nobody serves here"),
        ("node.overhead = {}", "line 6: gets memory, which o and O of LogGOPS do not price"),
    ] {
        let machine = preset.replacen("world = \"wormhole\"", keys, 1);
        let machine = match keys.starts_with("world") {
            true => machine,
            false => format!("world = 'wormhole'\n{machine}"),
        };
        let text = format!("work.goal.file = 'trace.goal'\n{machine}");
        let found = Bench::with(&[("trace.goal", goal)]).refusal(&text).to_string();
        assert!(found.contains(expected), "{found}");
    }
}

/// One rank sends to three others at once; each of them receives it as any message.
#[test]
fn elans_cast_to_ranges_and_nobody_else_does() {
    let preset = Preset::find("qsnet-elan3").unwrap().text;
    let received = |rank: u32, times: usize| {
        let lines: String = (0..times).map(|i| format!("l{i}: recv 64b from 0 tag 1\n")).collect();
        format!("rank {rank} {{\n{lines}}}\n")
    };
    let goal = |times: usize| {
        let others: String = (1..4).map(|rank| received(rank, times)).collect();
        format!("num_ranks 5\nrank 0 {{\nl1: cast 64b to 1 to 3 tag 1\n}}\n{others}")
    };
    let text = format!("work.goal.file = 'trace.goal'\n{preset}");
    let bench = Bench::with(&[("trace.goal", &goal(1))]);
    let rows = bench.rows(&text);
    assert!(rows.iter().all(|row| row.status == Status::Completed), "{rows:?}");
    let surplus = Bench::with(&[("trace.goal", &goal(2))]).refusal(&text).to_string();
    assert!(surplus.contains("line 7"), "{surplus}");
    for world in ["ideal", "model"] {
        let machine = preset.replacen("\"wormhole\"", &format!("\"{world}\""), 1);
        let text = format!("work.goal.file = 'trace.goal'\n{machine}");
        let found = bench.refusal(&text).to_string();
        assert!(found.contains("line 3"), "{found}");
    }
}

#[test]
fn a_receive_that_nothing_matches_is_named() {
    // The first receive takes the first message: which one the other waits for, only a run can
    // tell.
    let goal = "num_ranks 2\nrank 0 {\nrecv 8b from -1 tag -1\nlate: recv 8b from 1 tag 3\n}\n\
                rank 1 {\na: send 8b to 0 tag 3\nb: send 8b to 0 tag 4\nb requires a\n}\n";
    let bench = Bench::with(&[("trace.goal", goal)]);
    let rows = bench.rows(
        "title = 'x'\nseed = 1\nfabric.single.hosts = 2\nwork.goal.file = 'trace.goal'\n\
         sweep.product.world = ['ideal', 'wormhole']",
    );
    for row in rows {
        assert_eq!(row.status, Status::Failed);
        assert_eq!(
            row.note,
            "nothing can happen after 0 iterations: rank 0 waits for tag 3 from rank 1 (late, line 4)"
        );
    }
}

#[test]
fn a_schedule_that_must_lock_up_is_refused() {
    let told = |goal: &str, keys: &str| {
        let bench = Bench::with(&[("trace.goal", goal)]);
        let machine = "title = 'x'\nseed = 1\nfabric.single.hosts = 2\n";
        bench.refusal(&format!("{machine}work.goal.file = 'trace.goal'\n{keys}")).to_string()
    };
    let unmatched = "num_ranks 2\nrank 0 {\nlate: recv 8b from 1 tag 3\n}\nrank 1 {\ncalc 5\n}\n";
    let found = told(unmatched, "");
    let expected = "locks up for ever: rank 0 waits for tag 3 from rank 1 (late, line 3)";
    assert!(found.contains(expected), "{found}");
    let rank = |other| {
        format!("{{\nout: send 100b to {other}\nin: recv 100b from {other}\nin requires out\n}}\n")
    };
    let crossed = format!("num_ranks 2\nrank 0 {}rank 1 {}", rank(1), rank(0));
    let keys = "node.overhead.message = '1 us'\nnode.eager = '99 B'";
    let expected = "rank 0 waits for rank 1 to receive tag 0, which is not eager (out, line 3), \
                    rank 1 waits for rank 0 to receive tag 0, which is not eager (out, line 8)";
    for keys in [keys, "message.eager = '99 B'"] {
        let found = told(&crossed, keys);
        assert!(found.contains(expected), "{found}");
    }
    // Otherwise it is run to its end.
    let bench = Bench::with(&[("trace.goal", crossed.as_str())]);
    let rows = bench.rows(
        "title = 'x'\nseed = 1\nfabric.single.hosts = 2\nwork.goal.file = 'trace.goal'\n\
         sweep.product.message.eager = ['100 B', '1 KiB']",
    );
    assert!(rows.iter().all(|row| row.status == Status::Completed), "{rows:?}");
}

/// Times beyond the clock are never reached; they do not begin again at zero.
#[test]
fn what_outlasts_the_clock_is_not_done() {
    let goal = "num_ranks 2\nrank 0 {\na: calc 1000\nb: calc 18446744073709551\nb requires a\n}\n";
    let bench = Bench::with(&[("trace.goal", goal)]);
    let machine = "title = 'x'\nseed = 1\nfabric.single.hosts = 2\n";
    let mut rows = bench.rows(&format!(
        "{machine}work.goal.file = 'trace.goal'\nsweep.product.world = ['ideal', 'wormhole']"
    ));
    rows.extend(Bench::with(&[]).rows(&format!(
        "{machine}work.stream.size = '1 GiB'\nworld = 'ideal'\nlink.rate = '1 kB/s'\n
         sweep.product.policy = ['round-robin', 'basic']"
    )));
    for row in rows {
        assert_eq!(row.status, Status::Failed, "{row:?}");
        assert!(row.note.starts_with("not done at the limit"), "{}", row.note);
    }
}

/// Every preset can do everything.
#[test]
fn presets_run() {
    for preset in Preset::ALL {
        let work = "[{ ping.size = '1 KiB' }, 'barrier', { all-to-all.size = '8 B' }]";
        let text = format!("sweep.product.work = {work}\n{}", preset.text);
        for row in Bench::with(&[]).rows(&text) {
            assert_eq!(row.status, Status::Completed, "{}: {row:?}", preset.name);
        }
    }
}
