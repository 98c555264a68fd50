//! A buffer at each port where packets come in [tam, 4.2].

/// What reaches the root in one of the three periods of a packet-loss cycle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Period {
    /// Packets in order.
    pub good: f64,
    /// Packets out of order, which are thrown away.
    pub bad: f64,
}

impl Period {
    /// How long it takes, in slots: fair service takes a packet of each of P senders in turn.
    pub fn slots(&self, senders: u32) -> f64 {
        (self.good + self.bad) * f64::from(senders)
    }
}

/// The packet-loss cycle of a sender whose window is larger than its buffer [tam, 4.2.1].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cycle {
    /// t_a, t_b and t_c.
    pub periods: [Period; 3],
}

impl Cycle {
    /// Of P senders with windows of W packets, and B_L packets at each port. `None` if nothing is
    /// lost (W <= B_L), if there are no two senders, who would disturb each other, or if the
    /// window is so large that nothing is left of the third period.
    pub fn new(senders: u32, window: u32, frames: u32) -> Option<Cycle> {
        if window <= frames || senders < 2 {
            return None;
        }
        let (p, w, b) = (f64::from(senders), f64::from(window), f64::from(frames));
        let x = (w - 1.0) / p;
        let run = (b - x) / (1.0 - 1.0 / p);
        (run >= 0.0).then_some(Cycle {
            periods: [
                Period { good: 0.0, bad: b },
                Period { good: 1.0, bad: x + 1.0 },
                Period { good: run, bad: 0.0 },
            ],
        })
    }

    /// T_Eff = I / (I + O): what of the port's rate is good packets [tam, 4.1 to 4.3].
    pub fn efficiency(&self) -> f64 {
        let sum = |of: fn(&Period) -> f64| self.periods.iter().map(of).sum::<f64>();
        let good = sum(|period| period.good);
        good / (good + sum(|period| period.bad))
    }
}

/// T_Eff ~ (B_L + 1 - W/P) / (2 B_L + 2 - (B_L + 2)/P): the same for many senders [tam, 4.2].
/// `None` as for [`Cycle::new`].
pub fn input_approximate(senders: u32, window: u32, frames: u32) -> Option<f64> {
    Cycle::new(senders, window, frames)?;
    let (p, w, b) = (f64::from(senders), f64::from(window), f64::from(frames));
    Some((b + 1.0 - w / p) / (2.0 * b + 2.0 - (b + 2.0) / p))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exact and approximate, in 1/10000, for B_L = 43 and windows of 44, 50, 60, 80, 100.
    const GRID: [(u32, [(u32, u32); 5]); 3] = [
        (7, [(4674, 4623), (4574, 4518), (4408, 4343), (4074, 3993), (3735, 3643)]),
        (15, [(4842, 4831), (4797, 4784), (4720, 4706), (4568, 4549), (4415, 4392)]),
        (23, [(4896, 4891), (4866, 4861), (4817, 4811), (4718, 4709), (4618, 4608)]),
    ];

    #[test]
    fn the_grid_to_four_digits() {
        let digits = |ratio: f64| (ratio * 1e4).round() as u32;
        for (senders, row) in GRID {
            for (window, (exact, approximate)) in [44, 50, 60, 80, 100].into_iter().zip(row) {
                let found = Cycle::new(senders, window, 43).unwrap().efficiency();
                assert_eq!(digits(found), exact, "P {senders}, W {window}");
                let found = input_approximate(senders, window, 43).unwrap();
                assert_eq!(digits(found), approximate, "P {senders}, W {window}");
            }
        }
    }

    #[test]
    fn it_is_always_less_than_a_half() {
        for (senders, window) in (2..60).flat_map(|p| (44..400).map(move |w| (p, w))) {
            if let Some(cycle) = Cycle::new(senders, window, 43) {
                assert!(cycle.efficiency() < 0.5, "P {senders}, W {window}");
            }
        }
        assert_eq!(Cycle::new(15, 43, 43), None, "nothing is lost");
        assert_eq!(Cycle::new(15, 44, 43).unwrap().periods[0].slots(15), 645.0);
        assert_eq!((Cycle::new(1, 99, 43), Cycle::new(2, 99, 43)), (None, None));
    }
}
