//! The rows of a paper's parts, and how a measure asks for them.

use super::LIVE;
use crosstie_study::paper::{Estimate, Missing};
use crosstie_study::{ChannelRow, Row, Setting, TimelineRow};

/// The rows of the parts that have been run to their end.
///
/// Rows are picked by the swept keys of their part, as tables show them: `("scheme", "basic")`,
/// `("cluster.rails", "4")`, `("traffic.size.exponential.mean", "64 KiB")`. A choice with keys of
/// its own goes by its name alone where that tells it apart within the sweep, and else by
/// `dynamic(striping=0)`. Columns are those of open-loop traffic, or swept keys.
#[derive(Debug, Default)]
pub struct Evidence {
    parts: Vec<(String, Vec<Row>)>,
    channels: Vec<(String, Vec<ChannelRow>)>,
    timelines: Vec<(String, Vec<TimelineRow>)>,
    /// Why there are no parts of real ranks, where that is known.
    barred: Option<String>,
    /// Whether it is what real ranks have found.
    is_live: bool,
}

impl Evidence {
    /// Adds the rows of a part.
    pub fn add(&mut self, part: &str, rows: Vec<Row>) {
        self.parts.push((part.to_owned(), rows));
    }

    /// Says why real ranks cannot run here.
    pub fn bar_live(&mut self, why: impl Into<String>) {
        self.barred = Some(why.into());
    }

    /// What real ranks have found, as if the parts that they run were those that they are editions
    /// of; or why they have found nothing. Times vary, so that what follows from them has an
    /// interval too.
    pub(super) fn live(&self) -> Result<Evidence, String> {
        let parts = self.parts.iter().filter_map(|(name, rows)| {
            let rows = rows.iter().cloned().map(with_intervals).collect();
            Some((name.strip_suffix(LIVE)?.to_owned(), rows))
        });
        let parts: Vec<_> = parts.collect();
        match &self.barred {
            Some(why) if parts.is_empty() => Err(why.clone()),
            _ => {
                let timelines = self.timelines.iter().filter_map(|(name, rows)| {
                    Some((name.strip_suffix(LIVE)?.to_owned(), rows.clone()))
                });
                let timelines = timelines.collect();
                Ok(Evidence { parts, timelines, is_live: true, ..Evidence::default() })
            }
        }
    }

    /// Whether it is what real ranks have found.
    pub(super) fn is_live(&self) -> bool {
        self.is_live
    }

    /// Adds the channels of a part that keeps them.
    pub fn add_channels(&mut self, part: &str, channels: Vec<ChannelRow>) {
        self.channels.push((part.to_owned(), channels));
    }

    /// The channels at the one point of a part with these settings; at least one.
    pub fn channels(
        &self,
        part: &str,
        settings: &[(&str, &str)],
    ) -> Result<Vec<&ChannelRow>, Missing> {
        let point = self.point(part, settings)?;
        let kept = self.channels.iter().filter(|(name, _)| name == part);
        let channels: Vec<_> = kept
            .flat_map(|(_, channels)| channels)
            .filter(|channel| channel.point == point)
            .collect();
        match channels.is_empty() {
            true => Err(Missing(format!("{part} kept no channels at {}", listed(settings)))),
            false => Ok(channels),
        }
    }

    /// Adds who sent what when in a part with short schedules.
    pub fn add_timeline(&mut self, part: &str, timeline: Vec<TimelineRow>) {
        self.timelines.push((part.to_owned(), timeline));
    }

    /// Who sent what when at the one point of a part with these settings; at least one message.
    pub fn timeline(
        &self,
        part: &str,
        settings: &[(&str, &str)],
    ) -> Result<Vec<&TimelineRow>, Missing> {
        let point = self.point(part, settings)?;
        let kept = self.timelines.iter().filter(|(name, _)| name == part);
        let timeline: Vec<_> =
            kept.flat_map(|(_, rows)| rows).filter(|row| row.point == point).collect();
        match timeline.is_empty() {
            true => Err(Missing(format!("{part} kept no time line at {}", listed(settings)))),
            false => Ok(timeline),
        }
    }

    /// The one point of a part with these settings.
    fn point(&self, part: &str, settings: &[(&str, &str)]) -> Result<u32, Missing> {
        let rows = self.pick(part, settings)?;
        match rows[..] {
            [row] => Ok(row.point),
            _ => {
                let (count, place) = (rows.len(), listed(settings));
                Err(Missing(format!("{part} has {count} points with {place}, expected one")))
            }
        }
    }

    /// All rows of a part.
    pub fn rows(&self, part: &str) -> Result<&[Row], Missing> {
        let found = self.parts.iter().find(|(name, _)| name == part);
        found.map(|(_, rows)| rows.as_slice()).ok_or_else(|| {
            let edition = if self.is_live { LIVE } else { "" };
            Missing(format!("{part}{edition} has not been run to its end"))
        })
    }

    /// The rows of a part with these settings; at least one.
    pub fn pick(&self, part: &str, settings: &[(&str, &str)]) -> Result<Vec<&Row>, Missing> {
        let fits = |row: &Row| {
            settings.iter().all(|(key, text)| {
                row.setting(key).is_some_and(|setting| setting.to_string() == *text)
            })
        };
        let rows: Vec<&Row> = self.rows(part)?.iter().filter(|row| fits(row)).collect();
        match rows.is_empty() {
            true => Err(Missing(format!("{part} has no point with {}", listed(settings)))),
            false => Ok(rows),
        }
    }

    /// A column of the one row with these settings, with its interval.
    pub fn estimate(
        &self,
        part: &str,
        settings: &[(&str, &str)],
        column: &str,
    ) -> Result<Estimate, Missing> {
        match self.pick(part, settings)?.as_slice() {
            [row] => estimate(row, column).ok_or_else(|| {
                let (place, status) = (listed(settings), row.status);
                Missing(format!("{part} measured no {column} at {place}: it ended {status}"))
            }),
            rows => {
                let (count, place) = (rows.len(), listed(settings));
                Err(Missing(format!("{part} has {count} points with {place}, expected one")))
            }
        }
    }

    /// A column against another one or a swept key, over the rows with these settings, by rising x.
    /// Points where one of them was not measured, such as latency beyond saturation, are left out.
    pub fn curve(
        &self,
        part: &str,
        settings: &[(&str, &str)],
        x: &str,
        y: &str,
    ) -> Result<Vec<(f64, Estimate)>, Missing> {
        let rows = self.pick(part, settings)?;
        let place = |row: &Row| match row.setting(x) {
            Some(setting) => setting.number(),
            None => row.measured(x),
        };
        let known = rows.iter().filter_map(|row| Some((place(row)?, estimate(row, y)?)));
        let mut curve: Vec<(f64, Estimate)> = known.collect();
        curve.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        match curve.is_empty() {
            true => {
                Err(Missing(format!("{part} measured no {y} against {x} at {}", listed(settings))))
            }
            false => Ok(curve),
        }
    }

    /// A column over the rows with these settings that have it, in their order; at least one row
    /// has.
    pub fn column(
        &self,
        part: &str,
        settings: &[(&str, &str)],
        column: &str,
    ) -> Result<Vec<Estimate>, Missing> {
        let rows = self.pick(part, settings)?;
        let found: Vec<Estimate> = rows.iter().filter_map(|row| estimate(row, column)).collect();
        match found.is_empty() {
            true => Err(Missing(format!("{part} measured no {column} at {}", listed(settings)))),
            false => Ok(found),
        }
    }

    /// The values that a swept key takes in a part, in the order of the sweep.
    pub fn values(&self, part: &str, key: &str) -> Result<Vec<String>, Missing> {
        let mut values: Vec<String> = Vec::new();
        for setting in self.rows(part)?.iter().filter_map(|row| row.setting(key)) {
            let text = Setting::to_string(setting);
            if !values.contains(&text) {
                values.push(text);
            }
        }
        match values.is_empty() {
            true => Err(Missing(format!("{part} does not sweep {key}"))),
            false => Ok(values),
        }
    }
}

/// A row with the latency and the bandwidth of the median iteration, which one that lost its core
/// does not change; and with the intervals that follow from that of the time of an iteration, or
/// where iterations were too few for one, from the shortest of them and the 99th percentile.
fn with_intervals(mut row: Row) -> Row {
    let Some(mean) = row.measured("time_mean") else { return row };
    let median = row.measured("time_p50").unwrap_or(mean);
    let ci = row.measured("time_ci");
    let ends = row.measured("time_min").zip(row.measured("time_p99"));
    for (name, value) in row.measured.clone() {
        let (of, is_time) = match &name[..] {
            "latency" => (value * median / mean, true),
            "bandwidth" => (value * mean / median, false),
            _ => continue,
        };
        row.measured.retain(|(known, _)| *known != name);
        row.measured.push((name.clone(), of));
        if let Some(ci) = ci {
            row.measured.push((format!("{name}_ci"), of * ci / mean));
        } else if let Some((min, late)) = ends {
            let (low, high) = match is_time {
                true => (of * min / median, of * late / median),
                false => (of * median / late, of * median / min),
            };
            row.measured.push((format!("{name}_low"), low));
            row.measured.push((format!("{name}_high"), high));
        }
    }
    row
}

/// A measured column with its interval, where one was kept.
pub(super) fn estimate(row: &Row, column: &str) -> Option<Estimate> {
    let bound = |end: &str| row.measured(&format!("{column}_{end}"));
    let bounds = bound("low").zip(bound("high"));
    // A search that was not resolved knows an interval, and no value in it.
    let value = row.measured(column).or(bounds.map(|(low, high)| f64::midpoint(low, high)))?;
    let stem = column.strip_suffix("_mean").unwrap_or(column);
    if let Some(half_width) = row.measured(&format!("{stem}_ci")) {
        return Some(Estimate::about(value, half_width));
    }
    Some(match bounds {
        Some((low, high)) => Estimate { value, low, high },
        None => Estimate::exact(value),
    })
}

fn listed(settings: &[(&str, &str)]) -> String {
    match settings {
        [] => "any settings".to_owned(),
        settings => {
            let list: Vec<_> =
                settings.iter().map(|(key, value)| format!("{key} = {value}")).collect();
            list.join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_study::{Status, WorkKind};

    fn row(scheme: &str, load: f64, measured: &[(&str, f64)]) -> Row {
        Row {
            profile: None,
            point: 0,
            kind: WorkKind::Traffic,
            settings: vec![
                ("scheme".to_owned(), Setting::Text(scheme.to_owned())),
                ("traffic.load".to_owned(), Setting::Number(load)),
            ],
            status: Status::Saturated,
            note: String::new(),
            measured: measured.iter().map(|(name, x)| ((*name).to_owned(), *x)).collect(),
        }
    }

    fn evidence() -> Evidence {
        let mut evidence = Evidence::default();
        evidence.add(
            "fig7",
            vec![
                row("dynamic(striping=0)", 0.4, &[("accepted", 0.35)]),
                row("basic", 0.4, &[("accepted", 0.3), ("accepted_ci", 0.01)]),
                row(
                    "basic",
                    0.1,
                    &[("accepted", 0.1), ("latency_mean", 90.0), ("latency_ci", 2.0)],
                ),
                row(
                    "dynamic(striping=0)",
                    0.1,
                    &[
                        ("saturation", 0.5),
                        ("saturation_low", 0.49),
                        ("saturation_high", 0.51),
                        ("latency_mean", 93.0),
                    ],
                ),
            ],
        );
        evidence
    }

    #[test]
    fn what_real_ranks_find_has_an_interval() {
        let row = |name: &str, ci: Option<f64>| {
            let mut all =
                vec![(name, 50.0), ("time_mean", 10.0), ("time_min", 8.0), ("time_p99", 20.0)];
            all.extend([("time_p50", 10.0)]);
            all.extend(ci.map(|ci| ("time_ci", ci)));
            with_intervals(row("basic", 0.1, &all))
        };
        let found = |name, ci| estimate(&row(name, ci), name).unwrap();
        assert_eq!(found("latency", Some(1.0)), Estimate::about(50.0, 5.0));
        assert_eq!(found("latency", None), Estimate { value: 50.0, low: 40.0, high: 100.0 });
        assert_eq!(found("bandwidth", None), Estimate { value: 50.0, low: 25.0, high: 62.5 });
    }

    #[test]
    fn of_real_ranks_the_median_counts() {
        let times = [("time_mean", 20.0), ("time_p50", 10.0), ("time_ci", 2.0)];
        let all = [&[("latency", 10.0), ("bandwidth", 10.0)][..], &times].concat();
        let row = with_intervals(row("basic", 0.1, &all));
        assert_eq!(estimate(&row, "latency"), Some(Estimate::about(5.0, 0.5)));
        assert_eq!(estimate(&row, "bandwidth"), Some(Estimate::about(20.0, 2.0)));
    }

    #[test]
    fn curves_are_picked_by_settings_and_sorted() {
        let evidence = evidence();
        let basic = [("scheme", "basic")];
        let accepted = evidence.curve("fig7", &basic, "traffic.load", "accepted").unwrap();
        let (low, high) = (Estimate::exact(0.1), Estimate::about(0.3, 0.01));
        assert_eq!(accepted, [(0.1, low), (0.4, high)]);
        let latency = evidence.curve("fig7", &basic, "accepted", "latency_mean").unwrap();
        let latency: Vec<f64> = latency.iter().map(|(_, latency)| latency.value).collect();
        assert_eq!(latency, [90.0], "a saturated point has no latency");
        assert_eq!(evidence.values("fig7", "scheme").unwrap(), ["dynamic(striping=0)", "basic"]);
    }

    #[test]
    fn estimates_know_their_intervals() {
        let evidence = evidence();
        let at = |scheme, load, column| {
            evidence.estimate("fig7", &[("scheme", scheme), ("traffic.load", load)], column)
        };
        assert_eq!(at("basic", "0.1", "latency_mean"), Ok(Estimate::about(90.0, 2.0)));
        assert_eq!(at("basic", "0.4", "accepted"), Ok(Estimate::about(0.3, 0.01)));
        let dynamic = "dynamic(striping=0)";
        assert_eq!(at(dynamic, "0.1", "latency_mean"), Ok(Estimate::exact(93.0)));
        let found = Estimate { value: 0.5, low: 0.49, high: 0.51 };
        assert_eq!(at(dynamic, "0.1", "saturation"), Ok(found));
    }

    #[test]
    fn channels_belong_to_one_point() {
        let mut evidence = evidence();
        let basic = [("scheme", "basic"), ("traffic.load", "0.1")];
        let missing = evidence.channels("fig7", &basic).unwrap_err().to_string();
        assert_eq!(missing, "fig7 kept no channels at scheme = basic, traffic.load = 0.1");
        let channel = |point, utilisation| ChannelRow {
            point,
            channel: 0,
            rail: 0,
            from: "s0".to_owned(),
            to: "s1".to_owned(),
            kind: "link".to_owned(),
            flits: 1,
            utilisation,
            blocked: 0.0,
            waiting: 0.0,
        };
        evidence.add_channels("fig7", vec![channel(0, 0.5), channel(1, 0.25)]);
        let found = evidence.channels("fig7", &basic).unwrap();
        assert_eq!(found.iter().map(|channel| channel.utilisation).collect::<Vec<_>>(), [0.5]);
        let two = evidence.channels("fig7", &basic[..1]).unwrap_err().to_string();
        assert_eq!(two, "fig7 has 2 points with scheme = basic, expected one");
    }

    #[test]
    fn what_is_missing_is_named() {
        let evidence = evidence();
        let missing = |part, settings: &[(&str, &str)], column| {
            evidence.estimate(part, settings, column).unwrap_err().to_string()
        };
        assert_eq!(missing("fig8", &[], "accepted"), "fig8 has not been run to its end");
        let none = [("scheme", "static")];
        assert_eq!(missing("fig7", &none, "accepted"), "fig7 has no point with scheme = static");
        let two = [("scheme", "basic")];
        assert_eq!(
            missing("fig7", &two, "accepted"),
            "fig7 has 2 points with scheme = basic, expected one"
        );
        let saturated = [("scheme", "basic"), ("traffic.load", "0.4")];
        assert_eq!(
            missing("fig7", &saturated, "latency_mean"),
            "fig7 measured no latency_mean at scheme = basic, traffic.load = 0.4: it ended saturated"
        );
        assert!(evidence.curve("fig7", &two, "load", "accepted").is_err());
        assert!(evidence.values("fig7", "seed").is_err());
    }
}
