use super::*;
use proptest::prelude::*;

fn adaptation(alpha: f64, units: Option<u32>) -> Adaptation {
    Adaptation { alpha, floor: 0.0, units }
}

/// One message of so many bytes over rails of these rates (bytes per microsecond) and latencies;
/// the weights behind it and what it achieved.
fn message(weights: &mut AdaptiveWeights, bytes: f64, rates: &[f64], latency: f64) -> f64 {
    let total: f64 = weights.get().iter().sum();
    let fared: Vec<Fared> = (0..)
        .zip(weights.get().iter().zip(rates))
        .filter(|(_, (weight, _))| **weight > 0.0)
        .map(|(rail, (&weight, rate))| {
            let time = bytes * weight / total / rate + latency;
            Fared { rail: RailId(rail), weight, time }
        })
        .collect();
    let slowest = fared.iter().map(|stripe| stripe.time).fold(0.0, f64::max);
    weights.update(&fared);
    bytes / slowest
}

/// Weights out of 1000, whatever their sum.
fn out_of_1000(weights: &AdaptiveWeights) -> Vec<f64> {
    let total: f64 = weights.get().iter().sum();
    weights.get().iter().map(|weight| weight * 1000.0 / total).collect()
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 0.005, "found {found}, expected {expected}");
}

fn all_near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).for_each(|(&found, &expected)| near(found, expected));
}

/// W_1 before each message, and the bandwidth of each.
fn series(
    start: &[f64],
    alpha: f64,
    units: Option<u32>,
    bytes: f64,
    latency: f64,
    rates: &[&[f64]],
) -> (Vec<f64>, Vec<f64>) {
    let mut weights = AdaptiveWeights::starting_at(adaptation(alpha, units), start);
    let one = |rates: &&[f64]| {
        let first = out_of_1000(&weights)[0];
        (first, message(&mut weights, bytes, rates, latency))
    };
    rates.iter().map(one).unzip()
}

const MEGABYTE: f64 = 1e6;

#[test]
fn one_step_follows_equations_3_and_4() {
    for (alpha, expected) in [(1.0, [800.0, 200.0]), (0.5, [650.0, 350.0])] {
        let mut weights = AdaptiveWeights::new(adaptation(alpha, None), 2);
        let fared = |rail, time| Fared { rail: RailId(rail), weight: 0.5, time };
        weights.update(&[fared(0, 500.0), fared(1, 2000.0)]);
        all_near(&out_of_1000(&weights), &expected);
    }
}

#[test]
fn rails_of_4_to_1_come_to_carry_4_to_1() {
    let rates: &[f64] = &[1000.0, 250.0];
    let (weights, bandwidth) = series(&[1.0, 1.0], 0.5, None, MEGABYTE, 0.0, &[rates; 9]);
    let expected = [500.0, 650.0, 725.0, 762.5, 781.25, 790.625, 795.3125, 797.65625, 798.828125];
    all_near(&weights, &expected);
    let expected = [500.0, 714.29, 909.09, 1052.63, 1142.86, 1194.03, 1221.37, 1235.52, 1242.72];
    all_near(&bandwidth, &expected);
    let (weights, _) = series(&[1.0, 1.0], 1.0, None, MEGABYTE, 0.0, &[rates; 3]);
    all_near(&weights, &[500.0, 800.0, 800.0]);
    let (weights, _) = series(&[1.0, 1.0], 0.9, None, MEGABYTE, 0.0, &[rates; 5]);
    all_near(&weights, &[500.0, 770.0, 797.0, 799.7, 799.97]);
}

#[test]
fn whole_weights_come_to_the_same_and_lose_nothing() {
    let rates: &[f64] = &[1000.0, 250.0];
    let (weights, _) = series(&[1.0, 1.0], 0.5, Some(1000), MEGABYTE, 0.0, &[rates; 12]);
    let expected =
        [500.0, 650.0, 725.0, 763.0, 782.0, 791.0, 796.0, 798.0, 799.0, 800.0, 800.0, 800.0];
    assert_eq!(weights, expected);
    // Truncation would settle at 2456 and 614.
    let mut weights = AdaptiveWeights::new(adaptation(0.5, Some(3072)), 2);
    for _ in 0..30 {
        message(&mut weights, MEGABYTE, rates, 0.0);
        assert_eq!(weights.get().iter().sum::<f64>(), 3072.0);
    }
    assert!((weights.get()[0] - 2457.6).abs() < 1.0, "{weights:?}");
}

#[test]
fn a_bus_for_both_directions_makes_2_to_1_best() {
    let rates: &[f64] = &[500.0, 250.0];
    let (weights, bandwidth) = series(&[1.0, 1.0], 0.5, None, MEGABYTE, 0.0, &[rates; 6]);
    all_near(&weights, &[500.0, 583.33, 625.0, 645.83, 656.25, 661.46]);
    all_near(&bandwidth, &[500.0, 600.0, 666.67, 705.88, 727.27, 738.46]);
    let (weights, bandwidth) = series(&[4.0, 1.0], 0.5, None, MEGABYTE, 0.0, &[rates; 6]);
    all_near(&weights, &[800.0, 733.33, 700.0, 683.33, 675.0, 670.83]);
    all_near(&bandwidth, &[625.0, 681.82, 714.29, 731.71, 740.74, 745.34]);
}

#[test]
fn a_competitor_is_made_room_for_and_forgotten() {
    let (alone, shared): (&[f64], &[f64]) = (&[1000.0, 1000.0], &[1000.0, 500.0]);
    let rates: Vec<&[f64]> =
        (0..19).map(|number| if (3..10).contains(&number) { shared } else { alone }).collect();
    let (weights, bandwidth) = series(&[1.0, 1.0], 0.5, None, MEGABYTE, 0.0, &rates);
    let expected = [
        500.0, 500.0, 500.0, 500.0, 583.33, 625.0, 645.83, 656.25, 661.46, 664.06, 665.36, 582.68,
        541.34, 520.67, 510.34, 505.17, 502.58, 501.29, 500.65,
    ];
    all_near(&weights, &expected);
    let expected = [
        2000.0, 2000.0, 2000.0, 1000.0, 1200.0, 1333.33, 1411.76, 1454.55, 1476.92, 1488.37,
        1502.94, 1716.20, 1847.26, 1920.60, 1959.50, 1979.54, 1989.72, 1994.85, 1997.42,
    ];
    all_near(&bandwidth, &expected);
}

#[test]
fn latency_slows_the_approach_of_short_messages() {
    let rates: &[f64] = &[1000.0, 250.0];
    let (weights, _) = series(&[1.0, 1.0], 1.0, None, 1e5, 10.0, &[rates; 4]);
    all_near(&weights, &[500.0, 777.78, 797.70, 799.75]);
    let (weights, _) = series(&[1.0, 1.0], 1.0, None, 1e4, 10.0, &[rates; 5]);
    all_near(&weights, &[500.0, 666.67, 736.84, 767.93, 783.04]);
}

/// Stripes of 500 and 2000 us that are first looked for at `seen`.
fn looked_for_at(seen: f64) -> Vec<f64> {
    let mut weights = AdaptiveWeights::new(adaptation(1.0, None), 2);
    let fared = |rail, time: f64| Fared { rail: RailId(rail), weight: 0.5, time: time.max(seen) };
    weights.update(&[fared(0, 500.0), fared(1, 2000.0)]);
    out_of_1000(&weights)
}

#[test]
fn who_looks_late_learns_less() {
    all_near(&looked_for_at(400.0), &[800.0, 200.0]);
    all_near(&looked_for_at(1000.0), &[666.67, 333.33]);
    all_near(&looked_for_at(1500.0), &[571.43, 428.57]);
    for seen in [2000.0, 3000.0] {
        all_near(&looked_for_at(seen), &[500.0, 500.0]);
    }
}

/// The limit of what late looks are good for: who sees one stripe and looks away takes the other
/// for slow.
#[test]
fn a_pause_between_two_looks_misleads() {
    for (alpha, expected) in [(1.0, [909.09, 90.91]), (0.5, [704.55, 295.45])] {
        let mut weights = AdaptiveWeights::new(adaptation(alpha, None), 2);
        let fared = |rail, time| Fared { rail: RailId(rail), weight: 0.5, time };
        weights.update(&[fared(0, 500.0), fared(1, 5000.0)]);
        all_near(&out_of_1000(&weights), &expected);
    }
}

#[test]
fn three_rails_share_as_two_do() {
    for (alpha, expected) in [(1.0, [685.71, 342.86, 171.43]), (0.5, [542.86, 371.43, 285.71])] {
        let mut weights = AdaptiveWeights::new(adaptation(alpha, None), 3);
        message(&mut weights, MEGABYTE, &[1000.0, 500.0, 250.0], 0.0);
        let of_1200: Vec<f64> = out_of_1000(&weights).iter().map(|w| w * 1.2).collect();
        all_near(&of_1200, &expected);
    }
}

/// While a message is under way the weights move on: what counts is what it was cut with.
#[test]
fn messages_count_with_the_weights_they_were_cut_with() {
    let mut weights = AdaptiveWeights::starting_at(adaptation(1.0, None), &[800.0, 200.0]);
    let fared = |rail, time| Fared { rail: RailId(rail), weight: 500.0, time };
    weights.update(&[fared(0, 500.0), fared(1, 2000.0)]);
    all_near(&out_of_1000(&weights), &[800.0, 200.0]);
}

#[test]
fn a_rail_at_the_floor_comes_back() {
    let adaptation = Adaptation { alpha: 1.0, floor: 0.01, units: None };
    let mut weights = AdaptiveWeights::new(adaptation, 2);
    for _ in 0..20 {
        message(&mut weights, MEGABYTE, &[1000.0, 0.001], 0.0);
    }
    all_near(&out_of_1000(&weights), &[990.0, 10.0]);
    message(&mut weights, MEGABYTE, &[1000.0, 1000.0], 0.0);
    all_near(&out_of_1000(&weights), &[500.0, 500.0]);
}

#[test]
fn rails_without_a_stripe_keep_their_weight() {
    let mut weights = AdaptiveWeights::new(adaptation(1.0, None), 3);
    let fared = |rail, time| Fared { rail: RailId(rail), weight: 1.0, time };
    weights.update(&[fared(0, 1.0), fared(2, 3.0)]);
    all_near(&out_of_1000(&weights), &[500.0, 333.33, 166.67]);
    let before = weights.clone();
    weights.update(&[]);
    assert_eq!(weights, before);
}

fn lengths(weights: &[f64], bytes: u64) -> Vec<u64> {
    let weights: Vec<(RailId, f64)> = (0..).map(RailId).zip(weights.iter().copied()).collect();
    cut(bytes, &weights).iter().map(Stripe::len).collect()
}

#[test]
fn stripes_end_where_the_weights_say() {
    for (weights, bytes, expected) in [
        (&[800.0, 200.0][..], 1_000_001, &[800_000, 200_001][..]),
        (&[500.0, 500.0], 1_048_577, &[524_288, 524_289]),
        (&[667.0, 333.0], 65_536, &[43_712, 21_824]),
        (&[1024.0, 1024.0, 1024.0], 16_385, &[5461, 5462, 5462]),
        (&[800.0, 200.0], 7, &[5, 2]),
        (&[3.0, 2.0, 1.0], 10, &[5, 3, 2]),
        (&[1536.0, 1536.0], 16_384, &[8192, 8192]),
        (&[1.0, 0.0, 1.0], 4, &[2, 2]),
        (&[1.0, 0.0], 4, &[4]),
        (&[1.0, 1.0], 1, &[1]),
        (&[1.0, 1.0], 0, &[0]),
    ] {
        assert_eq!(lengths(weights, bytes), expected, "{weights:?}, {bytes} bytes");
    }
}

proptest! {
    #[test]
    fn stripes_cover_a_message_and_follow_weights(
        bytes in 0..1u64 << 50, weights in prop::collection::vec(0.0..1000.0, 1..9),
    ) {
        let total: f64 = weights.iter().sum();
        prop_assume!(total > 0.0);
        let given: Vec<(RailId, f64)> = (0..).map(RailId).zip(weights.iter().copied()).collect();
        let mut end = 0;
        for stripe in cut(bytes, &given) {
            prop_assert_eq!(stripe.bytes.start, end);
            prop_assert!(!stripe.is_empty() || bytes == 0);
            let ideal = bytes as f64 * weights[stripe.rail.0 as usize] / total;
            prop_assert!((stripe.len() as f64 - ideal).abs() < 1.0 + bytes as f64 * 1e-12);
            end = stripe.bytes.end;
        }
        prop_assert_eq!(end, bytes);
    }

    #[test]
    fn the_sum_stays_and_the_floor_holds(
        rails in 1..7usize, times in prop::collection::vec(1e-3..1e6f64, 1..60), units: bool,
        alpha in 0.01..1.0f64, floor in 0.0..0.3f64,
    ) {
        let units = units.then_some(1000);
        let adaptation = Adaptation { alpha, floor, units };
        let mut weights = AdaptiveWeights::new(adaptation, rails as u32);
        for times in times.chunks(rails) {
            let fared: Vec<Fared> = (0..)
                .zip(times)
                .map(|(rail, &time)| Fared { rail: RailId(rail), weight: weights.get()[rail as usize], time })
                .collect();
            weights.update(&fared);
            let sum: f64 = weights.get().iter().sum();
            prop_assert!((sum - adaptation.total()).abs() < 1e-9 * adaptation.total());
            let least = floor.min(1.0 / rails as f64) * adaptation.total();
            let slack = if units.is_some() { 1.0 } else { 1e-9 };
            prop_assert!(weights.get().iter().all(|&weight| weight > least - slack), "{:?}", weights);
            prop_assert!(units.is_none() || weights.get().iter().all(|weight| weight.fract() == 0.0));
        }
    }

    /// Completions that are all seen no sooner than at one time make the next message no slower.
    #[test]
    fn one_late_look_makes_nothing_worse(
        rails in prop::collection::vec((1.0..1000.0f64, 0.01..1.0f64), 2..7),
        seen in 0.0..3.0f64, alpha in 0.01..=1.0f64,
    ) {
        let sum: f64 = rails.iter().map(|(_, weight)| weight).sum();
        let start: Vec<f64> = rails.iter().map(|(_, weight)| weight / sum).collect();
        let time = |weights: &[f64]| -> Vec<f64> {
            weights.iter().zip(&rails).map(|(weight, (rate, _))| MEGABYTE * weight / rate).collect()
        };
        let slowest = |times: &[f64]| times.iter().copied().fold(0.0, f64::max);
        let before = time(&start);
        let seen = seen * slowest(&before);
        let mut weights = AdaptiveWeights::starting_at(adaptation(alpha, None), &start);
        let fared: Vec<Fared> = (0..)
            .zip(start.iter().zip(&before))
            .map(|(rail, (&weight, time))| Fared { rail: RailId(rail), weight, time: time.max(seen) })
            .collect();
        weights.update(&fared);
        let after = slowest(&time(weights.get()));
        prop_assert!(after <= slowest(&before) * (1.0 + 1e-9));
    }

    /// Without latency weights come to the rates as (1 - alpha)^n.
    #[test]
    fn weights_converge_as_the_law_says(
        rates in prop::collection::vec(1.0..1000.0f64, 2..6), alpha in 0.05..1.0f64, steps in 1..30,
    ) {
        let mut weights = AdaptiveWeights::new(adaptation(alpha, None), rates.len() as u32);
        let start = weights.get()[0];
        for _ in 0..steps {
            message(&mut weights, MEGABYTE, &rates, 0.0);
        }
        let best = rates[0] / rates.iter().sum::<f64>();
        let expected = best + (1.0 - alpha).powi(steps) * (start - best);
        prop_assert!((weights.get()[0] - expected).abs() < 1e-9);
    }
}
