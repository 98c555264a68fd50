//! Random rails, rates, sizes, windows and policies.

use crate::{Pair, priced_policies};
use crosstie_protocol::PolicyKind;
use crosstie_units::{Seed, Stream};

const CASES: u64 = 200;

/// In this share of all cases the model is to be off by no more than [`CLOSE`].
const MOST: f64 = 0.95;
const CLOSE: f64 = 0.05;

/// In this share of those with a channel.
const MOST_ACKNOWLEDGED: f64 = 0.7;

/// Bytes that a case moves at most, so that all of them take a minute.
const BYTES: u64 = 64 << 20;

fn one<T: Copy>(draw: &mut Stream, of: &[T]) -> T {
    of[draw.below(of.len() as u64) as usize]
}

/// A size between two powers of two.
fn size(draw: &mut Stream, most: u32) -> u64 {
    let power = draw.below(u64::from(most));
    (1 << power) + draw.below(1 << power)
}

struct Case {
    text: String,
    name: String,
}

fn case(number: u64, channel: &str) -> Case {
    let draw = &mut Seed(30).stream("prices", number);
    let rails = 1 + draw.below(4);
    let alike = draw.chance(0.4);
    let mut rate =
        || one(draw, &["100 Mbit/s", "250 Mbit/s", "400 Mbit/s", "1 Gbit/s", "2.5 Gbit/s"]);
    let first = rate();
    let rates: Vec<&str> = (0..rails).map(|_| if alike { first } else { rate() }).collect();
    let policies: Vec<&str> = priced_policies().map(|kind| kind.name()).collect();
    let mut policy = one(draw, &policies);
    if draw.chance(0.3) {
        policy = PolicyKind::recommended().name();
    }
    let asks = draw.chance(0.6);
    let size = size(draw, 24);
    let window = one(draw, &[1_u64, 2, 4, 8, 16]).min((BYTES / 4 / size).max(1));
    let iterations = (BYTES / size / window / rails).clamp(16, 60);
    let work = match draw.below(3) {
        0 => format!("work.ping = {{ size = '{size} B', iterations = {iterations} }}"),
        way => format!(
            "work.stream = {{ size = '{size} B', window = {window}, both-ways = {}, iterations = {iterations} }}",
            way == 2
        ),
    };
    let message = match asks {
        true => format!(
            "profile = 'liu'\nmessage.eager = '{} B'",
            one(draw, &[0, 4096, 16_384, 65_536])
        ),
        false => String::new(),
    };
    let wire = one(draw, &["15 ns", "1 us", "10 us"]);
    let list: Vec<String> = rates.iter().map(|rate| format!("{{ rate = '{rate}' }}")).collect();
    let text = format!(
        "title = 'Prices'\nseed = 1\nfabric.single.hosts = 2\nnic.overhead = '52 B'\n\
         link = {{ rate = '{first}', wire = '{wire}' }}\ncluster.rails = [{}]\npolicy = '{policy}'\n\
         channel = '{channel}'\n{message}\n{work}\nmeasure.max-cycles = 1_000_000_000_000\n",
        list.join(", ")
    );
    let name =
        format!("{number}: {policy} {channel} {message} [{}] {wire} {work}", rates.join(", "));
    Case { text, name }
}

/// Most cases are to be close. Acknowledgements of a channel take turns with short messages in ways
/// that a price knows only roughly.
#[test]
fn random_prices_are_close_to_what_frames_take() {
    compare("raw", CASES, MOST);
    compare("selective", CASES / 2, MOST_ACKNOWLEDGED);
}

fn compare(channel: &str, cases: u64, most: f64) {
    let mut found: Vec<(f64, String)> = (0..cases)
        .map(|number| {
            let case = case(number, channel);
            let pair = Pair::of(&case.text);
            let shown =
                format!("{} -> model {:.3}, frame {:.3}", case.name, pair.model, pair.frame);
            (pair.error(), shown)
        })
        .collect();
    found.sort_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
    let at = |share: f64| 100.0 * found[(share * (cases - 1) as f64) as usize].0.abs();
    println!("model against frame, channel {channel}, {cases} cases: off by at most [%]");
    for share in [0.5, 0.75, 0.9, 0.95, 1.0] {
        println!("{:>4.0} %  {:.2}", 100.0 * share, at(share));
    }
    for (error, shown) in found.iter().rev().take_while(|(error, _)| error.abs() > CLOSE) {
        println!("{:>+7.2} %  {shown}", 100.0 * error);
    }
    let close = found.iter().filter(|(error, _)| error.abs() <= CLOSE).count();
    println!("{close} of {cases} within {CLOSE}");
    assert!(close as f64 >= most * cases as f64, "{channel}: {close} of {cases} within {CLOSE}");
}
