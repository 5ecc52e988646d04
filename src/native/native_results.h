/*
 * What results of a native training are made of: what this machine can do, and
 * what this process took of it.
 */
#ifndef PR_NATIVE_RESULTS_H
#define PR_NATIVE_RESULTS_H

#include "base/err.h"
#include "job/result_lines.h"

#include <stdbool.h>
#include <stdint.h>

/* Most float32 operations a second on so many threads (0: all), measured in
 * about a quarter of a second. */
int pr_machine_peak(unsigned threads, double *ret,
                    struct pr_err *err) PR_MUST_CHECK;

/* Processors that this thread may use; asked for before a net pins it. */
unsigned pr_machine_processors(void);

/* Nanoseconds that processors worked for this process, on all its threads. */
uint64_t pr_machine_cpu_ns(void);

/* Seconds since this process was started; to a hundredth. -1: not known. */
double pr_machine_age_s(void);

/* The most memory this process had so far, in bytes. 0: not known. */
uint64_t pr_machine_memory_peak(void);

#endif
