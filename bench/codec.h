/* The bare decoder of a picture format, a codec's limit: a file is read into
 * one buffer and decoded into another. */
#ifndef BENCH_CODEC_H
#define BENCH_CODEC_H

#include "rig.h"

enum { BENCH_CODEC_CAP = 4 << 20 };

struct bench_codec {
    uint8_t *stored, *pixels; /* BENCH_CODEC_CAP bytes each */
    void *decoder;
    void (*decode)(struct bench_codec *c, size_t len);
    const char *name; /* of the codec */
};

/* False: this build has no library for the format "jpeg" or "png". */
bool bench_codec_init(struct bench_codec *c, const char *format);

/* Reads a file, its name relative to an open folder, and decodes it. */
void bench_codec_do(struct bench_codec *c, int folder, const char *name);

#endif
