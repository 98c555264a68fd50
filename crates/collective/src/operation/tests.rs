use super::*;

/// The names that are read, and those that a list of algorithms has.
macro_rules! assert_listed {
    ($($choice:ident)*) => {$(
        let listed: Vec<&str> = $choice::ALL.iter().map(|algorithm| algorithm.name()).collect();
        assert_eq!(declared::choices::<$choice>(), listed);
        for algorithm in $choice::ALL {
            assert!(algorithm.sentence().ends_with('.'), "{}", algorithm.name());
        }
        assert!($choice::ALL.contains(&$choice::default()));
    )*};
}

#[test]
fn what_is_listed_is_what_is_read() {
    assert_listed!(Barrier Broadcast Gather Scatter AllGather Reduce AllReduce ReduceScatter Scan);
    assert_listed!(ExclusiveScan AllToAll);
    assert_eq!(Broadcast::ALL[1].keys(), ["segment"]);
    let operations = Operation::all();
    let listed: Vec<&str> = operations.iter().map(Operation::name).collect();
    assert_eq!(declared::choices::<Operation>(), listed);
    assert_eq!(operations[5].keys(), ["algorithm", "root", "size", "combine"]);
    assert_eq!(operations[0].algorithm().name, "dissemination");
}

const KIB: Bytes = Bytes::new(1024);

fn error(operation: Operation, ranks: u32) -> String {
    operation.collective(ranks).unwrap_err().to_string()
}

#[test]
fn what_cannot_be_is_refused() {
    let broadcast =
        |algorithm, root, bytes| Operation::Broadcast { algorithm, root, size: Bytes::new(bytes) };
    let binomial = Broadcast::Binomial {};
    assert_eq!(error(broadcast(binomial, 0, 1), 0), "found no ranks, expected at least one");
    assert_eq!(
        error(broadcast(binomial, 4, 1), 4),
        "found the root 4, expected a rank from 0 to 3"
    );
    assert_eq!(
        error(broadcast(binomial, 0, 1 << 32), 4),
        "a message would have 4294967296 bytes, expected fewer than 4 GiB; ask for fewer bytes"
    );
    let chain = |segment| Broadcast::Chain { segment: Bytes::new(segment) };
    assert_eq!(error(broadcast(chain(0), 0, 1), 4), "found segments of 0 B, expected at least 1 B");
    let too_many = "the schedule would have more than 67108864 operations; \
                    ask for fewer ranks, longer segments or another algorithm";
    assert_eq!(error(broadcast(chain(1), 0, u64::MAX), 4), too_many);
    for algorithm in AllToAll::ALL {
        for ranks in [60_000, u32::MAX / 1000] {
            assert_eq!(error(Operation::AllToAll { algorithm, size: KIB }, ranks), too_many);
        }
    }
    let combine = Some(Rate::from_bytes_per_second(0));
    let reduce = Operation::Reduce { algorithm: Reduce::Linear {}, root: 0, size: KIB, combine };
    assert_eq!(
        error(reduce, 4),
        "combining at 0 B/s takes too long, expected a rate of at least 1 kB/s"
    );
}

#[test]
fn parts_of_a_long_vector_may_be_short_enough() {
    let algorithm = AllReduce::Ring {};
    let bytes = Bytes::new(u64::MAX / 4 * 3);
    let ring = Operation::AllReduce { algorithm, size: bytes, combine: None };
    assert!(matches!(ring.collective(5), Err(OperationError::TooLong { .. })));
    let ring = Operation::AllReduce { algorithm, size: Bytes::new(5 << 31), combine: None };
    assert_eq!(ring.collective(5).unwrap().schedule.bytes(), 2 * 4 * (5 << 31));
}

#[test]
fn roots_may_have_much_to_do() {
    let (root, bytes) = (0, Bytes::new(8));
    let gather = Operation::Gather { algorithm: Gather::Linear {}, root, size: bytes };
    assert_eq!(gather.collective(100_000).unwrap().schedule.all().len(), 199_998);
    let gather = Operation::Gather { algorithm: Gather::Binomial {}, root, size: bytes };
    assert_eq!(gather.collective(100_000).unwrap().schedule.all().len(), 199_998);
}
