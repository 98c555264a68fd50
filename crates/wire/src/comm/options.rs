//! What can be chosen, and how the environment chooses.

use std::time::Duration;

use crosstie_protocol::{ChannelKind, Injection, PolicyKind, Profile};

use super::{Algorithms, CommError};
use crate::clock::time;
use crate::rail::Providers;

/// How ranks reach each other. All ranks of a job should have the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The rails to be used, devices or addresses with commas between; `None`: all that there are.
    /// `CROSSTIE_RAILS`.
    pub rails: Option<String>,
    /// What finds rails and opens them.
    pub providers: Providers,
    /// By which rule messages take rails. `CROSSTIE_POLICY`.
    pub policy: PolicyKind,
    /// How what is lost is sent again. `CROSSTIE_CHANNEL`: `selective`, `go-back-n`, or
    /// `go-back-n:W` with a window of W packets.
    pub channel: ChannelKind,
    /// Whether ranks of one machine share memory. `CROSSTIE_MEMORY`: `on` or `off`.
    pub memory: bool,
    /// After how long without any way to a rank that rank is given up. `CROSSTIE_PATIENCE`, in
    /// seconds.
    pub patience: Duration,
    /// The longest message that is sent before anybody has asked for it. `CROSSTIE_EAGER`, in
    /// bytes.
    pub eager: u64,
    /// The bytes of such messages that a rank keeps for each other one; `None`: as the profile of
    /// real ranks has it.
    pub credit: Option<u64>,
    /// True if every message waits for its receive, however short it is.
    pub synchronous: bool,
    /// How the packets of this rank follow each other on rails. Peers in shared memory are not
    /// concerned.
    pub injection: Injection,
    /// Algorithms of collective operations, where they can do what is asked for; the others are
    /// chosen by the model. `CROSSTIE_COLLECTIVE`: `all-reduce=ring,broadcast=binomial`.
    pub algorithms: Algorithms,
}

impl Default for Options {
    fn default() -> Options {
        let live = Profile::live();
        let give_up = live.patience.map_or(u64::MAX, |patience| patience.give_up.ps() / 1000);
        Options {
            rails: None,
            providers: Providers::default(),
            policy: PolicyKind::recommended(),
            channel: live.kind.channel(),
            memory: true,
            patience: Duration::from_nanos(give_up),
            eager: live.message.eager,
            credit: None,
            synchronous: live.message.synchronous,
            injection: Injection::default(),
            algorithms: Algorithms::default(),
        }
    }
}

impl Options {
    /// The defaults, but for what the environment says.
    pub fn from_environment() -> Result<Options, CommError> {
        Options::read(|name| std::env::var(name).ok())
    }

    /// How ranks with these options exchange messages.
    pub(crate) fn profile(&self) -> Profile {
        let profile = Profile::live()
            .with_eager(self.eager)
            .with_synchronous(self.synchronous)
            .with_channel(self.channel)
            .giving_up(time(self.patience));
        self.credit.map_or(profile, |credit| profile.with_credit(credit))
    }

    pub(crate) fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Options, CommError> {
        let mut options = Options { rails: variable("CROSSTIE_RAILS"), ..Options::default() };
        let wrong = |variable, found: &str, expected: String| {
            Err(CommError::Variable { variable, found: found.to_owned(), expected })
        };
        if let Some(name) = variable("CROSSTIE_POLICY") {
            match PolicyKind::live().find(|kind| kind.name() == name) {
                Some(kind) => options.policy = kind,
                None => {
                    let names: Vec<&str> = PolicyKind::live().map(|kind| kind.name()).collect();
                    let reserves = PolicyKind::all().iter().any(|kind| kind.name() == name);
                    let why = "; real rails have no NICs to reserve";
                    let why = if reserves { why } else { "" };
                    let expected = format!("one of {}{why}", names.join(", "));
                    return wrong("CROSSTIE_POLICY", &name, expected);
                }
            }
        }
        if let Some(name) = variable("CROSSTIE_CHANNEL") {
            let (kind, window) = match name.split_once(':') {
                Some((kind, window)) => (kind, window.parse::<u32>().ok()),
                None => (&name[..], None),
            };
            let plain = !name.contains(':');
            let fits = ChannelKind::all().into_iter().find(|channel| channel.name() == kind);
            options.channel = match (fits, window) {
                (
                    Some(kind @ (ChannelKind::Selective { .. } | ChannelKind::GoBackN { .. })),
                    None,
                ) if plain => kind,
                (
                    Some(ChannelKind::GoBackN { timeout, acknowledge, .. }),
                    Some(window @ 1..=65_536),
                ) => ChannelKind::GoBackN { window, timeout, acknowledge },
                _ => {
                    let expected =
                        "`selective`, `go-back-n`, or `go-back-n:` and a window of 1 to 65536";
                    return wrong("CROSSTIE_CHANNEL", &name, expected.to_owned());
                }
            };
        }
        if let Some(memory) = variable("CROSSTIE_MEMORY") {
            options.memory = match &memory[..] {
                "on" => true,
                "off" => false,
                _ => return wrong("CROSSTIE_MEMORY", &memory, "`on` or `off`".to_owned()),
            };
        }
        if let Some(patience) = variable("CROSSTIE_PATIENCE") {
            match patience.parse::<f64>() {
                Ok(seconds) if (0.1..=1e6).contains(&seconds) => {
                    options.patience = Duration::from_secs_f64(seconds);
                }
                _ => {
                    let expected = "seconds, from 0.1 to 1000000".to_owned();
                    return wrong("CROSSTIE_PATIENCE", &patience, expected);
                }
            }
        }
        if let Some(eager) = variable("CROSSTIE_EAGER") {
            match eager.parse::<u64>() {
                Ok(bytes) if bytes <= 1 << 16 => options.eager = bytes,
                _ => return wrong("CROSSTIE_EAGER", &eager, "bytes, from 0 to 65536".to_owned()),
            }
        }
        if let Some(collective) = variable("CROSSTIE_COLLECTIVE") {
            match collective.parse() {
                Ok(algorithms) => options.algorithms = algorithms,
                Err(expected) => return wrong("CROSSTIE_COLLECTIVE", &collective, expected),
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Options, CommError> {
        Options::read(|name| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.to_owned()))
    }

    #[test]
    fn policies_that_reserve_are_refused() {
        for policy in ["dynamic", "hybrid"] {
            let error = read(&[("CROSSTIE_POLICY", policy)]).unwrap_err().to_string();
            assert!(error.contains(policy) && error.contains("reserve"), "{error}");
            assert!(error.contains("one of round-robin"), "{error}");
        }
        let error = read(&[("CROSSTIE_POLICY", "dynamite")]).unwrap_err().to_string();
        assert!(!error.contains("reserve"), "{error}");
    }

    #[test]
    fn defaults_are_the_profile_of_real_ranks() {
        assert_eq!(Options::default().profile(), Profile::live());
        let own = Options { credit: Some(1 << 20), synchronous: true, ..Options::default() };
        let names: Vec<&str> = own.profile().overrides().iter().map(|it| it.0).collect();
        assert_eq!(names, ["credit", "synchronous"]);
    }

    #[test]
    fn the_environment_chooses() {
        assert_eq!(read(&[]).unwrap(), Options::default());
        let options = read(&[
            ("CROSSTIE_RAILS", "eth0,eth1"),
            ("CROSSTIE_POLICY", "even-striping"),
            ("CROSSTIE_CHANNEL", "go-back-n:11"),
            ("CROSSTIE_MEMORY", "off"),
            ("CROSSTIE_PATIENCE", "0.5"),
            ("CROSSTIE_EAGER", "0"),
            ("CROSSTIE_COLLECTIVE", "all-reduce=ring, barrier=tree"),
        ])
        .unwrap();
        assert_eq!(options.rails.as_deref(), Some("eth0,eth1"));
        assert_eq!(options.policy.name(), "even-striping");
        assert!(matches!(options.channel, ChannelKind::GoBackN { window: 11, .. }));
        assert_eq!((options.memory, options.eager), (false, 0));
        assert_eq!(options.patience, Duration::from_millis(500));
        let algorithms = ["all-reduce", "barrier", "scan"].map(|name| options.algorithms.of(name));
        assert_eq!(algorithms, [Some("ring"), Some("tree"), None]);
    }

    #[test]
    fn what_makes_no_sense_is_told() {
        for (name, value, expected) in [
            ("CROSSTIE_POLICY", "best", "pull"),
            ("CROSSTIE_CHANNEL", "raw", "selective"),
            ("CROSSTIE_CHANNEL", "go-back-n:0", "1 to 65536"),
            ("CROSSTIE_CHANNEL", "selective:4", "selective"),
            ("CROSSTIE_MEMORY", "yes", "`on` or `off`"),
            ("CROSSTIE_PATIENCE", "soon", "seconds"),
            ("CROSSTIE_EAGER", "-1", "0 to 65536"),
            ("CROSSTIE_COLLECTIVE", "ring", "all-reduce=ring,broadcast=binomial"),
            ("CROSSTIE_COLLECTIVE", "all-reduction=ring", "one of barrier, broadcast"),
            ("CROSSTIE_COLLECTIVE", "broadcast=ring", "broadcast by one of binomial, chain"),
            ("CROSSTIE_COLLECTIVE", "scan=linear,scan=linear", "one algorithm of scan"),
        ] {
            let error = read(&[(name, value)]).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains(value), "{error}");
            assert!(error.contains(expected), "{error}");
        }
    }
}
