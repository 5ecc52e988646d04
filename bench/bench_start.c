/* Start-up: prony --version and prony help against a program that does
 * nothing. */
#include "bench.h"

enum { ROUNDS = 15, TIMES = 40 };

static double one_round(char *const *argv)
{
    double start = bench_now();

    for (int i = 0; i < TIMES; i++)
        bench_program(argv, "/dev/null");
    return (bench_now() - start) / TIMES;
}

int main(int argc, char **argv)
{
    char *prony = argc > 1 ? argv[1] : NULL, *bare = argc > 2 ? argv[2] : NULL;
    char version[] = "--version", help[] = "help";
    char *ways[3][3] = {{prony, version, NULL}, {prony, help, NULL}, {bare}};
    double samples[3][ROUNDS];

    if (!bare) {
        fprintf(stderr, "usage: bench_start PRONY BARE\n");
        return 2;
    }
    size_t rounds = bench_rounds_of(ROUNDS);
    for (size_t r = 0; r < rounds; r++)
        for (int w = 0; w < 3; w++)
            samples[w][r] = one_round(ways[w]);
    double nothing = bench_median(samples[2], rounds);
    bench_line("prony --version", NULL, bench_median(samples[0], rounds),
               "a bare program", nothing, 1e3, "ms", 3);
    bench_line("prony help", NULL, bench_median(samples[1], rounds),
               "a bare program", nothing, 1e3, "ms", 3);
    return 0;
}
