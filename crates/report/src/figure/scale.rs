//! From a value to a place along an axis, and the ticks beside it.

use crate::number;

/// Values outside this are no quantity a figure can show; the ratio of two still fits an f64.
const LARGEST: f64 = 1e150;
/// Ticks aimed at.
const TICKS: f64 = 5.0;

/// A mark beside an axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    /// Its place: 0 at the low end of the axis, 1 at the high end.
    pub at: f64,
    /// What is written beside it.
    pub label: String,
}

/// One axis: its range, whether it is logarithmic, its ticks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    log: bool,
    pub ticks: Vec<Tick>,
}

impl Scale {
    /// An axis that shows these values; `range` overrides where the axis begins and ends.
    pub fn fitting(values: impl Iterator<Item = f64>, log: bool, range: Option<[f64; 2]>) -> Scale {
        let span = values.filter(|&x| drawable(x, log)).fold(None, |span, x| match span {
            None => Some((x, x)),
            Some((low, high)) => Some((f64::min(low, x), f64::max(high, x))),
        });
        let range = range.filter(|&[a, b]| drawable(a, log) && drawable(b, log) && distinct(a, b));
        let wanted = range.map(|[a, b]| (a.min(b), a.max(b)));
        if log { Scale::logarithmic(span, wanted) } else { Scale::linear(span, wanted) }
    }

    /// An axis whose ticks are the given names at the given values.
    pub fn named(names: &[(f64, String)], log: bool, range: Option<[f64; 2]>) -> Scale {
        let mut scale = Scale::fitting(names.iter().map(|(x, _)| *x), log, range);
        if range.is_none() {
            // Half a step of room at both ends, so that no name hangs over the frame.
            let places = names.iter().filter(|(x, _)| drawable(*x, log)).map(|(x, _)| *x);
            let (low, high) =
                places.fold((f64::MAX, f64::MIN), |(a, b), x| (f64::min(a, x), f64::max(b, x)));
            if low < high {
                let step = 0.5 / names.len() as f64;
                (scale.low, scale.high) = match log {
                    true => (low * (low / high).powf(step), high * (high / low).powf(step)),
                    false => (low - (high - low) * step, high + (high - low) * step),
                };
            }
        }
        scale.ticks = names
            .iter()
            .filter_map(|(x, name)| Some(Tick { at: scale.place(*x)?, label: name.clone() }))
            .filter(|tick| (0.0..=1.0).contains(&tick.at))
            .collect();
        scale
    }

    /// Where a value lies: 0 at the low end, 1 at the high end, outside that when out of range.
    pub fn place(&self, x: f64) -> Option<f64> {
        if !drawable(x, self.log) {
            return None;
        }
        Some(match self.log {
            true => (x / self.low).ln() / (self.high / self.low).ln(),
            false => (x - self.low) / (self.high - self.low),
        })
    }

    fn linear(span: Option<(f64, f64)>, wanted: Option<(f64, f64)>) -> Scale {
        let (mut low, mut high) = wanted.or(span).unwrap_or((0.0, 1.0));
        if !distinct(low, high) {
            let reach = if low.abs() < 1e-150 { 1.0 } else { low.abs() / 2.0 };
            (low, high) = (low - reach, high + reach);
        } else if wanted.is_none() && low > 0.0 && low <= high / 2.0 {
            low = 0.0;
        }
        let step = step_of(high - low);
        if wanted.is_none() {
            (low, high) = ((low / step + 1e-9).floor() * step, (high / step - 1e-9).ceil() * step);
        }
        let mut scale = Scale { low, high, log: false, ticks: Vec::new() };
        let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
        let count = (last - first).clamp(0.0, 40.0) as usize;
        for i in 0..=count {
            let x = (first + i as f64) * step;
            if let Some(at) = scale.place(x) {
                scale.ticks.push(Tick { at, label: number::tick(x, step) });
            }
        }
        scale
    }

    fn logarithmic(span: Option<(f64, f64)>, wanted: Option<(f64, f64)>) -> Scale {
        let (mut low, mut high) = wanted.or(span).unwrap_or((1.0, 10.0));
        if !distinct(low, high) {
            (low, high) = (low / 2.0, high * 2.0);
        }
        if wanted.is_none() {
            (low, high) = (round_125(low, false), round_125(high, true));
        }
        let mut scale = Scale { low, high, log: true, ticks: Vec::new() };
        let decades = (high / low).log10();
        let digits: &[f64] = match decades {
            d if d <= 1.0 => &[1.0, 2.0, 3.0, 4.0, 5.0, 7.0],
            d if d <= 2.5 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let stride = (decades / 8.0).ceil().max(1.0) as i32;
        let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
        for power in (first..=last).filter(|power| power.rem_euclid(stride) == 0) {
            for digit in digits {
                let x = digit * 10f64.powi(power);
                match scale.place(x) {
                    Some(at) if (-1e-9..=1.0 + 1e-9).contains(&at) => {
                        scale.ticks.push(Tick { at, label: number::short(x) });
                    }
                    _ => {}
                }
            }
        }
        scale
    }
}

/// Whether a value has a place on an axis of this kind.
pub(crate) fn drawable(x: f64, log: bool) -> bool {
    x.abs() < LARGEST && (!log || x > 1.0 / LARGEST)
}

fn distinct(a: f64, b: f64) -> bool {
    (a - b).abs() > 1e-9 * a.abs().max(b.abs()).max(1e-140)
}

/// The round step that comes nearest to dividing the span into [`TICKS`] parts.
fn step_of(span: f64) -> f64 {
    let rough = span / TICKS;
    let power = 10f64.powi(rough.log10().floor() as i32);
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|digit| digit * power);
    let distance = |step: &f64| (step / rough).ln().abs();
    steps.into_iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(power)
}

/// The nearest of 1, 2, 5 times a power of ten at or beyond x, upwards or downwards.
fn round_125(x: f64, up: bool) -> f64 {
    let power = 10f64.powi(x.log10().floor() as i32);
    let steps = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power);
    let close = 1e-9;
    let rounded = match up {
        true => steps.into_iter().find(|&step| step >= x * (1.0 - close)),
        false => steps.into_iter().rev().find(|&step| step <= x * (1.0 + close)),
    };
    rounded.unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(values: &[f64], log: bool, range: Option<[f64; 2]>) -> String {
        let scale = Scale::fitting(values.iter().copied(), log, range);
        scale.ticks.into_iter().map(|tick| tick.label).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(labels(&[0.05, 0.55], false, None), "0 0.1 0.2 0.3 0.4 0.5 0.6");
        assert_eq!(labels(&[60.0, 388.0], false, None), "0 100 200 300 400");
        assert_eq!(labels(&[92.0, 97.0], false, None), "92 93 94 95 96 97");
        assert_eq!(labels(&[], false, None), "0.0 0.2 0.4 0.6 0.8 1.0".replacen("0.0", "0", 1));
        assert_eq!(labels(&[3.0], false, Some([0.0, 10.0])), "0 2 4 6 8 10");
    }

    #[test]
    fn log_ticks_are_decades_or_one_two_five() {
        assert_eq!(labels(&[60.0, 3900.0], true, None), "50 100 200 500 1000 2000 5000");
        assert_eq!(labels(&[1.0, 1e6], true, None), "1 10 100 1000 10,000 100 k 1 M");
        assert_eq!(labels(&[0.0, -3.0], true, None), "1 2 3 4 5 7 10");
    }

    #[test]
    fn values_keep_their_order_along_the_axis() {
        let scale = Scale::fitting([10.0, 1000.0].into_iter(), true, None);
        assert_eq!(scale.place(10.0), Some(0.0));
        assert!((scale.place(100.0).unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(scale.place(0.0), None);
        assert_eq!(scale.place(f64::NAN), None);
    }

    #[test]
    fn named_ticks_keep_the_spelling_of_the_file() {
        let names = [(64.0, "64 B".to_owned()), (4096.0, "4 KiB".to_owned())];
        let scale = Scale::named(&names, true, None);
        assert_eq!(scale.ticks[1].label, "4 KiB");
        assert!(scale.ticks[0].at > 0.1 && scale.ticks[1].at < 0.9);
    }

    proptest! {
        #[test]
        fn any_values_give_few_ticks_inside_a_proper_range(
            values in prop::collection::vec(any::<f64>(), 0..6),
            log in any::<bool>(),
            range in prop::option::of([any::<f64>(), any::<f64>()]),
        ) {
            let scale = Scale::fitting(values.iter().copied(), log, range);
            prop_assert!(scale.low < scale.high);
            prop_assert!(scale.ticks.len() <= 41);
            for tick in &scale.ticks {
                prop_assert!((-1e-6..=1.0 + 1e-6).contains(&tick.at), "{tick:?}");
            }
            if range.is_none() {
                for place in values.iter().filter_map(|&x| scale.place(x)) {
                    prop_assert!((-1e-6..=1.0 + 1e-6).contains(&place), "{place}");
                }
            }
        }
    }
}
