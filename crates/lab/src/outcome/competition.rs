//! What competitors have got across.

use crosstie_sim::premises::Carried;
use crosstie_study::{Competitor, Point};
use crosstie_units::Time;

/// A sentence for each competitor, at the end of a run.
pub(super) fn notes(point: &Point, carried: &[Carried], end: Time) -> Vec<String> {
    let competitors = point.spec.competitors.iter().zip(carried);
    let note = |(number, (competitor, carried)): (usize, (&Competitor, &Carried))| {
        let Carried { bytes, lost } = *carried;
        let end = end.min(competitor.end);
        if end <= competitor.begin {
            return format!("competitor {number} had not begun");
        }
        // Bytes per microsecond are millions of bytes per second.
        let rate = bytes as f64 / ((end - competitor.begin).ps() as f64 / 1e6);
        let losses = match lost {
            0 => String::new(),
            lost => format!(" and lost {lost} packets"),
        };
        format!("competitor {number} carried {rate:.1} MB/s, {bytes} B in all{losses}")
    };
    competitors.enumerate().map(note).collect()
}
