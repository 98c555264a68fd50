/* A complete exchange by MPI: MPI_Alltoall, then rounds of pairs by MPI_Sendrecv.
 *
 *     exchange BYTES...
 *
 * prints for each size the median time of 15 exchanges, in microseconds, of the slowest rank. The
 * number of ranks must be a power of two. Build: mpicc -O2 -o exchange exchange.c */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM = 2, RUNS = 15 };

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void pairs(const char *from, char *to, int bytes, int rank, int ranks) {
    for (int round = 1; round < ranks; round++) {
        int peer = rank ^ round;
        MPI_Sendrecv(from + (size_t)peer * bytes, bytes, MPI_BYTE, peer, 0,
                     to + (size_t)peer * bytes, bytes, MPI_BYTE, peer, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv) {
    int ranks, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (ranks & (ranks - 1)) {
        fprintf(stderr, "exchange: %d ranks, expected a power of two\n", ranks);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int i = 1; i < argc; i++) {
        int bytes = atoi(argv[i]);
        char *from = calloc(ranks, bytes), *to = calloc(ranks, bytes);
        for (int paired = 0; paired < 2; paired++) {
            double times[RUNS];
            for (int run = -WARM; run < RUNS; run++) {
                MPI_Barrier(MPI_COMM_WORLD);
                double begin = MPI_Wtime();
                if (paired)
                    pairs(from, to, bytes, rank, ranks);
                else
                    MPI_Alltoall(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, MPI_COMM_WORLD);
                double mine = MPI_Wtime() - begin, slowest;
                MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
                if (run >= 0)
                    times[run] = slowest * 1e6;
            }
            qsort(times, RUNS, sizeof *times, compare);
            if (rank == 0) {
                printf("%d B by %s: %.0f us (%.0f to %.0f)\n", bytes,
                       paired ? "MPI_Sendrecv" : "MPI_Alltoall", times[RUNS / 2], times[0], times[RUNS - 1]);
                fflush(stdout);
            }
        }
        free(from);
        free(to);
    }
    MPI_Finalize();
    return 0;
}
