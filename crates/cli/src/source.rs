//! Networks named on the command line: by a file, an experiment or a flag.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use crosstie_fabric::{Fabric, ReadError, anynet, graphml, pruned_tree, single, tree};
use crosstie_study::Spec;

use crate::console::Console;
use crate::exit::Failure;
use crate::experiment;
use crate::routes::RoutingName;

/// The largest network file that is read, a little more than the readers accept.
const LARGEST: u64 = (64 << 20) + 1;

/// Where a network comes from.
#[derive(Debug, Args)]
#[group(skip)]
pub struct Source {
    /// A network (.anynet, .graphml) or an experiment (.toml)
    #[arg(value_name = "SOURCE")]
    file: Option<PathBuf>,

    /// A k-ary n-tree instead of a file, pruned if it has fewer than K^N hosts
    #[arg(long, value_name = "K,N[,HOSTS]")]
    tree: Option<TreeSize>,

    /// All hosts on one switch instead of a file
    #[arg(long, value_name = "HOSTS")]
    single: Option<u32>,

    /// The point of the experiment to take the network from [default: all that differ]
    #[arg(long, value_name = "N", requires = "file")]
    point: Option<u32>,
}

/// A network, with the routings an experiment wants on it; none if the source names none.
#[derive(Debug)]
pub struct Network {
    /// The network.
    pub fabric: Fabric,
    /// Its routings, each once.
    pub routings: Vec<RoutingName>,
}

impl Source {
    /// The names of the arguments of which a verb needs one.
    pub const ARGUMENTS: [&'static str; 3] = ["file", "tree", "single"];

    /// Builds or reads what is named: at least one network.
    pub fn networks(&self, console: &Console) -> Result<Vec<Network>, Failure> {
        let fabric = if let Some(TreeSize { k, n, hosts }) = self.tree {
            let built = hosts.map_or_else(|| tree(k, n), |hosts| pruned_tree(k, n, hosts));
            built.map_err(Failure::user)?
        } else if let Some(hosts) = self.single {
            single(hosts).map_err(Failure::user)?
        } else {
            let file = self.file.as_deref().unwrap_or(Path::new(""));
            match Kind::of(file) {
                Some(Kind::Experiment) => return self.in_experiment(file, console),
                Some(Kind::Network(read)) if self.point.is_none() => read_network(file, read)?,
                Some(Kind::Network(_)) => {
                    let reason = "--point takes a point of an experiment, and this is a network";
                    return Err(Failure::user(format!("`{}`: {reason}", file.display())));
                }
                None => {
                    return Err(Failure::user(format!(
                        "`{}` does not say what it is: expected a network (.anynet, .graphml) or an \
                         experiment (.toml)",
                        file.display()
                    )));
                }
            }
        };
        Ok(vec![Network { fabric, routings: Vec::new() }])
    }

    /// The different networks of an experiment's points, in order of first appearance.
    fn in_experiment(&self, file: &Path, console: &Console) -> Result<Vec<Network>, Failure> {
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
        let mut wanted: Vec<(&Spec, Vec<RoutingName>)> = Vec::new();
        for spec in points.iter().map(|point| &point.spec) {
            let alike = |(other, _): &(&Spec, _)| other.fabric == spec.fabric;
            let i = wanted.iter().position(alike).unwrap_or_else(|| {
                wanted.push((spec, Vec::new()));
                wanted.len() - 1
            });
            let routing = RoutingName::from(&spec.routing);
            if !wanted[i].1.contains(&routing) {
                wanted[i].1.push(routing);
            }
        }
        let locate = |path: &str| experiment.locate(path);
        let network = |(spec, routings): (&Spec, _)| {
            let built = crosstie_lab::Network::build(&spec.fabric, &spec.routing, &locate)?;
            Ok(Network { fabric: built.fabric, routings })
        };
        wanted.into_iter().map(network).collect()
    }
}

/// A reader of network files: from the network's name and the file's text.
type Reader = fn(&str, &str) -> Result<Fabric, ReadError>;

/// What a file is, told by its ending.
enum Kind {
    Experiment,
    Network(Reader),
}

impl Kind {
    fn of(path: &Path) -> Option<Kind> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "toml" => Some(Kind::Experiment),
            "anynet" => Some(Kind::Network(|name, text| Ok(anynet::read(name, text)?.fabric))),
            "graphml" => Some(Kind::Network(graphml::read)),
            _ => None,
        }
    }
}

/// Reads a network file; the network is called after it.
fn read_network(path: &Path, read: Reader) -> Result<Fabric, Failure> {
    let refused = |reason: &dyn std::fmt::Display| {
        Failure::user(format!("cannot read `{}`: {reason}", path.display()))
    };
    let file = File::open(path).map_err(|error| refused(&error))?;
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes).map_err(|error| refused(&error))?;
    let text = String::from_utf8(bytes).map_err(|_| refused(&"it is not text in UTF-8"))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    read(&name, &text).map_err(|error| refused(&error))
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
    fn endings_tell_files_apart() {
        assert!(matches!(Kind::of(Path::new("a/B.TOML")), Some(Kind::Experiment)));
        assert!(matches!(Kind::of(Path::new("ring.anynet")), Some(Kind::Network(_))));
        assert!(Kind::of(Path::new("ring.txt")).is_none() && Kind::of(Path::new("")).is_none());
    }
}
