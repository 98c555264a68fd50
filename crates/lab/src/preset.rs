//! Machines that come with Crosstie.

/// A machine: an experiment file that says nothing about what is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, as the file has it.
    pub title: &'static str,
    /// The file.
    pub text: &'static str,
}

/// The title of a file, which has its line to itself.
const fn title(text: &'static str) -> &'static str {
    let bytes = text.as_bytes();
    let (mut from, key) = (0, b"title = \"");
    loop {
        let mut same = 0;
        while same < key.len() && bytes[from + same] == key[same] {
            same += 1;
        }
        if same == key.len() {
            break;
        }
        while bytes[from] != b'\n' {
            from += 1;
        }
        from += 1;
    }
    from += key.len();
    let mut to = from;
    while bytes[to] != b'"' {
        to += 1;
    }
    text.split_at(to).0.split_at(from).1
}

macro_rules! preset {
    ($name:literal) => {{
        const TEXT: &str = include_str!(concat!("../../../presets/", $name, ".toml"));
        Preset { name: $name, title: title(TEXT), text: TEXT }
    }};
}

/// What nodes and switches are called in titles.
macro_rules! called {
    ("fedp") => {
        "FEDP, Pentium III of 450 MHz on Fast Ethernet"
    };
    ("gedp-up") => {
        "GEDP-UP, Xeon of 500 MHz on Gigabit Ethernet"
    };
    ("gedp-smp") => {
        "GEDP-SMP, several Xeon of 500 MHz on Gigabit Ethernet"
    };
    ("p450") => {
        "Pentium III of 450 MHz on Fast Ethernet"
    };
    ("p733") => {
        "Pentium III of 733 MHz on Fast Ethernet"
    };
    ("cable") => {
        "back to back"
    };
    ("ibm-8275-326") => {
        "IBM 8275-326 (cut-through, 43 frames at each input)"
    };
    ("ibm-8275-416") => {
        "IBM 8275-416 (95 frames at each output)"
    };
    ("intel-510t") => {
        "Intel 510T (1990 frames shared)"
    };
    ("cisco-2980g") => {
        "Cisco Catalyst 2980G (128 frames at each output)"
    };
    ("cisco-3524") => {
        "Cisco Catalyst 3524 (650 frames shared)"
    };
    ("powerrail-2200") => {
        "Alcatel PowerRail 2200 (820 frames shared)"
    };
}

/// So many nodes of one kind on one switch, of a name.
macro_rules! cluster {
    ($name:expr, $nodes:literal, $host:tt, $switch:tt) => {{
        const TEXT: &str = concat!(
            "title = \"",
            called!($host),
            ", ",
            called!($switch),
            ", as Tam has it\"\nseed = 1\nworld = \"frame\"\nfabric.single.hosts = ",
            $nodes,
            "\n",
            include_str!(concat!("../../../presets/hosts/", $host, ".toml")),
            include_str!(concat!("../../../presets/switches/", $switch, ".toml")),
        );
        Preset { name: $name, title: title(TEXT), text: TEXT }
    }};
    ($nodes:literal, $host:tt, $switch:tt) => {
        cluster!(concat!($host, "-", $switch), $nodes, $host, $switch)
    };
}

impl Preset {
    /// All of them. The first are files of `presets/`; the others are put together from nodes in
    /// `presets/hosts/` and a switch in `presets/switches/`.
    pub const ALL: [Preset; 20] = [
        preset!("qsnet"),
        preset!("qsnet-elan3"),
        preset!("myrinet"),
        preset!("infiniband-4x-pcix"),
        preset!("loggops"),
        cluster!("fedp", 2, "fedp", "cable"),
        cluster!("gedp-up", 2, "gedp-up", "cable"),
        cluster!("gedp-smp", 2, "gedp-smp", "cable"),
        cluster!(4, "gedp-up", "powerrail-2200"),
        cluster!(4, "gedp-smp", "powerrail-2200"),
        cluster!(16, "p450", "ibm-8275-326"),
        cluster!(16, "p450", "ibm-8275-416"),
        cluster!(16, "p450", "intel-510t"),
        cluster!(16, "p450", "cisco-2980g"),
        cluster!(16, "p450", "cisco-3524"),
        cluster!(24, "p733", "ibm-8275-326"),
        cluster!(16, "p733", "ibm-8275-416"),
        cluster!(24, "p733", "intel-510t"),
        cluster!(32, "p733", "cisco-2980g"),
        cluster!(24, "p733", "cisco-3524"),
    ];

    /// The one of a name.
    pub fn find(name: &str) -> Option<&'static Preset> {
        Preset::ALL.iter().find(|preset| preset.name == name)
    }
}
