//! ARCHITECTURE.md says which crate stands on which layer and what it may import; this test holds
//! the code to it, and the document to the code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Crates by name, without the common prefix, and what each of them imports.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// What all package names start with.
const PREFIX: &str = "crosstie-";

/// The first words of the document's table of imports.
const TABLE_HEAD: &str = "| crate ";

#[test]
fn the_code_keeps_to_the_picture() {
    let root = workspace();
    let document = std::fs::read_to_string(root.join("ARCHITECTURE.md"))
        .unwrap_or_else(|error| panic!("cannot read ARCHITECTURE.md: {error}"));
    let complaints = Plan::read(&document).complaints(&imports(&root));
    assert!(
        complaints.is_empty(),
        "ARCHITECTURE.md and the code differ:\n- {}",
        complaints.join("\n- ")
    );
}

/// A program that links the runtime compiles neither networks nor boxes.
#[test]
fn the_runtime_is_light() {
    let root = workspace();
    let compiled = closure("crosstie-wire", &manifests(&root), &locked(&root));
    for needed in ["crosstie-protocol", "crosstie-launch", "nix", "libc"] {
        assert!(compiled.contains(needed), "`{needed}` is missing: {compiled:?}");
    }
    let heavy =
        ["quick-xml", "crosstie-routing", "crosstie-fabric", "crosstie-box", "crosstie-work"];
    for heavy in heavy {
        assert!(!compiled.contains(heavy), "what links `crosstie-wire` compiles `{heavy}`");
    }
}

/// All packages that one is made of on any system, itself included. `ours` has what packages of the
/// workspace need, `locked` what all others do.
fn closure(name: &str, ours: &Imports, locked: &Imports) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut unseen = vec![name.to_owned()];
    while let Some(package) = unseen.pop() {
        let needs = ours.get(&package).or_else(|| locked.get(&package));
        unseen.extend(needs.unwrap_or_else(|| panic!("`{package}` is not locked")).clone());
        unseen.retain(|package| !found.contains(package));
        found.insert(package);
    }
    found
}

/// What each package of the lock file needs, by names without versions.
fn locked(root: &Path) -> Imports {
    let text = std::fs::read_to_string(root.join("Cargo.lock")).expect("it is part of the code");
    let lock: toml::Table = text.parse().expect("cargo writes TOML");
    let list = |value: Option<&toml::Value>| value.and_then(|list| list.as_array()).cloned();
    let name = |value: &toml::Value| {
        let text = value.as_str().expect("a name").to_owned();
        text.split(' ').next().unwrap_or_default().to_owned()
    };
    let mut packages = Imports::new();
    for package in list(lock.get("package")).expect("a lock file has packages") {
        let needs = list(package.get("dependencies")).unwrap_or_default();
        packages.entry(name(&package["name"])).or_default().extend(needs.iter().map(name));
    }
    packages
}

/// The Rust files below a folder that contain one of these texts, by their paths from the crates
/// on.
fn files_with(folder: &Path, texts: &[&str], found: &mut Vec<String>) {
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            files_with(&path, texts, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let content = std::fs::read_to_string(&path).unwrap();
            if texts.iter().any(|text| content.contains(text)) {
                found.push(path.display().to_string());
            }
        }
    }
}

/// Files of the crates' sources that contain one of these texts, without those that may.
fn strays(texts: &[&str], allowed: &[&str]) -> Vec<String> {
    let crates = workspace().join("crates");
    let mut found = Vec::new();
    for folder in std::fs::read_dir(&crates).unwrap().map(|entry| entry.unwrap().path()) {
        files_with(&folder.join("src"), texts, &mut found);
    }
    assert!(!found.is_empty(), "nothing has {texts:?}");
    let from = crates.display().to_string() + "/";
    found.retain(|path| {
        let path = path.strip_prefix(&from).unwrap_or(path);
        !allowed.iter().any(|start| path.starts_with(start))
    });
    found
}

#[test]
fn only_what_meets_the_real_world_knows_its_time() {
    let texts = ["Instant::now", "SystemTime::now", "getrandom"];
    let stray = strays(&texts, &["wire/src", "launch/src", "box/src", "lab/src/live", "cli/src"]);
    assert!(stray.is_empty(), "a wall clock or entropy in {stray:#?}");
}

#[test]
fn unsafe_code_is_where_it_is_expected() {
    let allowed = ["wire/src", "launch/src", "box/src", "sim/src/wormhole/prefetch.rs"];
    let stray = strays(&["unsafe {", "unsafe fn", "unsafe impl", "allow(unsafe_code)"], &allowed);
    assert!(stray.is_empty(), "unsafe code in {stray:#?}");
}

/// What the document says.
struct Plan {
    /// The layer of each crate in the picture.
    layers: BTreeMap<String, u32>,
    /// What each crate of the table may import.
    allowed: Imports,
}

impl Plan {
    fn read(document: &str) -> Plan {
        Plan { layers: picture(document), allowed: table(document) }
    }

    /// Everything in which the document and the code differ, or the document contradicts itself.
    fn complaints(&self, code: &Imports) -> Vec<String> {
        let mut complaints = Vec::new();
        for name in self.layers.keys().filter(|name| !code.contains_key(*name)) {
            complaints
                .push(format!("`{name}` is in the layer picture, but there is no such crate"));
        }
        for name in self.allowed.keys().filter(|name| !code.contains_key(*name)) {
            complaints.push(format!("`{name}` has a row in the table, but there is no such crate"));
        }
        for (name, imported) in code {
            if !self.layers.contains_key(name) {
                complaints.push(format!("`{name}` is missing from the layer picture"));
            }
            match self.allowed.get(name) {
                None => complaints.push(format!("`{name}` is missing from the table of imports")),
                Some(allowed) => complaints.extend(imported.difference(allowed).map(|other| {
                    format!(
                        "`{name}` imports `{other}`, which its row in the table does not allow ({})",
                        allowed.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
                    )
                })),
            }
        }
        let said = self.allowed.iter().map(|(name, others)| ("may import", name, others));
        let done = code.iter().map(|(name, others)| ("imports", name, others));
        for (verb, name, others) in said.chain(done) {
            for other in others {
                if let (Some(from), Some(to)) = (self.layers.get(name), self.layers.get(other)) {
                    if to >= from {
                        complaints.push(format!(
                            "`{name}` (L{from}) {verb} `{other}` (L{to}): imports must point to a \
                             lower layer"
                        ));
                    }
                } else if verb == "may import" && !code.contains_key(other) {
                    complaints.push(format!("`{name}` may import `{other}`, which does not exist"));
                }
            }
        }
        complaints
    }
}

/// Reads the layer picture, a fenced block of lines `L2  name  name  | what they are`.
fn picture(document: &str) -> BTreeMap<String, u32> {
    let mut layers = BTreeMap::new();
    let mut fenced = false;
    for line in document.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
            continue;
        }
        let Some((level, rest)) = line.strip_prefix('L').and_then(|rest| rest.split_once(' '))
        else {
            continue;
        };
        let (true, Ok(level)) = (fenced, level.parse()) else { continue };
        let names = rest.split('|').next().unwrap_or_default();
        layers.extend(names.split_whitespace().map(|name| (name.to_owned(), level)));
    }
    layers
}

/// Reads the table `| crate | is | may import |`.
fn table(document: &str) -> Imports {
    let rows = document.lines().skip_while(|line| !line.starts_with(TABLE_HEAD)).skip(2);
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect()
    };
    rows.take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells = cells(line);
            let list = cells.last().map_or("", String::as_str);
            let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
            (cells[0].clone(), names.filter(|&name| name != "-").map(str::to_owned).collect())
        })
        .collect()
}

fn workspace() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    root.expect("this crate lies two folders below the workspace").to_owned()
}

/// What the crates of the workspace import from each other.
fn imports(root: &Path) -> Imports {
    let ours = |name: &String| name.strip_prefix(PREFIX).map(str::to_owned);
    let own = |names: &BTreeSet<String>| names.iter().filter_map(ours).collect();
    manifests(root).iter().filter_map(|(name, others)| Some((ours(name)?, own(others)))).collect()
}

/// Asks cargo which packages the packages of the workspace need, on any system. What only tests use
/// does not count: a test may look at anything.
fn manifests(root: &Path) -> Imports {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root)
        .output()
        .expect("cargo runs the tests, so it can be run");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo metadata failed: {words}");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let list = |value: &Value| value.as_array().expect("a list, perhaps empty").clone();
    let name = |value: &Value| value["name"].as_str().expect("a package has a name").to_owned();
    let needs = |package: &Value| {
        let needs = list(&package["dependencies"]);
        needs.iter().filter(|need| need["kind"] != "dev").map(name).collect()
    };
    list(&metadata["packages"]).iter().map(|package| (name(package), needs(package))).collect()
}

const SMALL: &str = "
L9  this is prose, outside of any block

```text
L1  roof            | keeps the rain out
L0  wall  floor     | stand on the ground
```

| crate | is | may import |
|---|---|---|
| `roof` | on top | wall |
| `wall` | upright | - |
| `floor` | flat | - |

| another | table |
|---|---|
| `wall` | roof |
";

/// What is said about a house built of these imports.
fn said(document: &str, code: &[(&str, &[&str])]) -> Vec<String> {
    let set = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let code = code.iter().map(|&(name, others)| (name.to_owned(), set(others))).collect();
    Plan::read(document).complaints(&code)
}

#[test]
fn a_sound_house_gives_no_complaint() {
    let none: [&str; 0] = [];
    assert_eq!(said(SMALL, &[("roof", &["wall"]), ("wall", &[]), ("floor", &[])]), none);
    assert_eq!(said(SMALL, &[("roof", &[]), ("wall", &[]), ("floor", &[])]), none, "not a must");
}

#[test]
fn each_fault_is_named() {
    let sound: [(&str, &[&str]); 3] = [("roof", &["wall"]), ("wall", &[]), ("floor", &[])];
    assert_eq!(
        said(SMALL, &[("roof", &["floor"]), sound[1], sound[2]]),
        ["`roof` imports `floor`, which its row in the table does not allow (wall)"]
    );
    assert_eq!(
        said(SMALL, &sound[..2]),
        [
            "`floor` is in the layer picture, but there is no such crate",
            "`floor` has a row in the table, but there is no such crate",
        ]
    );
    assert_eq!(
        said(SMALL, &[sound[0], sound[1], sound[2], ("cellar", &[])]),
        [
            "`cellar` is missing from the layer picture",
            "`cellar` is missing from the table of imports",
        ]
    );
    let upward = SMALL.replace("| upright | - |", "| upright | roof |");
    assert_eq!(
        said(&upward, &sound),
        ["`wall` (L0) may import `roof` (L1): imports must point to a lower layer"]
    );
    let sideways = SMALL.replace("| upright | - |", "| upright | floor |");
    assert_eq!(
        said(&sideways, &[sound[0], ("wall", &["floor"]), sound[2]]),
        [
            "`wall` (L0) may import `floor` (L0): imports must point to a lower layer",
            "`wall` (L0) imports `floor` (L0): imports must point to a lower layer",
        ]
    );
    let stale = SMALL.replace("| on top | wall |", "| on top | wall, door |");
    assert_eq!(said(&stale, &sound), ["`roof` may import `door`, which does not exist"]);
}
