/* A command line to be raced, put together word by word. */
#ifndef BENCH_WORDS_H
#define BENCH_WORDS_H

#include "prony.h"

struct bench_words {
    char text[6][512];
    size_t texts;
    char *argv[16];
    size_t count;
    bool is_broken;
};

void bench_put(struct bench_words *w, const char *word);
void bench_putf(struct bench_words *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Its time, as struct bench_way wants it; its output goes nowhere. Ends the
 * section when ours fails; another one that fails is not tried again. */
double bench_words_once(void *words);

/* The main() of benchmarks whose arguments are PRONY PEERS [SECTION]... */
int bench_words_main(int argc, char **argv,
                     const struct bench_section *sections);

/* PRONY, while sections run. */
const char *bench_words_prony(void);

#endif
