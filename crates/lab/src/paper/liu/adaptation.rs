//! Measures of what section 4.5 says of weights that follow, by its equations, and of numbers that
//! follow from others.

use crosstie_protocol::RailId;
use crosstie_protocol::weights::{Adaptation, AdaptiveWeights, Fared};
use crosstie_study::paper::{Measured, Truth};

/// Measures a claim; nothing if it needs more than arithmetic.
pub(super) fn measure(id: &str) -> Option<Measured> {
    Some(match id {
        "claim.delay" => delay(),
        "app.vis.share" => Measured::exact(100.0 * 16.0 / 43.0),
        "app.is.share" => Measured::exact(100.0 * 22.0 / 38.0),
        "fig20.sample" | "fig20.competitor" => Measured::beyond(
            "time runs about 150 times as fast here: a point for every message, and a competitor for 64 ms of 220",
        ),
        _ => return None,
    })
}

/// True times of two stripes of a message cut in half, in us.
const TIMES: [f64; 2] = [500.0, 2000.0];

/// How much longer the next message takes if nobody looks before some time: never, for one such
/// time.
fn delay() -> Measured {
    let slowest = |times: [f64; 2]| times[0].max(times[1]);
    let before = slowest(TIMES);
    let mut most: f64 = 0.0;
    for step in 0..=60 {
        let looked = 50.0 * f64::from(step);
        let halves = [0.5, 0.5];
        let after = next(halves, TIMES.map(|time| time.max(looked)));
        let times = [0, 1].map(|rail| TIMES[rail] * after[rail] / halves[rail]);
        most = most.max(slowest(times) / before);
    }
    // Two equal rails, of which the second is looked at late alone.
    let apart = next([0.5, 0.5], [500.0, 5000.0]);
    let stalled = slowest(apart.map(|weight| 500.0 * weight / 0.5)) / 500.0;
    let text = format!(
        "looked at together, however late: the next takes {most:.2} of the time at most. Looked at one by one, a stall \
         between makes it {stalled:.2} times as long, once"
    );
    Measured::shape(Truth::of(most <= 1.0), text)
}

/// The weights behind a message whose stripes took so long, by equation 3.
fn next(weights: [f64; 2], times: [f64; 2]) -> [f64; 2] {
    let adaptation = Adaptation { alpha: 1.0, floor: 0.0, units: None };
    let mut following = AdaptiveWeights::starting_at(adaptation, &weights);
    let fared = [0, 1].map(|rail| Fared {
        rail: RailId(rail as u32),
        weight: weights[rail],
        time: times[rail],
    });
    following.update(&fared);
    [following.get()[0], following.get()[1]]
}
