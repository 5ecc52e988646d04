/*
 * Planning: five variables of ten values, fifty parameters of which ten have
 * expansions, to JSON. Beside it a plan of 1,000, and the physical limit:
 * writing the same bytes.
 */
#include "bench.h"

enum { ROUNDS = 3 };

static void write_config(const char *path, int variables)
{
    FILE *f = fopen(path, "w");

    if (!f)
        exit(1);
    fprintf(f, "{\"parameters\": {\n");
    for (int i = 0; i < 40; i++)
        fprintf(f, "  \"p.plain%d\": %s,\n", i,
                i % 2 ? "\"some text here\"" : "12345");
    for (int i = 0; i < 10; i++)
        fprintf(f,
                "  \"p.made%d\": \"${v.x%d}-$(${v.x%d} * 2 if "
                "'${p.plain0}' else 0)$\"%s\n",
                i, i % variables, (i + 1) % variables, i < 9 ? "," : "");
    fprintf(f, "}, \"variables\": {\n");
    for (int i = 0; i < variables; i++)
        fprintf(f, "  \"v.x%d\": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]%s\n", i,
                i < variables - 1 ? "," : "");
    fprintf(f, "}}\n");
    fclose(f);
}

/* The same bytes once more, by plain writes of 64 KiB. */
static double write_again(const char *from, const char *to)
{
    static char block[1 << 16];
    int in = open(from, O_RDONLY),
        out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    double start = bench_now();
    ssize_t n;

    while ((n = read(in, block, sizeof block)) > 0)
        if (write(out, block, (size_t)n) != n)
            exit(1);
    close(in);
    close(out);
    return bench_now() - start;
}

static void measure(char *prony, const char *dir, int variables)
{
    char config[512], json[512], copy[512];
    char plan[] = "plan", no[] = "--no-defaults", opt[] = "--config",
         format[] = "--format=json";
    char *argv[] = {prony, plan, no, opt, config, format, NULL};
    double seconds[ROUNDS], limit[ROUNDS], peak = 0;

    snprintf(config, sizeof config, "%s/config.json", dir);
    snprintf(json, sizeof json, "%s/plan.json", dir);
    snprintf(copy, sizeof copy, "%s/copy.json", dir);
    write_config(config, variables);
    size_t rounds = bench_rounds_of(ROUNDS);
    for (size_t r = 0; r < rounds; r++) {
        struct bench_cost c = bench_program(argv, json);
        seconds[r] = c.seconds;
        peak = c.peak_mb > peak ? c.peak_mb : peak;
        limit[r] = write_again(json, copy);
    }
    double ours = bench_median(seconds, rounds);
    bool large = variables == 5;
    bench_row(&(struct bench_row){.what = large ? "plan of 100,000 experiments"
                                                : "plan of 1,000 experiments",
                                  .unit = "s",
                                  .ours = ours,
                                  .other_is = "writing the same bytes",
                                  .other = bench_median(limit, rounds),
                                  .is_cost = true,
                                  .at_most = large ? 0.5 : 0,
                                  .of_ours = true});
    bench_row(&(struct bench_row){.what = large ? "memory of the larger plan"
                                                : "memory of the smaller plan",
                                  .unit = "MB",
                                  .ours = peak,
                                  .is_cost = true,
                                  .at_most = large ? 500 : 0});
    unlink(config);
    unlink(json);
    unlink(copy);
}

int main(int argc, char **argv)
{
    char dir[] = "/tmp/prony-bench.XXXXXX";

    if (argc < 2 || !mkdtemp(dir)) {
        fprintf(stderr, "usage: bench_plan PRONY\n");
        return 2;
    }
    measure(argv[1], dir, 3);
    measure(argv[1], dir, 5);
    rmdir(dir);
    return 0;
}
