//! A buffer at each port where packets go out: a Markov chain of three events [tam, 4.3].

/// What happens to a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    /// P: packets arrive in order.
    Pack,
    /// N: one was lost.
    Nack,
    /// TO: nothing was heard for too long.
    Timeout,
}

/// The history of a sender, as the number of its events in a row [tam, figure 4.5].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    events: Vec<(Event, u64)>,
}

/// A word of a trace that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "found `{found}`, expected P, N or TO, with a number behind it if there are several in a row"
)]
pub struct TraceError {
    /// What was found.
    pub found: String,
}

/// Reads `P6 N TO2 P2`.
impl std::str::FromStr for Trace {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Trace, TraceError> {
        let word = |found: &str| {
            let split = found.find(|c: char| c.is_ascii_digit()).unwrap_or(found.len());
            let event = match &found[..split] {
                "P" => Some(Event::Pack),
                "N" => Some(Event::Nack),
                "TO" => Some(Event::Timeout),
                _ => None,
            };
            let count = if split < found.len() { found[split..].parse().ok() } else { Some(1) };
            event.zip(count).ok_or_else(|| TraceError { found: found.to_owned() })
        };
        Ok(Trace { events: text.split_whitespace().map(word).collect::<Result<_, _>>()? })
    }
}

/// How often what is lost is lost how [tam, 4.3.1].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loss {
    /// c: a packet is followed by a loss.
    pub interrupted: f64,
    /// 1 - a: fast retransmission fails.
    pub severe: f64,
    /// f: retransmission after a time-out succeeds.
    pub recovered: f64,
}

impl Loss {
    /// From the trace of a sender [tam, 4.11 to 4.13]. `None` if it tells nothing of one of them:
    /// without a Pack, a loss after Packs or a time-out.
    pub fn of(trace: &Trace) -> Option<Loss> {
        let count = |event| {
            trace.events.iter().filter(|&&(e, _)| e == event).map(|&(_, n)| n).sum::<u64>() as f64
        };
        let next = |first, second| {
            let turns = |pair: &&[(Event, u64)]| (pair[0].0, pair[1].0) == (first, second);
            trace.events.windows(2).filter(turns).count() as f64
        };
        let (lost, timeouts) = (next(Event::Pack, Event::Nack), count(Event::Timeout));
        (lost > 0.0 && timeouts > 0.0).then(|| Loss {
            interrupted: lost / count(Event::Pack),
            severe: next(Event::Nack, Event::Timeout) / lost,
            recovered: next(Event::Timeout, Event::Pack) / timeouts,
        })
    }

    /// The mean over senders; `None` without any.
    pub fn mean(senders: &[Loss]) -> Option<Loss> {
        let count = senders.len() as f64;
        let mean = |of: fn(&Loss) -> f64| senders.iter().map(of).sum::<f64>() / count;
        (!senders.is_empty()).then(|| Loss {
            interrupted: mean(|loss| loss.interrupted),
            severe: mean(|loss| loss.severe),
            recovered: mean(|loss| loss.recovered),
        })
    }

    /// The mean of S, in slots: how long a run of packets with the loss at its end takes [tam,
    /// 4.8].
    pub fn sequence(&self, window: u32, frames: u32) -> f64 {
        let c = self.interrupted;
        (1.5 + (1.0 - c) / (c * f64::from(window))) * f64::from(frames)
    }

    /// T_Eff: what of the port's rate one sender has, with a time-out in slots [tam, 4.9].
    pub fn sender_efficiency(&self, window: u32, frames: u32, timeout: f64) -> f64 {
        let Loss { interrupted: c, severe, recovered } = *self;
        let sequence = (1.5 * c + (1.0 - c) / f64::from(window)) * f64::from(frames);
        1.0 / (sequence + severe * c * timeout / recovered)
    }

    /// P T_Eff: what of the port's rate all senders have [tam, 4.10].
    pub fn efficiency(&self, senders: u32, window: u32, frames: u32, timeout: f64) -> f64 {
        f64::from(senders) * self.sender_efficiency(window, frames, timeout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P, W, time-out, c, 1 - a, f and what 4.10 predicts [tam, table 4.1].
    #[rustfmt::skip]
    const TABLE: [(u32, u32, f64, f64, f64, f64, f64); 18] = [
        (7, 18, 400.0, 0.0218, 0.0547, 0.5329, 0.7639),
        (7, 24, 400.0, 0.0216, 0.1383, 0.5300, 0.7598),
        (7, 36, 400.0, 0.0227, 0.2344, 0.5420, 0.7189),
        (11, 18, 400.0, 0.0357, 0.2097, 0.6109, 0.7294),
        (11, 24, 400.0, 0.0338, 0.2863, 0.5763, 0.7162),
        (11, 36, 400.0, 0.0305, 0.3956, 0.5207, 0.6798),
        (15, 18, 400.0, 0.0495, 0.2907, 0.5346, 0.6573),
        (15, 24, 400.0, 0.0441, 0.3674, 0.4977, 0.6501),
        (15, 36, 400.0, 0.0341, 0.4675, 0.4053, 0.6477),
        (7, 18, 1600.0, 0.0112, 0.0578, 0.6810, 0.8397),
        (7, 24, 1600.0, 0.0118, 0.0834, 0.6091, 0.8550),
        (7, 36, 1600.0, 0.0126, 0.1106, 0.5628, 0.8363),
        (11, 18, 1600.0, 0.0202, 0.0931, 0.6390, 0.8621),
        (11, 24, 1600.0, 0.0163, 0.1522, 0.6444, 0.8884),
        (11, 36, 1600.0, 0.0164, 0.1798, 0.5789, 0.8390),
        (15, 18, 1600.0, 0.0204, 0.1952, 0.6922, 0.8670),
        (15, 24, 1600.0, 0.0174, 0.2230, 0.5918, 0.8905),
        (15, 36, 1600.0, 0.0175, 0.2635, 0.5641, 0.8238),
    ];

    #[test]
    fn all_predictions_of_the_table() {
        for (senders, window, timeout, interrupted, severe, recovered, predicted) in TABLE {
            let loss = Loss { interrupted, severe, recovered };
            let found = loss.efficiency(senders, window, 95, timeout);
            assert!((found - predicted).abs() < 0.002, "P {senders}, W {window}: {found}");
            // 4.4 with 4.5 to 4.8 is the same.
            let (runs, timeouts) = (1.0 / severe, 1.0 / recovered);
            let cycle = runs * loss.sequence(window, 95) + timeouts * timeout;
            let longer = f64::from(senders) * runs / interrupted / cycle;
            assert!((found - longer).abs() < 1e-12);
        }
    }

    #[test]
    fn the_trace_of_figure_4_5() {
        let trace: Trace = "P6 N TO2 P2 N TO P32 N P6 N P106 N TO1 P13 N P6".parse().unwrap();
        let loss = Loss::of(&trace).unwrap();
        let expected = Loss { interrupted: 6.0 / 171.0, severe: 0.5, recovered: 0.75 };
        assert_eq!(loss, expected);
        assert_eq!(Loss::mean(&[loss, loss]), Some(expected));
        assert_eq!((Loss::mean(&[]), Loss::of(&"P9".parse().unwrap())), (None, None));
        assert_eq!(
            "P6 T".parse::<Trace>().unwrap_err().to_string(),
            "found `T`, expected P, N or TO, with a number behind it if there are several in a row"
        );
        assert!(
            "Px".parse::<Trace>().is_err() && "N9999999999999999999999".parse::<Trace>().is_err()
        );
    }
}
