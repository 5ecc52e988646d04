/*
 * Hoare's selection: of the two parts of a list only the one that holds place
 * k is looked at again, so that a median takes a few looks at each value.
 */
#include "base/stats/nth.h"

static void swap_doubles(double *a, double *b)
{
    double t = *a;

    *a = *b;
    *b = t;
}

/* The middle of three: what is in order already is no bad case. */
static double pick_pivot(double *low, double *mid, double *high)
{
    if (*mid < *low)
        swap_doubles(mid, low);
    if (*high < *low)
        swap_doubles(high, low);
    if (*high < *mid)
        swap_doubles(high, mid);
    return *mid;
}

void pr_select_nth(double *v, size_t n, size_t k)
{
    double *low = v, *high = v + n - 1, *want = v + k;

    while (low < high) {
        double pivot = pick_pivot(low, low + (high - low) / 2, high);
        double *i = low, *j = high;

        while (i <= j) {
            for (; *i < pivot; i++)
                ;
            for (; *j > pivot; j--)
                ;
            if (i > j)
                break;
            swap_doubles(i++, j);
            if (j == v)
                break; /* nothing is before it */
            j--;
        }
        if (want >= i)
            low = i;
        else if (want <= j && j < i)
            high = j;
        else
            return; /* between the parts, where all are equal */
    }
}
