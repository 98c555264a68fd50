//! Hosts of a box are machines of their own.

use std::io::{Read, pipe};

use crosstie_box::{Cluster, Command, Hosts, Rail, Spec};

use crate::parts::{ARGUMENTS, PART, said};

fn machine_of(cluster: &Cluster, host: usize) -> String {
    let executable = std::env::current_exe().unwrap().into_os_string();
    let words = std::iter::once(executable).chain(ARGUMENTS.map(Into::into));
    let (mut output, input) = pipe().unwrap();
    let command = Command::new(words).env(PART, "machine").stdout(input);
    let program = cluster.spawn(host, &command).unwrap();
    drop(command);
    let mut text = String::new();
    output.read_to_string(&mut text).unwrap();
    assert!(program.wait().unwrap().success());
    text.lines().find_map(said).unwrap_or_else(|| panic!("a host said nothing: {text}"))
}

#[test]
fn hosts_of_a_box_are_machines_of_their_own() {
    let spec = Spec {
        title: None,
        description: None,
        seed: None,
        hosts: Hosts::numbered(2),
        rails: vec![Rail::default()],
        events: Vec::new(),
    };
    let cluster = match Cluster::start(&spec) {
        Ok(cluster) => cluster,
        Err(error) => {
            let findings = crosstie_box::permissions();
            assert!(findings.iter().any(|finding| finding.works != Some(true)), "{error}");
            eprintln!("skipped: {error}");
            return;
        }
    };
    let [one, again, other] = [0, 0, 1].map(|host| machine_of(&cluster, host));
    assert_eq!(one, again);
    assert_ne!(one, other);
    let here = crosstie_wire::memory::machine();
    assert!(here != one && here != other, "{here}");
}
