/*
 * fio as a limit: two or more jobs at once, each with a file of its own, timed
 * by fio itself. What it does to open and lay out files is not in its time.
 */
#ifndef BENCH_FIO_H
#define BENCH_FIO_H

#include "prony.h"

struct bench_fio {
    const char *dir;     /* gets fio.job and fio.json */
    const char *options; /* lines for all jobs: "direct=1\n" */
    const char *const *files;
    size_t count;
    bool writes;  /* files of its own, removed afterwards */
    double bytes; /* of a file */
};

/* Seconds until the last job was done; as struct bench_way wants it. */
double bench_fio_once(void *fio);

#endif
