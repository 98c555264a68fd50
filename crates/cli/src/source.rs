//! Networks named on the command line: by a file, an experiment or a flag.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use crosstie_fabric::{Fabric, Format, Irregular, irregular, pruned_tree, single, tree};
use crosstie_study::{RoutingKind, Spec};
use crosstie_units::Seed;

use crate::console::Console;
use crate::exit::Failure;
use crate::experiment;

/// The largest network file that is read, a little more than the readers accept.
const LARGEST: u64 = (64 << 20) + 1;

/// Where a network comes from.
#[derive(Debug, Args)]
#[group(skip)]
pub struct Source {
    /// A network (.anynet, .graphml, .edges, output of ibnetdiscover) or an experiment (.toml)
    #[arg(value_name = "SOURCE")]
    file: Option<PathBuf>,

    /// A k-ary n-tree instead of a file, pruned if it has fewer than K^N hosts
    #[arg(long, value_name = "K,N[,H]")]
    tree: Option<TreeSize>,

    /// One switch with H hosts instead of a file
    #[arg(long, value_name = "H")]
    single: Option<u32>,

    /// A random irregular network instead of a file: S switches with P ports and H hosts each;
    /// S,P,H,L for L links, if not all that can be
    #[arg(long, value_name = "S,P,H", requires = "seed")]
    irregular: Option<IrregularSize>,

    /// The number from which the random network follows, or a range such as 1..30 for many
    /// networks
    #[arg(long, visible_alias = "seeds", value_name = "N", requires = "irregular")]
    #[arg(conflicts_with_all = ["file", "tree", "single"])]
    seed: Option<Seeds>,

    /// The point of the experiment to take the network from [default: all that differ]
    #[arg(long, value_name = "N", conflicts_with_all = ["tree", "single", "irregular"])]
    point: Option<u32>,
}

/// What a verb is asked about: a network, with the routings an experiment wants on it; none if the
/// source names none.
#[derive(Debug)]
pub struct Subject {
    /// The network.
    pub fabric: Fabric,
    /// Its routings, each once.
    pub routings: Vec<RoutingKind>,
    /// The number it follows from, if it was drawn at random here.
    pub seed: Option<Seed>,
}

impl Source {
    /// The names of the arguments of which a verb needs one.
    pub const ARGUMENTS: [&'static str; 4] = ["file", "tree", "single", "irregular"];

    /// Builds or reads what is named: at least one network.
    pub fn networks(&self, console: &Console) -> Result<Vec<Subject>, Failure> {
        let fabric = if let Some(TreeSize { k, n, hosts }) = self.tree {
            let built = hosts.map_or_else(|| tree(k, n), |hosts| pruned_tree(k, n, hosts));
            built.map_err(Failure::user)?
        } else if let Some(hosts) = self.single {
            single(hosts).map_err(Failure::user)?
        } else if let (Some(IrregularSize(shape)), Some(seeds)) = (self.irregular, self.seed) {
            let drawn = |seed| {
                let fabric = irregular(&shape, Seed(seed)).map_err(Failure::user)?;
                Ok(Subject { fabric, routings: Vec::new(), seed: Some(Seed(seed)) })
            };
            return (seeds.first..=seeds.last).map(drawn).collect();
        } else {
            let file = self.file.as_deref().unwrap_or(Path::new(""));
            if is_experiment(file) {
                return self.in_experiment(file, console);
            }
            if self.point.is_some() {
                let reason = "--point takes a point of an experiment, and this is a network";
                return Err(Failure::user(format!("`{}`: {reason}", file.display())));
            }
            read_network(file)?
        };
        Ok(vec![Subject { fabric, routings: Vec::new(), seed: None }])
    }

    /// The different networks of an experiment's points, in order of first appearance.
    fn in_experiment(&self, file: &Path, console: &Console) -> Result<Vec<Subject>, Failure> {
        let experiment = experiment::load(file, console)?;
        let points = match self.point {
            None => experiment.points(),
            Some(point) => {
                let points = experiment.points();
                let chosen = points.get(point as usize).ok_or_else(|| {
                    Failure::user(format!(
                        "there is no point {point} in `{}`: it has {} points, counted from 0; \
                         `crosstie check` lists them",
                        file.display(),
                        points.len()
                    ))
                })?;
                std::slice::from_ref(chosen)
            }
        };
        let mut wanted: Vec<(&Spec, Vec<RoutingKind>)> = Vec::new();
        for spec in points.iter().map(|point| &point.spec) {
            let alike = |(other, _): &(&Spec, _)| other.fabric == spec.fabric;
            let i = wanted.iter().position(alike).unwrap_or_else(|| {
                wanted.push((spec, Vec::new()));
                wanted.len() - 1
            });
            if !wanted[i].1.contains(&spec.routing) {
                wanted[i].1.push(spec.routing);
            }
        }
        let locate = |path: &str| experiment.locate(path);
        let network = |(spec, routings): (&Spec, _)| {
            let (fabric, _) = crosstie_lab::build_fabric(&spec.fabric, &locate)?;
            Ok(Subject { fabric, routings, seed: None })
        };
        wanted.into_iter().map(network).collect()
    }
}

/// Whether a file is an experiment, told by its ending. Any other file is a network.
fn is_experiment(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"))
}

/// Reads a network file; the network is called after it.
fn read_network(path: &Path) -> Result<Fabric, Failure> {
    let refused = |reason: &dyn std::fmt::Display| {
        Failure::user(format!("cannot read `{}`: {reason}", path.display()))
    };
    let file = File::open(path).map_err(|error| refused(&error))?;
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes).map_err(|error| refused(&error))?;
    let text = String::from_utf8(bytes).map_err(|_| refused(&"it is not text in UTF-8"))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let format = Format::of(&path.to_string_lossy(), &text);
    format.read(&name, &text).map_err(|error| {
        let (path, format) = (path.display(), format.name());
        Failure::user(format!("cannot read `{path}` as a network in {format}: {error}"))
    })
}

/// The numbers of a tree, as in `4,3` or `4,3,32`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TreeSize {
    k: u16,
    n: u16,
    hosts: Option<u32>,
}

impl FromStr for TreeSize {
    type Err = String;

    fn from_str(text: &str) -> Result<TreeSize, String> {
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        let (k, n, hosts) = match parts.as_slice() {
            [k, n] => (k.parse().ok(), n.parse().ok(), Some(None)),
            [k, n, hosts] => (k.parse().ok(), n.parse().ok(), hosts.parse().ok().map(Some)),
            _ => (None, None, None),
        };
        match (k, n, hosts) {
            (Some(k), Some(n), Some(hosts)) => Ok(TreeSize { k, n, hosts }),
            _ => Err("expected two or three whole numbers: arity, levels and, if pruned, hosts, \
                      such as 4,3 or 4,3,32"
                .to_owned()),
        }
    }
}

/// One seed, or all from the first to the last, as in `7` or `1..30`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seeds {
    first: u64,
    last: u64,
}

/// The most networks of one range.
const MOST_SEEDS: u64 = 1000;

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Seeds, String> {
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        match (first.trim().parse(), last.trim().parse()) {
            (Ok(first), Ok(last)) if first <= last && last - first < MOST_SEEDS => {
                Ok(Seeds { first, last })
            }
            _ => Err(format!(
                "expected a whole number such as 7, or a range of at most {MOST_SEEDS} such as 1..30, \
                 which includes both ends"
            )),
        }
    }
}

/// The numbers of a random irregular network, as in `16,8,4` or `16,8,4,27`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct IrregularSize(Irregular);

impl FromStr for IrregularSize {
    type Err = String;

    fn from_str(text: &str) -> Result<IrregularSize, String> {
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        let (numbers, links) = match *parts {
            [ref numbers @ .., links] if parts.len() == 4 => {
                (numbers, links.parse().ok().map(Some))
            }
            _ => (&*parts, Some(None)),
        };
        let shape = match (numbers, links) {
            (&[switches, ports, hosts], Some(links)) => {
                (switches.parse().ok().zip(ports.parse().ok()).zip(hosts.parse().ok())).map(
                    |((switches, ports), hosts_per_switch)| {
                        IrregularSize(Irregular { switches, ports, hosts_per_switch, links })
                    },
                )
            }
            _ => None,
        };
        shape.ok_or_else(|| {
            "expected three or four whole numbers: switches, ports of each switch, hosts on each switch \
             and, if not all that can be, links, such as 16,8,4 or 16,8,4,27"
                .to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_two_or_three_numbers() {
        let size = |k, n, hosts| Ok(TreeSize { k, n, hosts });
        assert_eq!("4,3".parse(), size(4, 3, None));
        assert_eq!("4, 3, 32".parse(), size(4, 3, Some(32)));
        for wrong in ["", "4", "4,3,", "4,3,32,1", "4x3", "-4,3", "4,99999"] {
            assert!(wrong.parse::<TreeSize>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn irregular_networks_are_three_or_four_numbers() {
        let shape = Irregular { switches: 16, ports: 8, hosts_per_switch: 4, links: None };
        assert_eq!("16, 8,4".parse(), Ok(IrregularSize(shape)));
        let shape = Irregular { links: Some(27), ..shape };
        assert_eq!("16,8,4, 27".parse(), Ok(IrregularSize(shape)));
        for wrong in ["", "16", "16,8", "16,8,4,", "16,8,4,7,1", "16,8,-4", "16,8,70000"] {
            assert!(wrong.parse::<IrregularSize>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn seeds_are_a_number_or_a_range() {
        assert_eq!("7".parse(), Ok(Seeds { first: 7, last: 7 }));
        assert_eq!("1..30".parse(), Ok(Seeds { first: 1, last: 30 }));
        for wrong in ["", "x", "-1", "3..2", "1..", "1..5000", "0..18446744073709551615"] {
            assert!(wrong.parse::<Seeds>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn endings_tell_experiments_from_networks() {
        assert!(is_experiment(Path::new("a/B.TOML")));
        for network in ["ring.anynet", "ring.txt", "toml", ""] {
            assert!(!is_experiment(Path::new(network)), "{network}");
        }
    }
}
