//! A published column that is judged as a whole.
//!
//! Single cells of a table say little: a wrong mechanism may hit some of them by chance. A series
//! asks for what the column as a whole says: how its values are ordered, how far they lie apart,
//! and how near they are on average.

use serde::{Deserialize, Serialize};

use super::estimate::Estimate;
use super::truth::Truth;
use crate::document::Fault;

/// A published column. A measurement of it agrees if every criterion that is given holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Series {
    /// What each value is called.
    pub labels: Vec<String>,
    /// What was published.
    pub values: Vec<f64>,
    /// Least rank correlation (Spearman) with the published values. A constant has none and fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank_min: Option<f64>,
    /// Orders that must hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<Order>,
    /// Largest mean distance from the published values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_abs_max: Option<f64>,
    /// Largest mean distance as a share of the published values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_rel_max: Option<f64>,
    /// Least ratio of the largest value to the smallest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread_min: Option<f64>,
    /// Largest ratio of the largest value to the smallest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread_max: Option<f64>,
}

/// Values that stand in an order: "8x2 > 6x4 > 8x3".
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(into = "String")]
pub struct Order {
    text: String,
    /// Place, relation, place.
    pairs: Vec<(usize, Relation, usize)>,
}

impl From<Order> for String {
    fn from(order: Order) -> String {
        order.text
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Relation {
    Above,
    AtLeast,
    Within(f64),
}

/// A series as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Draft {
    labels: Vec<String>,
    values: Vec<f64>,
    rank_min: Option<f64>,
    #[serde(default)]
    order: Vec<String>,
    mean_abs_max: Option<f64>,
    mean_rel_max: Option<f64>,
    spread_min: Option<f64>,
    spread_max: Option<f64>,
}

impl Draft {
    /// The series, if its keys fit together; `claim` names it in error messages.
    pub fn checked(self, claim: &str) -> Result<Series, Fault> {
        let fault = |label: &str| Fault::new(format!("claim `{claim}`"), label);
        let unfit = |label: &str| Err(fault(label));
        let Draft { labels, values, .. } = &self;
        if labels.len() != values.len() || labels.len() < 2 {
            let label = format!(
                "found {} `labels` and {} `values`, expected as many of both, at least 2",
                labels.len(),
                values.len()
            );
            return unfit(&label);
        }
        if labels.iter().any(|label| label.is_empty() || label.contains(char::is_whitespace)) {
            return unfit("expected labels without blanks");
        }
        if (1..labels.len()).any(|i| labels[..i].contains(&labels[i])) {
            return unfit("expected labels that differ");
        }
        let criteria =
            [self.rank_min, self.mean_abs_max, self.mean_rel_max, self.spread_min, self.spread_max];
        if values.iter().chain(criteria.iter().flatten()).any(|number| !number.is_finite()) {
            return unfit("expected finite numbers");
        }
        if criteria.iter().all(Option::is_none) && self.order.is_empty() {
            return unfit(
                "expected a criterion: `rank-min`, `order`, `mean-abs-max`, `mean-rel-max`, \
                 `spread-min` or `spread-max`",
            );
        }
        let order = self.order.iter().map(|text| Order::parse(text, labels));
        let order = order.collect::<Result<Vec<Order>, String>>().map_err(|label| fault(&label))?;
        Ok(Series {
            labels: self.labels,
            values: self.values,
            rank_min: self.rank_min,
            order,
            mean_abs_max: self.mean_abs_max,
            mean_rel_max: self.mean_rel_max,
            spread_min: self.spread_min,
            spread_max: self.spread_max,
        })
    }
}

impl Order {
    /// Labels and relations in turn: "a > b >= c", "a ~0.04 b".
    fn parse(text: &str, labels: &[String]) -> Result<Order, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.len() < 3 || words.len().is_multiple_of(2) {
            return Err(format!("found the order \"{text}\", expected one such as \"a > b >= c\""));
        }
        let place = |label: &str| {
            let found = labels.iter().position(|known| known == label);
            found.ok_or_else(|| format!("found `{label}` in an order, which is no label"))
        };
        let relation = |word: &str| match word {
            ">" => Some(Relation::Above),
            ">=" => Some(Relation::AtLeast),
            _ => {
                let apart: f64 = word.strip_prefix('~')?.parse().ok()?;
                (apart.is_finite() && apart >= 0.0).then_some(Relation::Within(apart))
            }
        };
        let pair = |i: usize| {
            let relation = relation(words[i]).ok_or_else(|| {
                format!("found `{}` in an order, expected `>`, `>=` or `~0.1`", words[i])
            })?;
            Ok((place(words[i - 1])?, relation, place(words[i + 1])?))
        };
        let pairs = (1..words.len()).step_by(2).map(pair).collect::<Result<_, String>>()?;
        Ok(Order { text: text.to_owned(), pairs })
    }

    fn holds(&self, measured: &[Estimate]) -> Truth {
        Truth::all(self.pairs.iter().map(|&(one, relation, other)| {
            let (one, other) = (measured[one], measured[other]);
            match relation {
                Relation::Above => one.above_independent(other),
                Relation::AtLeast => !other.above_independent(one),
                Relation::Within(apart) => one.minus(other).within(-apart, apart),
            }
        }))
    }
}

impl Series {
    /// Compares a measurement, in the order of the labels: whether every criterion holds, and how
    /// it stands with each in words.
    pub fn judge(&self, measured: &[Estimate]) -> (Truth, String) {
        if measured.len() != self.values.len() {
            let text = format!("{} of {} values were measured", measured.len(), self.values.len());
            return (Truth::Open, text);
        }
        let mut found: Vec<(Truth, String)> = Vec::new();
        if let Some(least) = self.rank_min {
            let rank = self.rank(measured);
            let text = format!("rank correlation {:.2} (at least {least})", rank.value);
            found.push((rank.within(least - ROUNDING, f64::INFINITY), text));
        }
        for order in &self.order {
            let holds = order.holds(measured);
            let word = match holds {
                Truth::Holds => "holds",
                Truth::Fails => "does not hold",
                Truth::Open => "is not resolved",
            };
            found.push((holds, format!("{} {word}", order.text)));
        }
        if let Some(most) = self.mean_abs_max {
            let distance = self.distance(measured, |_| 1.0);
            let text = format!("mean distance {:.3} (at most {most})", distance.value);
            found.push((distance.within(0.0, most + ROUNDING), text));
        }
        if let Some(most) = self.mean_rel_max {
            let distance = self.distance(measured, |value| 1.0 / value.abs());
            let percent = |share: f64| 100.0 * share;
            let text = format!(
                "mean distance {:.1} % (at most {:.1} %)",
                percent(distance.value),
                percent(most)
            );
            found.push((distance.within(0.0, most + ROUNDING), text));
        }
        if self.spread_min.is_some() || self.spread_max.is_some() {
            let spread = spread(measured);
            let (least, most) = (self.spread_min.unwrap_or(0.0), self.spread_max);
            let bounds = match most {
                None => format!("at least {least}"),
                Some(most) if self.spread_min.is_none() => format!("at most {most}"),
                Some(most) => format!("{least} to {most}"),
            };
            let text = format!("largest over smallest {:.3} ({bounds})", spread.value);
            found.push((spread.within(least, most.unwrap_or(f64::INFINITY)), text));
        }
        let holds = Truth::all(found.iter().map(|(truth, _)| *truth));
        let words: Vec<String> = found.into_iter().map(|(_, words)| words).collect();
        (holds, format!("{}{}", self.listed(measured), words.join("; ")))
    }

    /// A few values with their labels; of a long column nothing.
    fn listed(&self, measured: &[Estimate]) -> String {
        if self.labels.len() > FEW {
            return String::new();
        }
        let pairs = self.labels.iter().zip(measured);
        let words: Vec<String> =
            pairs.map(|(label, found)| format!("{label} {:.3}", found.value)).collect();
        format!("{}: ", words.join(", "))
    }

    /// The rank correlation, and where it may lie if any one of the values moves within its
    /// interval.
    fn rank(&self, measured: &[Estimate]) -> Estimate {
        let mut values: Vec<f64> = measured.iter().map(|found| found.value).collect();
        let value = rank_correlation(&self.values, &values);
        let (mut low, mut high) = (value, value);
        for (i, found) in measured.iter().enumerate() {
            for end in [found.low, found.high] {
                values[i] = end;
                let moved = rank_correlation(&self.values, &values);
                (low, high) = (low.min(moved), high.max(moved));
            }
            values[i] = found.value;
        }
        // A constant has no order: it is no correlation at all.
        match value.is_nan() {
            true => Estimate::exact(0.0),
            false => Estimate { value, low, high },
        }
    }

    /// The mean distance from what was published, with weights; intervals are independent.
    fn distance(&self, measured: &[Estimate], weight: impl Fn(f64) -> f64) -> Estimate {
        let count = self.values.len() as f64;
        let (mut sum, mut squares) = (0.0, 0.0);
        for (published, found) in self.values.iter().zip(measured) {
            let weight = weight(*published);
            sum += weight * (found.value - published).abs();
            squares += (weight * (found.high - found.low) / 2.0).powi(2);
        }
        let Estimate { value, low, high } = Estimate::about(sum / count, squares.sqrt() / count);
        Estimate { value, low: low.max(0.0), high }
    }
}

/// What the last digits of sums may be off.
const ROUNDING: f64 = 1e-9;
/// At most this many values are listed in words.
const FEW: usize = 6;

/// The ratio of the largest value to the smallest.
fn spread(measured: &[Estimate]) -> Estimate {
    let by = |a: &&Estimate, b: &&Estimate| a.value.total_cmp(&b.value);
    let ends = measured.iter().max_by(by).zip(measured.iter().min_by(by));
    ends.map_or(Estimate::exact(f64::NAN), |(most, least)| most.over_independent(*least))
}

/// How alike two lists of numbers are ordered (Spearman): 1 if they are ordered alike, -1 if one is
/// the other turned round; not a number if one of them is a constant.
pub fn rank_correlation(one: &[f64], other: &[f64]) -> f64 {
    let (a, b) = (ranks(one), ranks(other));
    let middle = (a.len() as f64 + 1.0) / 2.0;
    let sum = |of: &dyn Fn(f64, f64) -> f64| {
        a.iter().zip(&b).map(|(x, y)| of(x - middle, y - middle)).sum::<f64>()
    };
    sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt()
}

/// The place of each number among all, from 1; equal ones share theirs.
fn ranks(numbers: &[f64]) -> Vec<f64> {
    let rank = |x: &f64| {
        let less = numbers.iter().filter(|&y| y < x).count() as f64;
        let equal = numbers.iter().filter(|&y| y == x).count() as f64;
        less + (equal + 1.0) / 2.0
    };
    numbers.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Truth::{Fails, Holds, Open};

    fn series(criteria: &str) -> Result<Series, Fault> {
        let text = format!(
            "labels = ['8x2', '8x3', '6x4', '8x4']\nvalues = [11.23, 8.23, 9.64, 7.67]\n{criteria}"
        );
        let draft: Draft = toml::from_str(&text).unwrap();
        draft.checked("x")
    }

    fn judged(criteria: &str, values: [f64; 4], half_width: f64) -> Truth {
        let measured = values.map(|value| Estimate::about(value, half_width));
        series(criteria).unwrap_or_else(|fault| panic!("{fault:?}")).judge(&measured).0
    }

    const PUBLISHED: [f64; 4] = [11.23, 8.23, 9.64, 7.67];
    const TURNED: [f64; 4] = [7.67, 9.64, 8.23, 11.23];
    const CONSTANT: [f64; 4] = [9.0; 4];
    const NEAR: [f64; 4] = [11.43, 9.26, 10.98, 8.32];

    #[test]
    fn the_order_of_a_column_is_judged_by_ranks_and_by_relations() {
        let ranks = "rank-min = 1.0";
        assert_eq!(judged(ranks, PUBLISHED, 0.0), Holds);
        assert_eq!(judged(ranks, NEAR, 0.0), Holds);
        assert_eq!(judged(ranks, TURNED, 0.0), Fails);
        assert_eq!(judged(ranks, CONSTANT, 0.0), Fails);
        assert_eq!(judged(ranks, PUBLISHED, 1.0), Open, "8x3 may be below 8x4");
        let order = "order = ['8x2 > 6x4 > 8x3 >= 8x4']";
        assert_eq!(judged(order, PUBLISHED, 0.0), Holds);
        assert_eq!(judged(order, TURNED, 0.0), Fails);
        assert_eq!(judged(order, [11.0, 8.0, 9.0, 8.0], 0.0), Holds, "equal is at least");
        assert_eq!(judged(order, [11.0, 8.0, 8.0, 7.0], 0.0), Fails, "equal is not above");
        let near = "order = ['8x3 ~0.6 8x4', '8x2 > 8x3']";
        assert_eq!(judged(near, PUBLISHED, 0.0), Holds);
        assert_eq!(judged(near, NEAR, 0.0), Fails);
    }

    #[test]
    fn the_level_of_a_column_is_judged_by_its_mean_distance() {
        let relative = "mean-rel-max = 0.04";
        assert_eq!(judged(relative, PUBLISHED.map(|value| 1.03 * value), 0.0), Holds);
        assert_eq!(judged(relative, NEAR, 0.0), Fails);
        assert_eq!(judged(relative, PUBLISHED.map(|value| 1.03 * value), 2.0), Open);
        let absolute = "mean-abs-max = 0.5";
        assert_eq!(judged(absolute, PUBLISHED.map(|value| value - 0.5), 0.0), Holds);
        assert_eq!(judged(absolute, PUBLISHED.map(|value| value - 0.6), 0.0), Fails);
        // A column that is exact is held to the last digit.
        assert_eq!(judged("mean-abs-max = 0.0", PUBLISHED, 0.0), Holds);
        assert_eq!(judged("mean-abs-max = 0.0", [5.0, 4.0, 4.0, 3.0], 0.0), Fails);
    }

    #[test]
    fn how_far_values_lie_apart_is_a_criterion_of_its_own() {
        assert_eq!(judged("spread-max = 1.15", CONSTANT, 0.0), Holds);
        assert_eq!(judged("spread-max = 1.15", PUBLISHED, 0.0), Fails);
        assert_eq!(judged("spread-min = 1.03", PUBLISHED, 0.0), Holds);
        assert_eq!(judged("spread-min = 1.03", CONSTANT, 0.0), Fails);
    }

    #[test]
    fn a_measurement_is_told_in_words() {
        let series = series("rank-min = 1.0\nmean-rel-max = 0.04").unwrap();
        let (holds, words) = series.judge(&NEAR.map(Estimate::exact));
        assert_eq!(holds, Fails);
        assert_eq!(
            words,
            "8x2 11.430, 8x3 9.260, 6x4 10.980, 8x4 8.320: rank correlation 1.00 (at least 1); \
             mean distance 9.2 % (at most 4.0 %)"
        );
        assert_eq!(series.judge(&[]).0, Open);
    }

    #[test]
    fn mistakes_are_told() {
        for (criteria, words) in [
            ("", "expected a criterion"),
            ("order = ['8x2 >']", "such as"),
            ("order = ['8x2 < 8x3']", "expected `>`, `>=` or `~0.1`"),
            ("order = ['8x2 > 9x9']", "`9x9` in an order, which is no label"),
            ("rank-min = nan", "finite"),
        ] {
            let fault = series(criteria).unwrap_err();
            assert!(format!("{fault:?}").contains(words), "{criteria}: {fault:?}");
        }
    }

    #[test]
    fn orders_are_alike_or_not() {
        let up = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(rank_correlation(&up, &[0.1, 0.2, 0.3, 0.9]), 1.0);
        assert_eq!(rank_correlation(&up, &[4.0, 3.0, 2.0, 1.0]), -1.0);
        // Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: 4.5 / sqrt(4.5 * 5).
        let tied = rank_correlation(&up, &[1.0, 2.0, 2.0, 3.0]);
        assert!((tied - (0.9f64).sqrt()).abs() < 1e-12, "{tied}");
        assert!(rank_correlation(&up, &[1.0; 4]).is_nan());
    }
}
