//! The model beside the frame network on several rails: prices of messages, streams and exchanges
//! by every policy, where nothing is lost.
//!
//! `cargo test -p crosstie-lab --test prices -- --nocapture` prints how far they are apart.

#[path = "../lab/bench.rs"]
#[allow(dead_code, reason = "the tests of the lab use more of it")]
mod bench;
mod drawn;
mod shapes;

use bench::{Bench, get};
use crosstie_protocol::PolicyKind;
use crosstie_study::Status;

/// All policies that have a price. Two nodes that send to each other need more rails than there are
/// here for a static allocation.
fn priced_policies() -> impl Iterator<Item = PolicyKind> {
    PolicyKind::all().into_iter().filter(|kind| {
        let reserves = matches!(kind, PolicyKind::Dynamic { .. } | PolicyKind::Hybrid { .. });
        !reserves && *kind != PolicyKind::Static {}
    })
}

/// A point in both worlds: microseconds of an iteration by the model, and frame by frame.
#[derive(Debug, Clone, Copy)]
struct Pair {
    model: f64,
    frame: f64,
}

impl Pair {
    /// Runs a point, given by its keys without the world.
    fn of(keys: &str) -> Pair {
        let text = format!("{keys}\n[sweep.product]\nworld = ['model', 'frame']\n");
        let rows = Bench::with(&[]).rows(&text);
        let [model, frame] = &rows[..] else { panic!("{} rows", rows.len()) };
        for row in [model, frame] {
            assert_eq!(row.status, Status::Completed, "{row:?}\n{text}");
            assert!(!row.note.contains("not used"), "{row:?}\n{text}");
        }
        let lost = frame.measured("lost").unwrap_or(0.0);
        assert_eq!(lost, 0.0, "nothing is to be lost: {frame:?}");
        // What learns is compared when it knows, in the median; what takes turns, in the mean.
        let learns = ["pull", "fastest", "adaptive-striping"];
        let learns = learns.iter().any(|name| keys.contains(&format!("policy = '{name}'")));
        let time = |row| get(row, if learns { "time_p50" } else { "time_mean" });
        Pair { model: time(model), frame: time(frame) }
    }

    /// How far the model is off, as a share of the time that frames take.
    fn error(self) -> f64 {
        self.model / self.frame - 1.0
    }
}
