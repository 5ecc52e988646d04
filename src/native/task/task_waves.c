/* Smooth random pictures. */
#include "native/task/task_waves.h"

#include <math.h>

enum { WAVES = 4 };

struct wave {
    double across, down, phase;
};

/* cos(a + b) out of those of a and b, so that a pixel costs no cosine. */
static void draw_wave(const struct wave *w, int64_t rows, int64_t columns,
                      double size, float *out)
{
    double step_cos = cos(w->across / size), step_sin = sin(w->across / size);

    for (int64_t y = 0; y < rows; y++) {
        /* In the middle of the pixel. */
        double at =
            w->phase + (w->down * ((double)y + 0.5) + w->across * 0.5) / size;
        double c = cos(at), s = sin(at);

        for (int64_t x = 0; x < columns; x++) {
            double next = c * step_cos - s * step_sin;

            out[y * columns + x] += (float)(c / 2);
            s = s * step_cos + c * step_sin;
            c = next;
        }
    }
}

void pr_waves_draw(struct pr_rng *rng, int64_t channels, int64_t rows,
                   int64_t columns, double size, float *out)
{
    for (int64_t c = 0; c < channels; c++) {
        float *plane = out + c * rows * columns;

        for (int64_t i = 0; i < rows * columns; i++)
            plane[i] = 0;
        for (int i = 0; i < WAVES; i++) {
            struct wave w = {pr_rng_gauss(rng) * 12, pr_rng_gauss(rng) * 12,
                             pr_rng_double(rng) * 6.283185307179586};

            draw_wave(&w, rows, columns, size, plane);
        }
    }
}
