/* Square roots of a vector, for loops of kernel_vec.h. */
#ifndef PR_NN_KERNEL_ROOT_H
#define PR_NN_KERNEL_ROOT_H

#include "nn/kernel/kernel_vec.h"

#include <math.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#if defined(__SSE2__) && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define PR_HAS_SHUFFLE 1
#endif
#endif

/* Halves are taken apart and put together in registers: in memory, two small
 * stores and a large load of both would wait for each other. */
PR_INLINE void pr_vec_root(pr_vec *x)
{
#if PR_HAS_SHUFFLE
    __m128 low = _mm_sqrt_ps(__builtin_shufflevector(*x, *x, 0, 1, 2, 3));
    __m128 high = _mm_sqrt_ps(__builtin_shufflevector(*x, *x, 4, 5, 6, 7));

    *x = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
#else
    for (int i = 0; i < PR_LANES; i++)
        (*x)[i] = sqrtf((*x)[i]);
#endif
}

#endif
