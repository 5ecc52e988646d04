/* Smooth pictures of 500 x 375, which decode as photographs do, as JPEG. */
#ifndef BENCH_PICTURES_H
#define BENCH_PICTURES_H

#include "rig.h"

enum { BENCH_PICTURE_H = 375, BENCH_PICTURE_W = 500 };

/* Three bytes for each point. */
void bench_picture_draw(uint8_t *out, unsigned number);

/* False: this build has no turbojpeg. */
bool bench_picture_write(const char *path, unsigned number);

#endif
