//! The machine that a verb is about: a preset, or a file, with keys set on the command line.

use std::fs;
use std::path::{Path, PathBuf};

use crosstie_lab::Preset;
use crosstie_study::{Spec, Study, nearest};
use toml::{Table as Toml, Value};

use crate::exit::Failure;

/// A preset, perhaps with changes.
pub struct Machine {
    name: String,
    /// What names it on the command line.
    argument: &'static str,
    keys: Toml,
}

impl Machine {
    /// A preset by name, or a file, as an argument names it.
    pub fn load(argument: &'static str, name: &str) -> Result<Machine, Failure> {
        if let Some(preset) = Preset::find(name) {
            return Machine::parse(argument, preset.name, preset.text);
        }
        let text = fs::read_to_string(name).map_err(|error| {
            let known = known(name);
            Failure::user(format!("{argument}: `{name}`: {error}; expected a file, or {known}"))
        })?;
        Machine::parse(argument, name, &text)
    }

    /// From the text of a file.
    pub fn parse(argument: &'static str, name: &str, text: &str) -> Result<Machine, Failure> {
        let keys: Toml = text
            .parse()
            .map_err(|error| Failure::user(format!("{argument}: `{name}`: {error}")))?;
        for key in ["work", "traffic", "sweep", "figure", "table", "schedule"] {
            if keys.contains_key(key) {
                return Err(Failure::user(format!(
                    "{argument}: `{name}`: found `{key}`, but the command says what is to be done; \
                     remove it"
                )));
            }
        }
        Ok(Machine { name: name.to_owned(), argument, keys })
    }

    /// From its keys.
    pub fn of(argument: &'static str, name: &str, keys: Toml) -> Machine {
        Machine { name: name.to_owned(), argument, keys }
    }

    /// With keys that are set on the command line.
    pub fn with(mut self, settings: &[String]) -> Result<Machine, Failure> {
        for setting in settings {
            let wrong = |what: &str| Failure::user(format!("--set: found `{setting}`, {what}"));
            let Some((key, value)) = setting.split_once('=') else {
                return Err(wrong("expected KEY=VALUE, such as cluster.rails=4"));
            };
            // What is no value of TOML by itself is text.
            let quoted = || format!("{key} = {}", Value::String(value.trim().to_owned()));
            let parsed = format!("{key} = {value}").parse::<Toml>().or_else(|_| quoted().parse());
            let parsed =
                parsed.map_err(|_| wrong("expected a key of an experiment file before ="))?;
            put(&mut self.keys, parsed, key.split('.').count());
        }
        Ok(self)
    }

    /// Returns true if it comes with Crosstie.
    pub fn is_preset(&self) -> bool {
        Preset::find(&self.name).is_some()
    }

    /// What it is.
    pub fn title(&self) -> &str {
        self.keys.get("title").and_then(Value::as_str).unwrap_or(&self.name)
    }

    /// The world that it is simulated in.
    pub fn world(&self) -> String {
        self.keys.get("world").and_then(Value::as_str).unwrap_or("wormhole").to_owned()
    }

    /// All of it, with something to be done.
    pub fn spec(&self) -> Result<Spec, Failure> {
        Ok(self.study()?.points()[0].spec.clone())
    }

    /// The same, as the one point of a study.
    pub fn study(&self) -> Result<Study, Failure> {
        let mut keys = self.keys.clone();
        keys.insert("work".to_owned(), one("ping", one("size", "1 B")).into());
        self.understood(&keys.to_string())
    }

    /// A study of it. Its text is put together here, so that a mistake has no line to be shown at.
    pub fn understood(&self, text: &str) -> Result<Study, Failure> {
        Study::parse(&self.name, text).map_err(|mistake| {
            let (argument, name) = (self.argument, &self.name);
            Failure::user(format!("{argument}: `{name}`: {}", mistake.without_place()))
        })
    }

    /// The same with a channel, if it names none.
    pub fn with_channel(mut self, channel: Toml) -> Machine {
        self.keys.entry("channel").or_insert(channel.into());
        self
    }

    /// Returns true if it says where real ranks run.
    pub fn has_live(&self) -> bool {
        self.keys.contains_key("live")
    }

    /// Where a path in it leads: it is relative to its file.
    pub fn locate(&self, path: &str) -> PathBuf {
        Path::new(&self.name).parent().unwrap_or(Path::new("")).join(path)
    }

    /// The number of its last host.
    pub fn last_host(&self) -> Result<u32, Failure> {
        self.spec()?.fabric.hosts().map(|hosts| hosts - 1).ok_or_else(|| {
            Failure::user(format!(
                "{}: `{}`: its network comes from a file; run it as an experiment instead",
                self.argument, self.name
            ))
        })
    }

    /// The text of an experiment that does all of some work in each of some worlds, with these keys
    /// for schedules.
    pub fn experiment(
        &self,
        schedule: Toml,
        worlds: &[String],
        work: impl FnOnce() -> Vec<Toml>,
    ) -> String {
        let mut keys = self.keys.clone();
        keys.remove("world");
        put(&mut keys, one("measure", one("channels", false)), 2);
        if !schedule.is_empty() {
            keys.insert("schedule".to_owned(), schedule.into());
        }
        let work: Vec<Value> = work().into_iter().map(Value::Table).collect();
        let worlds: Vec<Value> = worlds.iter().map(|world| world.as_str().into()).collect();
        // In this order: the worlds of some work stand together.
        let (work, worlds) = (Value::Array(work), Value::Array(worlds));
        format!("{keys}\n[sweep.product]\nwork = {work}\nworld = {worlds}\n")
    }
}

/// The presets, and the one whose name is nearest to a wrong one.
fn known(name: &str) -> String {
    let names = || Preset::ALL.iter().map(|preset| preset.name);
    let all = names().collect::<Vec<_>>().join(", ");
    match nearest(name, names()) {
        Some(near) => format!("a preset: {all}\n  help: did you mean `{near}`?"),
        None => format!("a preset: {all}"),
    }
}

/// A table with one entry.
pub fn one(key: &str, value: impl Into<Value>) -> Toml {
    Toml::from_iter([(key.to_owned(), value.into())])
}

/// Puts a value in the place of another, so many tables deep.
pub fn put(into: &mut Toml, over: Toml, depth: usize) {
    for (key, value) in over {
        match (into.get_mut(&key), value) {
            (Some(Value::Table(into)), Value::Table(over)) if depth > 1 => {
                put(into, over, depth - 1)
            }
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_go_over_the_preset() {
        let machine = Machine::load("--sim", "qsnet").unwrap();
        let settings = ["cluster.rails=4", "policy=dynamic", "link.rate=1 GB/s"].map(str::to_owned);
        let machine = machine.with(&settings).unwrap();
        assert_eq!(machine.keys["cluster"]["rails"].as_integer(), Some(4));
        assert_eq!(machine.keys["policy"].as_str(), Some("dynamic"));
        assert_eq!(machine.keys["link"]["rate"].as_str(), Some("1 GB/s"));
        assert_eq!(machine.keys["link"]["flit"].as_str(), Some("2 B"));
        // What is set takes the place of what was there.
        let machine = machine.with(&["link={rate='2 GB/s'}".to_owned()]).unwrap();
        assert_eq!(machine.keys["link"].get("flit"), None);
        assert!(machine.with(&["rails".to_owned()]).is_err());
    }

    #[test]
    fn presets_say_nothing_of_work() {
        for preset in Preset::ALL {
            let machine = Machine::parse("--sim", preset.name, preset.text).unwrap();
            assert_eq!(machine.title(), preset.title);
        }
        assert!(Machine::parse("--sim", "mine", "title = 'x'\nwork.ping.size = '1 B'").is_err());
    }
}
