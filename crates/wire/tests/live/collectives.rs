//! Collective operations, held against what they are to give.

use crosstie_wire::{Comm, CommError};

use crate::parts::say;
use crate::stage::{here, live, well};

/// What a rank does: every operation with many lengths, and every root.
pub fn part() -> Result<(), CommError> {
    let comm = Comm::init()?;
    let (rank, size) = (comm.rank(), comm.size());
    let value = |rank: usize, at: usize| (rank * 1000 + at) as u64;
    let vector =
        |rank: usize, count: usize| -> Vec<u64> { (0..count).map(|at| value(rank, at)).collect() };
    for count in [0, 1, 2, 3, 7, 100, 5000, 40_000] {
        comm.barrier()?;
        for root in [0, size - 1] {
            let mut data = if rank == root { vector(root, count) } else { vec![0; count] };
            comm.broadcast(root, &mut data)?;
            assert_eq!(data, vector(root, count), "broadcast");

            let mut all = vec![0; if rank == root { size * count } else { 0 }];
            comm.gather(root, &vector(rank, count), &mut all)?;
            if rank == root {
                let expected: Vec<u64> = (0..size).flat_map(|from| vector(from, count)).collect();
                assert_eq!(all, expected, "gather");
            }

            let source: Vec<u64> = (0..size).flat_map(|to| vector(to, count)).collect();
            let mut mine = vec![0; count];
            comm.scatter(root, if rank == root { &source } else { &[] }, &mut mine)?;
            assert_eq!(mine, vector(rank, count), "scatter");

            let mut data = vector(rank, count);
            comm.reduce(root, &mut data, |a, b| *a += b)?;
            let sum = |at: usize| (0..size).map(|from| value(from, at)).sum::<u64>();
            let expected = match rank == root {
                true => (0..count).map(sum).collect(),
                false => vector(rank, count),
            };
            assert_eq!(data, expected, "reduce");
        }
        let mut all = vec![0; size * count];
        comm.all_gather(&vector(rank, count), &mut all)?;
        let expected: Vec<u64> = (0..size).flat_map(|from| vector(from, count)).collect();
        assert_eq!(all, expected, "all-gather");

        let mut data = vector(rank, count);
        comm.all_reduce(&mut data, |a, b| *a = (*a).max(b))?;
        assert_eq!(data, vector(size - 1, count), "all-reduce");

        let sent: Vec<u64> = (0..size).flat_map(|to| vector(rank * 100 + to, count)).collect();
        let mut received = vec![0; size * count];
        comm.all_to_all(&sent, &mut received)?;
        let expected: Vec<u64> =
            (0..size).flat_map(|from| vector(from * 100 + rank, count)).collect();
        assert_eq!(received, expected, "all-to-all");
    }
    // A receive from anybody is not given what collective operations send.
    let mut any = [0u8; 1];
    comm.scope(|scope| {
        let coming = scope.recv(None, None, &mut any)?;
        comm.barrier()?;
        comm.send((rank + 1) % size, 3, &[rank as u8])?;
        let (status, _) = coming.wait()?;
        assert_eq!(status.source, (rank + size - 1) % size);
        Ok(())
    })?;
    let error = comm.all_gather(&[1u8], &mut []).unwrap_err().to_string();
    assert!(error.contains("expected"), "{error}");
    say("done");
    comm.finish()
}

#[test]
fn they_give_what_they_are_for() {
    for ranks in [1, 2, 3, 4, 5] {
        assert_eq!(here(ranks, "collectives", &[]).len(), ranks);
    }
}

#[test]
fn and_over_rails() {
    let Some(cluster) = live("hosts = 3\n[[rail]]\n[[rail]]") else { return };
    assert_eq!(well(&cluster, &[0, 1, 2, 0, 1], "collectives", &[]).len(), 5);
}
