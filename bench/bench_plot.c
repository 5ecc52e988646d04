/*
 * A chart of ten series of 10,000 points, from a file of results to a PNG,
 * start of the program included: prony plot against matplotlib, which needs
 * a Python that has it ($PRONY_MATPLOTLIB_PYTHON, else $PYTHON).
 */
#include "prony.h"

#include <math.h>

enum { ROUNDS = 7, SERIES = 10, POINTS = 10000 };

static void write_results(const char *path)
{
    FILE *f = fopen(path, "w");
    double y[SERIES] = {0};
    unsigned seed = 1;

    if (!f)
        exit(1);
    fprintf(f, "{\"data\": [\n");
    for (int i = 0; i < POINTS; i++)
        for (int k = 0; k < SERIES; k++) {
            seed = seed * 1103515245 + 12345;
            y[k] += (double)(seed >> 16 & 1023) / 1024 - 0.5;
            fprintf(f,
                    "{\"exp.model\": \"model%d\", \"exp.step\": %d, "
                    "\"results.time\": %.4f}%s\n",
                    k, i, fabs(y[k]) + 10 * k,
                    i == POINTS - 1 && k == SERIES - 1 ? "" : ",");
        }
    fprintf(f, "]}\n");
    fclose(f);
}

static void measure(char *const *ours, char *const *theirs)
{
    double seconds[2][ROUNDS], peak[2] = {0};

    for (int r = 0; r < ROUNDS; r++)
        for (int w = 0; w < (theirs ? 2 : 1); w++) {
            struct bench_cost c = bench_program(w ? theirs : ours, "/dev/null");

            seconds[w][r] = c.seconds;
            peak[w] = c.peak_mb;
        }
    double mine = bench_median(seconds[0], ROUNDS);
    double other = theirs ? bench_median(seconds[1], ROUNDS) : 0;
    bench_row(&(struct bench_row){
        .what = "chart of 10 series of 10,000 points to PNG",
        .unit = "ms",
        .ours = mine * 1e3,
        .other_is = "matplotlib",
        .other = other * 1e3,
        .is_cost = true,
        .at_least = theirs ? 5 : 0});
    bench_row(&(struct bench_row){.what = "memory of that chart",
                                  .unit = "MB",
                                  .ours = peak[0],
                                  .other_is = "matplotlib",
                                  .other = peak[1],
                                  .is_cost = true});
}

int main(int argc, char **argv)
{
    const char *tmp = getenv("TMPDIR");
    char dir[256], json[300], image[300], peer[512];
    const char *python = getenv("PRONY_MATPLOTLIB_PYTHON");
    int rc;

    if (argc < 3) {
        fprintf(stderr, "usage: bench_plot PRONY PEERS\n");
        return 2;
    }
    if (!python || !*python)
        python = getenv("PYTHON");
    snprintf(dir, sizeof dir, "%s/bench_plot.XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(dir))
        return 1;
    snprintf(json, sizeof json, "%s/results.json", dir);
    snprintf(image, sizeof image, "%s/chart.png", dir);
    snprintf(peer, sizeof peer, "%s/matplotlib_plot.py", argv[2]);
    write_results(json);
    char *ours[] = {argv[1],
                    (char *)"plot",
                    json,
                    (char *)"--xparam=exp.step",
                    (char *)"--yparam=results.time",
                    (char *)"--series=exp.model",
                    (char *)"--chart-file",
                    image,
                    NULL};
    char *theirs[] = {(char *)(python && *python ? python : "python3"), peer,
                      json, image, NULL};
    rc = bench_spawn(ours, "/dev/null", false);
    if (rc) {
        bench_skip("prony plot ends with status %d: no cairo?", rc);
    } else if ((rc = bench_spawn(theirs, "/dev/null", false)) != 0) {
        measure(ours, NULL);
        bench_skip("matplotlib: %s does not have it", theirs[0]);
    } else {
        measure(ours, theirs);
    }
    unlink(json);
    unlink(image);
    rmdir(dir);
    return 0;
}
