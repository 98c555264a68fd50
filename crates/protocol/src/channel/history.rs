//! What a sender has been through, as the Markov chain of its analysis sees it [tam, 4].

/// An event in the history of a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occurrence {
    /// P: an acknowledgement that lets the window slide.
    Pack,
    /// N: a Nack that makes it send again.
    Nack,
    /// TO: the timer of the oldest packet outstanding expires. The timers of a burst expire nearly
    /// together, so this counts it once.
    Timeout,
}

const COUNT: usize = 3;

/// How often each event followed each: what the probabilities of the three-event chain come from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// By what came before, with a row for nothing, and by what came.
    steps: [[u64; COUNT]; COUNT + 1],
    /// The row of what comes next: 0 at the beginning.
    row: usize,
}

impl History {
    /// Takes note of an event.
    #[inline]
    pub fn note(&mut self, event: Occurrence) {
        self.steps[self.row][event as usize] += 1;
        self.row = event as usize + 1;
    }

    /// How often an event has come.
    pub fn count(&self, event: Occurrence) -> u64 {
        self.steps.iter().map(|row| row[event as usize]).sum()
    }

    /// How often an event has come right after another.
    pub fn steps(&self, from: Occurrence, to: Occurrence) -> u64 {
        self.steps[from as usize + 1][to as usize]
    }

    /// c: how likely progress is interrupted by a loss [tam, Eq. 4.11]. None without any progress.
    pub fn interruption(&self) -> Option<f64> {
        let stopped = self.steps(Occurrence::Pack, Occurrence::Nack);
        share(stopped, self.count(Occurrence::Pack))
    }

    /// 1 - a: how likely a fast retransmission fails [tam, Eq. 4.12]. None where progress was never
    /// interrupted.
    pub fn severity(&self) -> Option<f64> {
        let failed = self.steps(Occurrence::Nack, Occurrence::Timeout);
        share(failed, self.steps(Occurrence::Pack, Occurrence::Nack))
    }

    /// f: how likely a retransmission after a time-out succeeds [tam, Eq. 4.13]. None without
    /// time-outs.
    pub fn recovery(&self) -> Option<f64> {
        let succeeded = self.steps(Occurrence::Timeout, Occurrence::Pack);
        share(succeeded, self.count(Occurrence::Timeout))
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::Occurrence::{Nack, Pack, Timeout};
    use super::*;

    /// P^6 N TO^2 P^2 N TO P^32 N P^6 N P^106 N TO P^13 N P^6 [tam, 4].
    const SAMPLE: [(Occurrence, u32); 16] = [
        (Pack, 6),
        (Nack, 1),
        (Timeout, 2),
        (Pack, 2),
        (Nack, 1),
        (Timeout, 1),
        (Pack, 32),
        (Nack, 1),
        (Pack, 6),
        (Nack, 1),
        (Pack, 106),
        (Nack, 1),
        (Timeout, 1),
        (Pack, 13),
        (Nack, 1),
        (Pack, 6),
    ];

    #[test]
    fn item_10_the_sample_trace_has_the_probabilities_of_the_thesis() {
        let mut history = History::default();
        for (event, times) in SAMPLE {
            (0..times).for_each(|_| history.note(event));
        }
        assert_eq!([Pack, Nack, Timeout].map(|event| history.count(event)), [171, 6, 4]);
        assert_eq!(history.interruption(), Some(6.0 / 171.0));
        assert_eq!(history.severity(), Some(0.5));
        assert_eq!(history.recovery(), Some(0.75));
    }

    #[test]
    fn without_events_there_are_no_probabilities() {
        let mut history = History::default();
        assert_eq!(
            (history.interruption(), history.severity(), history.recovery()),
            (None, None, None)
        );
        history.note(Pack);
        assert_eq!((history.interruption(), history.severity()), (Some(0.0), None));
    }
}
