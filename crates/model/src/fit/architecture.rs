//! Where a router keeps packets, from how much of bursts comes through [tam, A.1].

use crate::{Architecture, Buffer};

/// The slope of the success ratio of bursts against 1/k, with k counted over all sources.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slope {
    /// How many sent: S.
    pub sources: u32,
    /// How many received: R.
    pub sinks: u32,
    /// The slope: B~, in packets.
    pub frames: f64,
}

/// What slopes tell.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// The buffer of the router.
    Resolved {
        /// Where it is and how much it keeps, to the nearest packet.
        buffer: Buffer,
        /// How far slopes are from what such a buffer gives, as a share of it.
        error: f64,
        /// How far they are from what the next best gives.
        next: f64,
    },
    /// Slopes do not decide.
    NotResolved {
        /// Which would fit, the best first: several if S and R varied too little, none if none
        /// does.
        candidates: Vec<Architecture>,
    },
}

/// So far may slopes be from what a buffer gives, as a share of it.
const TOLERANCE: f64 = 0.1;

/// So many times worse must the next best be.
const MARGIN: f64 = 3.0;

/// Errors below this are no better than others: a packet of a buffer of two hundred.
const FINEST: f64 = 0.005;

/// Which buffer gives such slopes: B_L S at the input whatever R, B_L R at the output whatever S,
/// and B_L anyhow if it is shared. It is resolved if the mean error of the best is small, and the
/// next best has several times as much.
pub fn classify(slopes: &[Slope]) -> Finding {
    let mut fits: Vec<(f64, Architecture, f64)> = Architecture::ALL
        .into_iter()
        .filter_map(|architecture| fit(slopes, architecture).map(|(b, e)| (e, architecture, b)))
        .collect();
    fits.sort_by(|a, b| a.0.total_cmp(&b.0));
    let fitting: Vec<_> = fits.iter().filter(|fit| fit.0 <= TOLERANCE).collect();
    let next = fits.get(1).map_or(f64::INFINITY, |fit| fit.0);
    match fitting.first() {
        Some(&&(error, architecture, frames)) if next > MARGIN * error.max(FINEST) => {
            let buffer = Buffer { architecture, frames: frames.round().max(1.0) as u32 };
            Finding::Resolved { buffer, error, next }
        }
        _ => Finding::NotResolved { candidates: fitting.iter().map(|fit| fit.1).collect() },
    }
}

/// The buffer of that kind that fits best, and the root mean square of the relative errors. Slopes
/// count by their share, as they have about the same relative precision.
fn fit(slopes: &[Slope], architecture: Architecture) -> Option<(f64, f64)> {
    let sound = |s: &Slope| s.sources > 0 && s.sinks > 0 && s.frames.is_finite() && s.frames > 0.0;
    if slopes.is_empty() || !slopes.iter().all(sound) {
        return None;
    }
    let ports = |slope: &Slope| match architecture {
        Architecture::Input => f64::from(slope.sources),
        Architecture::Output => f64::from(slope.sinks),
        Architecture::Shared => 1.0,
    };
    let count = slopes.len() as f64;
    let frames = slopes.iter().map(|slope| slope.frames / ports(slope)).sum::<f64>() / count;
    let off = |slope: &Slope| (slope.frames / ports(slope) / frames - 1.0).powi(2);
    Some((frames, (slopes.iter().map(off).sum::<f64>() / count).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slopes(measured: &[(u32, u32, f64)]) -> Vec<Slope> {
        let slope = |&(sources, sinks, frames)| Slope { sources, sinks, frames };
        measured.iter().map(slope).collect()
    }

    fn resolved(measured: &[(u32, u32, f64)]) -> (Architecture, u32) {
        match classify(&slopes(measured)) {
            Finding::Resolved { buffer, .. } => (buffer.architecture, buffer.frames),
            other => panic!("{other:?}"),
        }
    }

    /// What a slotted simulation of three routers gave: 43 at each input, 95 at each output, 200
    /// shared.
    #[test]
    fn three_routers_are_told_apart() {
        let input = [(2, 1, 85.0), (4, 1, 171.0), (8, 1, 343.0), (15, 1, 644.0)];
        assert_eq!(resolved(&input), (Architecture::Input, 43));
        let output = [(4, 1, 94.0), (8, 1, 94.0), (8, 2, 188.0), (12, 2, 188.0), (12, 3, 282.0)];
        let (architecture, frames) = resolved(&output);
        assert!(architecture == Architecture::Output && frames.abs_diff(95) <= 2);
        let shared = [(2, 1, 198.0), (8, 1, 199.0), (8, 2, 198.0), (12, 3, 197.0)];
        let (architecture, frames) = resolved(&shared);
        assert!(architecture == Architecture::Shared && frames.abs_diff(200) <= 2);
    }

    #[test]
    fn what_does_not_decide_is_told() {
        // One sink: at the output or shared are the same.
        let one_sink = slopes(&[(2, 1, 94.0), (4, 1, 94.0), (8, 1, 95.0)]);
        let both = vec![Architecture::Output, Architecture::Shared];
        assert_eq!(classify(&one_sink), Finding::NotResolved { candidates: both });
        let noise = slopes(&[(2, 1, 94.0), (4, 2, 30.0), (8, 1, 500.0)]);
        for undecided in [&noise[..], &[]] {
            assert_eq!(classify(undecided), Finding::NotResolved { candidates: vec![] });
        }
        let everything = slopes(&[(3, 1, 43.0)]);
        let Finding::NotResolved { candidates } = classify(&everything) else {
            panic!("one slope")
        };
        assert_eq!(candidates.len(), 3);
        assert_eq!(classify(&slopes(&[(0, 1, 3.0)])), Finding::NotResolved { candidates: vec![] });
    }
}
