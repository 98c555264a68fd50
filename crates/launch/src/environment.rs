//! What the launcher of a rank has left in its environment.

use std::ffi::OsString;
use std::time::Duration;

use crosstie_units::Time;

use super::{MOST_RANKS, Secret, StartError};

/// How long a rank waits for an answer unless it is told.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// By what launchers tell how many processes there are, if they were not asked to speak PMI or
/// cannot; and who does.
const MUTE: [(&str, &str); 2] = [
    ("SLURM_STEP_NUM_TASKS", "`srun --mpi=pmi2`"),
    ("OMPI_COMM_WORLD_SIZE", "`mpiexec.hydra` or `crosstie launch`"),
];

/// Everything in the environment that concerns the start.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Environment {
    pub place: Place,
    /// How long to wait for an answer.
    pub patience: Duration,
    /// The secret of the job, where it does not go through the launcher.
    pub secret: Option<Secret>,
}

/// Where the launcher is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// Behind a file that is open already.
    Open { number: i32, rank: usize, size: usize },
    /// Behind a port of TCP; it will tell who we are.
    Port { address: String, id: u32 },
    /// Nowhere: this is a job of one rank.
    Nowhere,
}

impl Environment {
    /// Reads the variables.
    pub fn read(variable: impl Fn(&str) -> Option<OsString>) -> Result<Environment, StartError> {
        let text = |name: &'static str| -> Result<Option<String>, StartError> {
            let value = variable(name).filter(|value| !value.is_empty());
            let text = |value: OsString| {
                value.into_string().map_err(|value| {
                    StartError::variable(name, &value.to_string_lossy(), "UTF-8 text")
                })
            };
            value.map(text).transpose()
        };
        let patience = match text("CROSSTIE_TIMEOUT")? {
            Some(text) => patience(&text)?,
            None => PATIENCE,
        };
        let secret = match text("CROSSTIE_SECRET")? {
            // What is wrong with a secret is told without it.
            Some(text) => Some(Secret::from_hex(&text).ok_or_else(|| {
                let found = format!("{} characters", text.chars().count());
                StartError::variable("CROSSTIE_SECRET", &found, "32 hexadecimal digits")
            })?),
            None => None,
        };
        Ok(Environment { place: place(text)?, patience, secret })
    }
}

fn place(
    text: impl Fn(&'static str) -> Result<Option<String>, StartError>,
) -> Result<Place, StartError> {
    if let Some(found) = text("PMI_FD")? {
        let number = number("PMI_FD", &found, i32::MAX as u32, "the number of an open file")?;
        let missing = |variable| StartError::Missing { variable, beside: "PMI_FD" };
        let size = text("PMI_SIZE")?.ok_or_else(|| missing("PMI_SIZE"))?;
        let ranks = format!("a number of ranks from 1 to {MOST_RANKS}");
        let size = match self::number("PMI_SIZE", &size, MOST_RANKS as u32, &ranks)? {
            0 => return Err(StartError::variable("PMI_SIZE", &size, ranks)),
            size => size as usize,
        };
        let rank = text("PMI_RANK")?.ok_or_else(|| missing("PMI_RANK"))?;
        let ranks = format!("a rank below {size}");
        let rank = self::number("PMI_RANK", &rank, size as u32 - 1, &ranks)? as usize;
        return Ok(Place::Open { number: number as i32, rank, size });
    }
    let Some(address) = text("PMI_PORT")? else {
        for (variable, by) in MUTE {
            let found =
                text(variable)?.filter(|found| found.parse().is_ok_and(|size: u64| size > 1));
            if let Some(found) = found {
                return Err(StartError::Mute { variable, found, by });
            }
        }
        return Ok(Place::Nowhere);
    };
    let id =
        text("PMI_ID")?.ok_or(StartError::Missing { variable: "PMI_ID", beside: "PMI_PORT" })?;
    let id = number("PMI_ID", &id, MOST_RANKS as u32, "the number of a process")?;
    match address.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => {
            Ok(Place::Port { address, id })
        }
        _ => Err(StartError::variable("PMI_PORT", &address, "a host and a port, as in node7:4711")),
    }
}

fn number(
    variable: &'static str,
    text: &str,
    most: u32,
    expected: &str,
) -> Result<u32, StartError> {
    let number = text.parse().ok().filter(|number| *number <= most);
    number.ok_or_else(|| StartError::variable(variable, text, expected))
}

/// A time with a unit, or a number of seconds.
fn patience(text: &str) -> Result<Duration, StartError> {
    let seconds = match text.trim().parse::<f64>() {
        Ok(seconds) => Some(seconds),
        Err(_) => text.parse::<Time>().ok().map(Time::seconds),
    };
    let patience = seconds.filter(|seconds| *seconds > 0.0);
    // Clocks go further than this, but not for ever.
    let patience = patience.filter(|seconds| *seconds <= 1e9);
    let patience = patience.map(Duration::from_secs_f64);
    // Less than a nanosecond is no time at all.
    patience.filter(|patience| !patience.is_zero()).ok_or_else(|| {
        let expected = "a time above 0, such as `90 s`, or a number of seconds";
        StartError::variable("CROSSTIE_TIMEOUT", text, expected)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(variables: &[(&str, &str)]) -> Result<Environment, String> {
        let found = |name: &str| {
            let found = variables.iter().find(|(other, _)| *other == name);
            found.map(|(_, value)| OsString::from(value))
        };
        Environment::read(found).map_err(|error| error.to_string())
    }

    #[test]
    fn each_launcher_is_found() {
        for (variables, place) in [
            (
                &[("PMI_FD", "6"), ("PMI_RANK", "1"), ("PMI_SIZE", "2")][..],
                Place::Open { number: 6, rank: 1, size: 2 },
            ),
            (
                // The file comes first, as with other ranks.
                &[("PMI_FD", "0"), ("PMI_RANK", "0"), ("PMI_SIZE", "1"), ("PMI_PORT", "a:1")],
                Place::Open { number: 0, rank: 0, size: 1 },
            ),
            (
                &[("PMI_PORT", "node7:4711"), ("PMI_ID", "3")],
                Place::Port { address: "node7:4711".into(), id: 3 },
            ),
            (&[("PMI_RANK", "1"), ("PMI_SIZE", "2")], Place::Nowhere),
            (&[("PMI_FD", "")], Place::Nowhere),
            (&[("SLURM_STEP_NUM_TASKS", "1"), ("OMPI_COMM_WORLD_SIZE", "?")], Place::Nowhere),
            (
                &[("PMI_PORT", "node7:4711"), ("PMI_ID", "3"), ("SLURM_STEP_NUM_TASKS", "4")],
                Place::Port { address: "node7:4711".into(), id: 3 },
            ),
            (&[], Place::Nowhere),
        ] {
            let environment = read(variables).unwrap();
            assert_eq!(environment, Environment { place, patience: PATIENCE, secret: None });
        }
    }

    #[test]
    fn mistakes_are_told_with_what_was_expected() {
        for (variables, words) in [
            (&[("PMI_FD", "x")][..], "PMI_FD=x in the environment, expected the number of an open"),
            (&[("PMI_FD", "-1")], "PMI_FD=-1"),
            (&[("PMI_FD", "6")], "not PMI_SIZE"),
            (&[("PMI_FD", "6"), ("PMI_SIZE", "2")], "not PMI_RANK"),
            (&[("PMI_FD", "6"), ("PMI_SIZE", "0"), ("PMI_RANK", "0")], "ranks from 1 to 65536"),
            (&[("PMI_FD", "6"), ("PMI_SIZE", "99999999999"), ("PMI_RANK", "0")], "PMI_SIZE=99999"),
            (&[("PMI_FD", "6"), ("PMI_SIZE", "2"), ("PMI_RANK", "2")], "expected a rank below 2"),
            (&[("PMI_PORT", "a:1")], "not PMI_ID"),
            (&[("PMI_PORT", "a"), ("PMI_ID", "1")], "expected a host and a port"),
            (&[("PMI_PORT", ":1"), ("PMI_ID", "1")], "expected a host and a port"),
            (&[("PMI_PORT", "a:99999"), ("PMI_ID", "1")], "expected a host and a port"),
            (&[("SLURM_STEP_NUM_TASKS", "4")], "start them by `srun --mpi=pmi2`"),
            (&[("OMPI_COMM_WORLD_SIZE", "2")], "found OMPI_COMM_WORLD_SIZE=2 in the environment"),
            (&[("CROSSTIE_TIMEOUT", "soon")], "CROSSTIE_TIMEOUT=soon"),
            (&[("CROSSTIE_TIMEOUT", "0")], "a time above 0"),
            (&[("CROSSTIE_TIMEOUT", "-1")], "a time above 0"),
            (&[("CROSSTIE_TIMEOUT", "1e-10")], "a time above 0"),
            (&[("CROSSTIE_TIMEOUT", "5 ps")], "a time above 0"),
            (&[("CROSSTIE_TIMEOUT", "nan")], "a time above 0"),
            (&[("CROSSTIE_TIMEOUT", "1e300")], "a time above 0"),
            (&[("CROSSTIE_SECRET", "c0ffee")], "6 characters in the environment, expected 32 hex"),
        ] {
            let error = read(variables).unwrap_err();
            assert!(error.contains(words), "{error}");
            assert!(!error.contains("c0ffee"), "secrets are not told: {error}");
        }
    }

    #[test]
    fn patience_has_a_unit_or_is_in_seconds() {
        for (text, milliseconds) in [("90 s", 90_000), ("250ms", 250), ("1.5", 1500), ("7", 7000)] {
            let patience = read(&[("CROSSTIE_TIMEOUT", text)]).unwrap().patience;
            assert_eq!(patience, Duration::from_millis(milliseconds));
        }
    }

    #[test]
    fn a_secret_is_read() {
        let text = "000102030405060708090a0b0c0d0e0f";
        let secret = read(&[("CROSSTIE_SECRET", text)]).unwrap().secret;
        assert_eq!(secret, Secret::from_hex(text));
    }

    proptest! {
        #[test]
        fn any_environment_is_read_or_refused(values in prop::collection::vec(".{0,12}", 9)) {
            let names = ["PMI_FD", "PMI_RANK", "PMI_SIZE", "PMI_PORT", "PMI_ID", "CROSSTIE_TIMEOUT", "CROSSTIE_SECRET",
                "SLURM_STEP_NUM_TASKS", "OMPI_COMM_WORLD_SIZE"];
            let variables: Vec<_> = names.into_iter().zip(values.iter().map(String::as_str)).collect();
            let _ = read(&variables);
        }
    }
}
