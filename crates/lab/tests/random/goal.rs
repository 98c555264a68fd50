//! Random GOAL files with long messages and much that happens at once, on every simulated world.
//!
//! Each message has a tag of its own, so that it does not depend on time which receive takes it.
//! Then a schedule that `check` accepts comes to its end in every world, and one that it refuses in
//! none.

use crate::bench::Bench;
use crate::draw::Draw;
use crosstie_study::Status;
use crosstie_units::Seed;
use std::fmt::Write as _;

const RANKS: i64 = 4;

/// Operations of each rank, as text.
#[derive(Default)]
struct Ranks([(String, i64); RANKS as usize]);

impl Ranks {
    /// Adds an operation, and what it waits for among those above it.
    fn add(&mut self, draw: &mut Draw, rank: i64, operation: &str) {
        let (text, count) = &mut self.0[rank as usize];
        writeln!(text, "l{count}: {operation}").unwrap();
        for _ in 0..draw.whole(0..=2).min(*count) {
            let word = draw.one(&["requires", "requires", "irequires"]);
            writeln!(text, "l{count} {word} l{}", draw.whole(0..=*count - 1)).unwrap();
        }
        *count += 1;
    }
}

fn drawn(draw: &mut Draw) -> String {
    let mut ranks = Ranks::default();
    // The other halves of messages that come last: what waits for them may be what they wait for.
    let mut late = Vec::new();
    for tag in 0..draw.whole(1..=24) {
        let (rank, cpu) = (draw.whole(0..=RANKS - 1), draw.whole(0..=1));
        if draw.chance(0.3) {
            let time = draw.one(&[0, 1, 1000, 1500, 4000]);
            ranks.add(draw, rank, &format!("calc {time} cpu {cpu}"));
            continue;
        }
        let other = (rank + draw.whole(1..=RANKS - 1)) % RANKS;
        let bytes = draw.one(&[0, 1, 8, 100, 101, 5000]);
        let send = (rank, format!("send {bytes}b to {other} tag {tag} cpu {cpu}"));
        let receive = (other, format!("recv {bytes}b from {rank} tag {tag} cpu {cpu}"));
        let [first, second] = if draw.chance(0.5) { [send, receive] } else { [receive, send] };
        ranks.add(draw, first.0, &first.1);
        match draw.chance(0.3) {
            true => late.push(second),
            false => ranks.add(draw, second.0, &second.1),
        }
    }
    late.iter().for_each(|(rank, operation)| ranks.add(draw, *rank, operation));
    let blocks = ranks.0.iter().enumerate();
    let blocks = blocks.map(|(rank, (text, _))| format!("rank {rank} {{\n{text}}}\n"));
    format!("num_ranks {RANKS}\n{}", blocks.collect::<String>())
}

#[test]
fn what_check_accepts_ends_in_every_world() {
    let (mut ended, mut refused) = (0, 0);
    for case in 0..60 {
        let mut draw = Draw(Seed(case).stream("goal", 0));
        let goal = drawn(&mut draw);
        let bench = Bench::with(&[("random.goal", goal.as_str())]);
        let (eager, overhead) = (draw.one(&["1 B", "100 B"]), draw.one(&["1500 ns", "1 ns"]));
        let text = format!(
            "title = 'GOAL'\nseed = 1\nfabric.single.hosts = 4\nbus = 'full'\n\
             work.goal.file = 'random.goal'\n\
             node = {{ overhead.message = '{overhead}', eager = '{eager}' }}\n\
             sweep.product.world = ['ideal', 'wormhole', 'frame']\n"
        );
        match bench.check(&text) {
            Err(error) => {
                let told = error.to_string();
                assert!(told.contains("locks up for ever: rank "), "case {case}: {told}\n{goal}");
                refused += 1;
            }
            Ok(_) => {
                for row in bench.rows(&text) {
                    assert_eq!(row.status, Status::Completed, "case {case}: {row:?}\n{goal}");
                }
                ended += 1;
            }
        }
    }
    assert!(ended > 20 && refused > 2, "{ended} ended, {refused} were refused");
}
