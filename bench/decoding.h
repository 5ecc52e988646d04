/* All files of a folder, decoded by the bare codec in several threads. */
#ifndef BENCH_DECODING_H
#define BENCH_DECODING_H

#include "rig.h"

struct bench_decoding;

/* The folder's files are to have one format. NULL: this build has no library
 * for it. Never freed: the program ends. */
struct bench_decoding *bench_decoding_new(const char *folder,
                                          const char *format, unsigned threads);

unsigned bench_decoding_files(const struct bench_decoding *d);

/* Seconds of one file; ctx: a struct bench_decoding. */
double bench_decoding_once(void *ctx);

#endif
