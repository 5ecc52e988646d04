/* The two sides of png, and what they share of libpng. */
#ifndef PR_FORMAT_PNG_H
#define PR_FORMAT_PNG_H

#include "format/image/image.h"

#include <png.h>

/* The largest side, by the format. */
enum { PR_PNG_SIDE = 0x7fffffff };

struct pr_png {
    png_structp png;
    png_infop info;
    char text[96]; /* of the error */
    bool no_memory;
    int rc; /* of an error of ours that the library passes on */
};

int pr_png_start(struct pr_png *lib, bool reads,
                 struct pr_err *err) PR_MUST_CHECK;

/* Calls body; an error of the library ends it. 0, or -1 for an error. */
int pr_png_run(struct pr_png *lib, void (*body)(void *ctx), void *ctx);

/* Fills err after that. */
int pr_png_failed(const struct pr_png *lib, const char *where,
                  struct pr_err *err);

void pr_png_stop(struct pr_png *lib, bool reads);

/* 16-bit samples are big-endian in files. */
void pr_png_set_byte_order(struct pr_png *lib);

/* ---- reading: png_read.c */

struct pr_png_reader {
    struct pr_image_reader image; /* first */
    unsigned depth, type, bits;   /* bits of a pixel as stored */
    bool transparent;             /* the palette is */
    uint64_t packed;              /* bytes of compressed image */
    /* while reading */
    struct pr_png lib;
    const uint8_t *at, *end;
    uint8_t *out;
    size_t row; /* bytes */
    bool skip_checksum;
};

int pr_png_open(struct pr_reader *r, struct pr_err *err) PR_MUST_CHECK;
int pr_png_read(struct pr_reader *r, uint64_t i, void *buf, size_t cap,
                struct pr_sample *ret, struct pr_err *err) PR_MUST_CHECK;

#endif
