/* A command line to be raced, put together word by word. */
#include "words.h"

#include <stdarg.h>

static const char *prony;

void bench_put(struct bench_words *w, const char *word)
{
    if (w->count + 1 >= sizeof w->argv / sizeof *w->argv)
        bench_die("too many words: %s", word);
    w->argv[w->count++] = (char *)(uintptr_t)word;
}

void bench_putf(struct bench_words *w, const char *fmt, ...)
{
    va_list ap;

    if (w->texts == sizeof w->text / sizeof *w->text)
        bench_die("too many texts: %s", fmt);
    va_start(ap, fmt);
    vsnprintf(w->text[w->texts], sizeof w->text[0], fmt, ap);
    va_end(ap);
    bench_put(w, w->text[w->texts++]);
}

double bench_words_once(void *words)
{
    struct bench_words *w = words;
    double start = bench_time();
    int status = w->is_broken ? 1 : bench_spawn(w->argv, "/dev/null", false);

    if (status && w->argv[0] == prony)
        bench_die("%s ends with %d", w->argv[0], status);
    w->is_broken = status != 0;
    return status ? -1 : bench_time() - start;
}

int bench_words_main(int argc, char **argv,
                     const struct bench_section *sections)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s PRONY PEERS [SECTION]...\n", argv[0]);
        return 2;
    }
    prony = argv[1];
    argv[1] = argv[0];
    return bench_sections(argc - 1, argv + 1, sections);
}

const char *bench_words_prony(void)
{
    return prony;
}
