//! When something happens: once, again and again, or at random.

use crate::{Misfit, Stream, Time};

/// When something happens that files give a time for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recurrence {
    /// When, first.
    pub at: Time,
    /// How long it lasts; `None`: for good.
    pub lasts: Option<Time>,
    /// From one time to the next.
    pub every: Option<Time>,
    /// How often.
    pub times: u32,
    /// Whether the times between are random, and `every` is their mean.
    pub random: bool,
}

impl Recurrence {
    /// What does not fit, at the keys `times`, `random` and `for`.
    pub fn check(&self) -> Result<(), Misfit> {
        let Some(every) = self.every else {
            let again = [("times", self.times > 1), ("random", self.random)];
            return match again.iter().find(|(_, said)| *said) {
                None => Ok(()),
                Some((key, _)) => {
                    let label = "expected `every` beside it, the time from one to the next";
                    Err(Misfit::new(*key, "again and again, but how often?", label)
                        .help("add `every = \"10 ms\"`"))
                }
            };
        };
        match self.lasts.filter(|lasts| *lasts >= every) {
            None => Ok(()),
            Some(lasts) => {
                let label = format!("found {lasts}, expected less than every = {every}");
                Err(Misfit::new("for", "it happens again before it is over", label))
            }
        }
    }

    /// When it happens, in order.
    pub fn moments(&self, mut random: Stream) -> Vec<Time> {
        let Some(every) = self.every else { return vec![self.at] };
        let lasts = self.lasts.unwrap_or(Time::ZERO);
        let mut at = self.at;
        let mut moments = vec![at];
        for _ in 1..self.times {
            let between = match self.random {
                false => every,
                // As often as without chance, and not before it is over.
                true => {
                    let rest = (every.ps() - lasts.ps()) as f64;
                    lasts + Time::from_ps(random.exponential(rest) as u64)
                }
            };
            at = at + between;
            moments.push(at);
        }
        moments
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    const ONCE: Recurrence =
        Recurrence { at: ms(1), lasts: None, every: None, times: 1, random: false };

    const fn ms(time: u64) -> Time {
        Time::from_ns(time * 1_000_000)
    }

    #[test]
    fn it_happens_once_or_regularly_or_at_random() {
        let moments = |what: Recurrence, number| what.moments(Seed(1).stream("event", number));
        assert_eq!(moments(ONCE, 0), [ms(1)]);
        let thrice = Recurrence { every: Some(ms(2)), times: 3, ..ONCE };
        assert_eq!(moments(thrice, 0), [ms(1), ms(3), ms(5)]);
        let random = Recurrence { lasts: Some(ms(1)), times: 2000, random: true, ..thrice };
        let drawn = moments(random, 0);
        assert_eq!(drawn, moments(random, 0));
        assert_ne!(drawn, moments(random, 1));
        let least = drawn.windows(2).map(|pair| pair[1] - pair[0]).min();
        assert!(least >= Some(ms(1)));
        let mean = (drawn[1999] - drawn[0]).ps() as f64 / 1999.0;
        assert!((mean / 2e9 - 1.0).abs() < 0.05, "{mean}");
    }

    #[test]
    fn what_does_not_fit_is_told_at_its_key() {
        let key = |what: Recurrence| what.check().unwrap_err().key;
        assert_eq!(key(Recurrence { times: 2, ..ONCE }), "times");
        assert_eq!(key(Recurrence { random: true, ..ONCE }), "random");
        assert_eq!(key(Recurrence { lasts: Some(ms(2)), every: Some(ms(2)), ..ONCE }), "for");
        assert_eq!(Recurrence { lasts: Some(ms(1)), every: Some(ms(2)), ..ONCE }.check(), Ok(()));
    }
}
