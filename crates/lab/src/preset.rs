//! Machines that come with Crosstie.

/// A machine: an experiment file that says nothing about what is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// Its name on the command line.
    pub name: &'static str,
    /// The file.
    pub text: &'static str,
}

macro_rules! preset {
    ($name:literal) => {
        Preset { name: $name, text: include_str!(concat!("../../../presets/", $name, ".toml")) }
    };
}

impl Preset {
    /// All of them; each is the file of its name in `presets/`.
    pub const ALL: [Preset; 3] = [preset!("qsnet"), preset!("myrinet"), preset!("loggops")];

    /// The one of a name.
    pub fn find(name: &str) -> Option<&'static Preset> {
        Preset::ALL.iter().find(|preset| preset.name == name)
    }
}
