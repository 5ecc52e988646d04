/* Small files of /proc and /sys: read, written, and looked at. */
#ifndef PR_MACHINE_KERNEL_FILE_H
#define PR_MACHINE_KERNEL_FILE_H

#include "base/err.h"
#include "base/json/json_write.h"
#include "machine/describe/env.h"

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

/* A path of mountinfo, in place: \040 stands for a blank, and so on. */
void pr_sysfile_unescape(char *s);

/* Bytes that this process had fetched from devices so far. UINT64_MAX: not
 * known. */
uint64_t pr_machine_device_bytes(void);

/* Memory that could be had without swapping. */
uint64_t pr_machine_available_memory(void);

/* ---- below a root that tests can move
 * What the parts of the environment capture (machine/describe/) share: the
 * state, and reading small text files. */

struct pr_nvml;

struct pr_machine_env {
    const struct pr_machine_env_opts *opts;
    const char *root;
    struct pr_json_writer jb;
    bool flags_known; /* /proc/cpuinfo listed the features of the CPU */
    bool hypervisor;  /* … and that it is a virtual one */
};

enum { PR_MACHINE_ENV_LINE = 8192, PR_MACHINE_ENV_WORD = 512 };

/* Text of a small file without white space at its ends, cut to fit. False
 * when there is no such file or nothing in it. */
bool pr_machine_env_text(const struct pr_machine_env *e, char *out, size_t size,
                         const char *fmt, ...) PR_PRINTF(4, 5);

/* A file that begins with a whole number; false when it does not. */
bool pr_machine_env_uint(const struct pr_machine_env *e, uint64_t *ret,
                         const char *fmt, ...) PR_PRINTF(3, 4);

/* Digits at the start of s; false when there are none, or too many. */
bool pr_machine_env_parse_uint(const char *s, uint64_t *ret);

/* A file line by line; longer lines than the buffer are cut. */
struct pr_machine_env_lines {
    int fd;
    bool cut;
    size_t start, end;
    char buf[PR_MACHINE_ENV_LINE];
};
bool pr_machine_env_lines_open(const struct pr_machine_env *e,
                               struct pr_machine_env_lines *l,
                               const char *path);
/* NULL: closed by then. */
char *pr_machine_env_lines_next(struct pr_machine_env_lines *l);
/* Before the end; or no-op. */
void pr_machine_env_lines_close(struct pr_machine_env_lines *l);

/* For lines like "model name : AMD": the value if the key is this one, else
 * NULL. */
const char *pr_machine_env_field(const char *line, const char *key);

/* The word in brackets of "always [madvise] never", in place; else NULL. */
char *pr_machine_env_chosen(char *text);

/* How many numbers a list such as "0-3,8" has. */
uint64_t pr_machine_env_list_count(const char *list);

/* Root and path in out; false when too long. */
bool pr_machine_env_path(const struct pr_machine_env *e, char out[static 4096],
                         const char *fmt, ...) PR_PRINTF(3, 4);

/* Names in a folder that begin with prefix and go on with a digit, or all
 * but dot files when prefix is "": calls see for each, in order of name. */
typedef void pr_machine_env_visit(struct pr_machine_env *e, const char *name,
                                  void *ctx);
void pr_machine_env_each(struct pr_machine_env *e, const char *dir,
                         const char *prefix, pr_machine_env_visit *see,
                         void *ctx);

/* What one pass over /proc/cpuinfo tells; texts are of the first one. */
struct pr_machine_env_cpus {
    char model[256], vendor[64], flags[PR_MACHINE_ENV_LINE];
    char family[32], number[32], stepping[32], microcode[32];
    uint64_t sockets, cores, threads;
    uint64_t socket, socket_cores; /* of the processor being read */
    bool has_socket, has_cores;
    uint64_t seen[64]; /* sockets, one bit each */
};

void pr_machine_env_read_cpus(struct pr_machine_env *e,
                              struct pr_machine_env_cpus *ret);

/* Whether text, words with blanks between them, has this one. */
bool pr_machine_env_has_word(const char *text, const char *word);

/* Text, left out when it is empty. */
void pr_machine_env_put_text(struct pr_machine_env *e, const char *key,
                             const char *text);

/* The text of a file below /sys/devices/system/cpu, if it is there. */
void pr_machine_env_put_cpu_file(struct pr_machine_env *e, const char *key,
                                 const char *name);

/* ---- the parts; each adds its keys to the object that is open */

void pr_machine_env_cpu(struct pr_machine_env *e);
void pr_machine_env_numa(struct pr_machine_env *e);
void pr_machine_env_memory(struct pr_machine_env *e);
void pr_machine_env_cgroup(struct pr_machine_env *e);
void pr_machine_env_gpus(struct pr_machine_env *e);
void pr_machine_env_disks(struct pr_machine_env *e);
void pr_machine_env_network(struct pr_machine_env *e);
void pr_machine_env_sensors(struct pr_machine_env *e);
void pr_machine_env_file_systems(struct pr_machine_env *e);

#endif
