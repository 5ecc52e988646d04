/*
 * What a line on the channel costs the child that says it: by the C header and
 * by the Python module, against a bare write() of the same bytes to the same
 * kind of file; and what reading it back costs. Done in turn, best round of
 * each.
 */
#include "bench.h"

#include "prony/channel.h"
#include "record/channel.h"

enum { ROUNDS = 100, LINES = 2000 };

/* goal: at most so many microseconds a line */
#define LIMIT 2.0

static const char python[] =
    "import os, sys, time\n"
    "sys.path.insert(0, sys.argv[1])\n"
    "from prony import channel\n"
    "n, best = 2000, {}\n"
    "line = b'{\"task\": \"train\", \"units\": \"images/s\", "
    "\"rate\": 812.123456}\\n'\n"
    "fd = channel._channel.fd\n"
    "ways = {'rate': lambda: channel.rate(812.123456, 'images/s', 'train'),\n"
    "        'say': lambda: channel.say(loss=0.123456),\n"
    "        'os.write': lambda: os.write(fd, line)}\n"
    "for round in range(100):\n"
    "    for name, way in ways.items():\n"
    "        start = time.perf_counter()\n"
    "        for i in range(n):\n"
    "            way()\n"
    "        took = (time.perf_counter() - start) / n\n"
    "        best[name] = min(took, best.get(name, took))\n"
    "        os.ftruncate(fd, 0)\n"
    "for name, took in best.items():\n"
    "    print(name, took)\n";

static double by_header(int fd)
{
    double start = bench_now();

    for (int i = 0; i < LINES; i++)
        if (prony_say(fd,
                      "{\"task\": \"train\", \"units\": \"images/s\", "
                      "\"rate\": %.9g}",
                      812.123456 + i))
            exit(1);
    return (bench_now() - start) / LINES;
}

static double by_write(int fd)
{
    static const char line[] = "{\"task\": \"train\", \"units\": \"images/s\", "
                               "\"rate\": 10812.1235}\n";
    double start = bench_now();

    for (int i = 0; i < LINES; i++)
        if (write(fd, line, sizeof line - 1) != sizeof line - 1)
            exit(1);
    return (bench_now() - start) / LINES;
}

static double by_reader(const char *path)
{
    struct pr_channel_sum sum;
    double start = bench_now(), took;

    if (pr_channel_collect(path, NULL, NULL, &sum, NULL) || sum.bad)
        exit(1);
    took = (bench_now() - start) / (double)sum.lines;
    pr_buf_free(&sum.rates);
    return took;
}

static void message_print(const char *name, double ours, const char *other_is,
                          double other)
{
    bench_row(&(struct bench_row){.what = name,
                                  .unit = "us",
                                  .ours = ours * 1e6,
                                  .other_is = other_is,
                                  .other = other * 1e6,
                                  .is_cost = true,
                                  .at_most = LIMIT,
                                  .of_ours = true});
}

static void note(double *best, double took)
{
    if (*best == 0 || took < *best)
        *best = took;
}

static void measure_c(int fd, const char *path)
{
    double header = 0, bare = 0, reader = 0;

    for (int r = 0; r < ROUNDS; r++) {
        note(&bare, by_write(fd));
        if (ftruncate(fd, 0))
            exit(1);
        note(&header, by_header(fd));
        note(&reader, by_reader(path));
        if (ftruncate(fd, 0))
            exit(1);
    }
    message_print("a line by the C header", header, "a bare write()", bare);
    bench_row(&(struct bench_row){.what = "reading a line back",
                                  .unit = "us",
                                  .ours = reader * 1e6,
                                  .is_cost = true});
}

static void measure_python(const char *folder)
{
    const char *program = getenv("PYTHON");
    char *argv[] = {(char *)(program ? program : "python3"), (char *)"-c",
                    (char *)python, (char *)folder, NULL};
    char name[32], out[] = "/tmp/prony-bench-XXXXXX";
    double rate = 0, words = 0, bare = 0, took;
    FILE *f;

    close(mkstemp(out));
    bench_program(argv, out);
    f = fopen(out, "r");
    while (f && fscanf(f, "%31s %lf", name, &took) == 2)
        *(strcmp(name, "rate") == 0  ? &rate
          : strcmp(name, "say") == 0 ? &words
                                     : &bare) = took;
    if (f)
        fclose(f);
    unlink(out);
    if (bare == 0) {
        bench_skip("the channel in Python: python3 does not run it");
        return;
    }
    message_print("a line by Python's channel.rate", rate, "os.write", bare);
    message_print("a line by Python's channel.say", words, "os.write", bare);
}

int main(int argc, char **argv)
{
    char path[] = "/tmp/prony-bench-XXXXXX";
    int fd = mkstemp(path);

    if (argc < 2 || fd < 0) {
        fprintf(stderr, "usage: bench_channel FOLDER_OF_PYTHON\n");
        return 2;
    }
    close(fd);
    unsetenv("PRONY_FD");
    setenv("PRONY_CHANNEL", path, 1);
    fd = prony_channel_open();
    measure_c(fd, path);
    measure_python(argv[1]);
    unlink(path);
    return 0;
}
