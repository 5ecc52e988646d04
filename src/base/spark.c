/* Plots on one line. */
#include "base/spark.h"

/* The mean of the numbers in cell i of so many. */
static double spark_cell_mean(const double *numbers, size_t count, size_t i,
                              size_t cells)
{
    size_t from = count * i / cells, to = count * (i + 1) / cells;
    double sum = 0;

    for (size_t k = from; k < to; k++)
        sum += numbers[k];
    return sum / (double)(to - from);
}

void pr_spark_write(const double *numbers, size_t count, unsigned width,
                    struct pr_buf *out)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄",
                                         "▅", "▆", "▇", "█"};
    size_t cells = count < width ? count : width;
    double low = 0, high = 0;

    for (size_t i = 0; i < cells; i++) {
        double v = spark_cell_mean(numbers, count, i, cells);

        low = !i || v < low ? v : low;
        high = !i || v > high ? v : high;
    }
    for (size_t i = 0; i < cells; i++) {
        double above = spark_cell_mean(numbers, count, i, cells) - low;

        pr_buf_str(out,
                   blocks[high > low ? (int)(above / (high - low) * 7.99) : 0]);
    }
}
