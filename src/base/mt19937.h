/*
 * The generator behind numpy's old random functions (MT19937), number for
 * number: sizes and orders that DLIO draws from it come out the same here.
 */
#ifndef PR_BASE_MT19937_H
#define PR_BASE_MT19937_H

#include <stdbool.h>
#include <stdint.h>

struct pr_mt {
    uint32_t word[624];
    unsigned at;
    bool has_gauss; /* normal numbers come in pairs */
    double gauss;
};

void pr_mt_seed(struct pr_mt *mt, uint32_t seed); /* numpy.random.seed */
uint32_t pr_mt_u32(struct pr_mt *mt);
double pr_mt_gauss(struct pr_mt *mt); /* standard_normal */

#endif
