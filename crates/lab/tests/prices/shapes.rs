//! Two equal rails, two that differ, and three odd ones: messages of all sizes, by every policy.

use crate::{Pair, priced_policies};
use crosstie_protocol::{Pacing, PolicyKind};

/// The rates of the rails, as cluster.rails has them.
const SHAPES: [(&str, &str); 3] = [
    ("two of 1 Gbit/s", "2"),
    ("1 Gbit/s and 250 Mbit/s", "[{}, { rate = '250 Mbit/s' }]"),
    (
        "1 Gbit/s, 600 Mbit/s and 130 Mbit/s",
        "[{}, { rate = '600 Mbit/s' }, { rate = '130 Mbit/s' }]",
    ),
];

/// Long messages, and what the model may be off for them.
const LONG: u64 = 256 << 10;
const CLOSE: f64 = 0.03;

fn keys(rails: &str, policy: &str, work: &str) -> String {
    format!(
        "title = 'Prices'\nseed = 1\nfabric.single.hosts = 2\nnic.overhead = '52 B'\nprofile = 'liu'\n\
         link.rate = '1 Gbit/s'\ncluster.rails = {rails}\npolicy = '{policy}'\nchannel = 'selective'\n\
         {work}\nmeasure.max-cycles = 1_000_000_000_000\n"
    )
}

fn works(size: u64, least: u64) -> [(&'static str, String); 3] {
    let iterations = ((8 << 20) / size).clamp(least, 40);
    let window = ((64 << 20) / size / iterations).clamp(1, 8);
    let stream = |both| {
        format!(
            "work.stream = {{ size = '{size} B', window = {window}, both-ways = {both}, iterations = {iterations} }}"
        )
    };
    [
        ("ping", format!("work.ping = {{ size = '{size} B', iterations = {iterations} }}")),
        ("stream", stream(false)),
        ("exchange", stream(true)),
    ]
}

#[test]
fn long_messages_take_what_frames_take_on_every_shape() {
    let mut wrong = Vec::new();
    for (shape, rails) in SHAPES {
        for kind in priced_policies() {
            // Weights settle in some messages.
            let settles = matches!(kind, PolicyKind::AdaptiveStriping { .. });
            let (least, most) = if settles { (24, 1 << 20) } else { (12, 16 << 20) };
            for size in [1, 1 << 10, 16 << 10, 256 << 10, 1 << 20, 16 << 20] {
                if size > most {
                    continue;
                }
                let mut line = format!("{shape:<36} {:<22} {size:>9}", kind.name());
                for (name, work) in works(size, least) {
                    let pair = Pair::of(&keys(rails, kind.name(), &work));
                    line += &format!("  {name} {:>+7.2} %", 100.0 * pair.error());
                    // Where NICs send one stripe at a time, moments decide which goes first.
                    let known = kind.pacing() != Pacing::Transfers || name != "exchange";
                    if size >= LONG && known && pair.error().abs() > CLOSE {
                        wrong.push(format!("{line}: {pair:?}"));
                    }
                }
                println!("{line}");
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
