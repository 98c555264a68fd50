//! Ranks on hosts of a box, which somebody else than a launcher has started.

use std::io::{Read, pipe};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use crosstie_box::{Cluster, Command, Hosts, Rail, Spec, permissions};
use crosstie_wire::start::{Served, Server};

use crate::parts;
use crate::stage::skip;

#[test]
fn ranks_on_hosts_of_a_box_learn_from_each_other() {
    if permissions().iter().any(|finding| finding.works != Some(true)) {
        return skip("this machine forbids namespaces");
    }
    const SIZE: usize = 3;
    let (hosts, rails) = (Hosts::numbered(SIZE), vec![Rail::default()]);
    let spec =
        Spec { title: None, description: None, seed: None, hosts, rails, events: Vec::new() };
    let cluster = Cluster::start(&spec).unwrap();
    let (mut output, input) = pipe().unwrap();
    let (mut streams, mut programs) = (Vec::new(), Vec::new());
    for rank in 0..SIZE {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (name, value) = parts::role("exchange 2000");
        let command = Command::new(parts::words())
            .env(name, value)
            .env("PMI_FD", "0")
            .env("PMI_RANK", rank.to_string())
            .env("PMI_SIZE", SIZE.to_string())
            .stdin(theirs)
            .stdout(input.try_clone().unwrap());
        programs.push(cluster.spawn(rank, &command).unwrap());
        streams.push(ours);
    }
    drop(input);
    let mut board = Server::new(SIZE).on_hosts_of_their_own();
    let deadline = Instant::now() + Duration::from_secs(60);
    assert_eq!(board.serve(&streams, Some(deadline)).unwrap(), Served::Over);
    for program in programs {
        assert!(program.wait().unwrap().success());
    }
    let mut text = String::new();
    output.read_to_string(&mut text).unwrap();
    let line = |rank| format!("rank {rank} of 3: true 0,1,2 true");
    assert_eq!(parts::lines(&text), [line(0), line(1), line(2)]);
}
