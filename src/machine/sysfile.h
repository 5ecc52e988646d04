/* Small files of /proc and /sys: one read, one write. */
#ifndef PR_MACHINE_SYSFILE_H
#define PR_MACHINE_SYSFILE_H

#include "base/err.h"

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "dir/name"; false, and "", when that is too long. */
bool pr_sysfile_path(char out[static PATH_MAX], const char *dir,
                     const char *name);

/* The text without white space at its end, cut to fit; false when the file
 * cannot be read. The path is fmt and what follows. */
bool pr_sysfile_read(char *out, size_t bytes, const char *fmt, ...)
    PR_PRINTF(3, 4);

bool pr_sysfile_vread(char *out, size_t bytes, const char *fmt, va_list ap);

/* A file that begins with a whole number. */
bool pr_sysfile_number(uint64_t *ret, const char *fmt, ...) PR_PRINTF(2, 3);

/* Writes text to a file as the kernel wants it: at once. 0, or a negative
 * errno. */
int pr_sysfile_write(const char *dir, const char *name, const char *text);

/* The words after "key" at the start of a line, up to its end; false when
 * there is no such line or it does not fit. */
bool pr_sysfile_field(const char *text, const char *key, char *out,
                      size_t bytes);

/* Whether the words in text, parted by any of the characters of by, have this
 * one among them. */
bool pr_sysfile_has_word(const char *text, const char *by, const char *word);

/* Bytes that this process had fetched from devices so far. UINT64_MAX: not
 * known. */
uint64_t pr_machine_device_bytes(void);

/* Memory that could be had without swapping. */
uint64_t pr_machine_available_memory(void);

#endif
