/*
 * Containers by the command line of docker, nvidia-docker, podman, apptainer
 * or singularity: an experiment's arguments become those of the container
 * program. docs/containers.md.
 */
#ifndef PR_LAUNCH_CONTAINER_H
#define PR_LAUNCH_CONTAINER_H

#include "base/err.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pr_container_kind {
    PR_CONTAINER_DOCKER,
    PR_CONTAINER_NVIDIA_DOCKER,
    PR_CONTAINER_PODMAN,
    PR_CONTAINER_APPTAINER,
    PR_CONTAINER_SINGULARITY,
    PR_CONTAINER_KINDS
};

/* The first word that names a container program; PR_CONTAINER_KINDS: none does.
 */
enum pr_container_kind pr_container_find_kind(const char *launcher);
bool pr_container_is_apptainer(
    enum pr_container_kind kind); /* or singularity */

/* What is seen of this machine inside. */
struct pr_mount {
    const char *host;    /* a path, or the name of a volume */
    const char *inside;  /* a path */
    const char *options; /* "ro", or what the program knows; "": none */
};

/* NULL is as good as "" for each text. */
struct pr_container_opts {
    const char *launcher; /* words: "docker", "podman --root X", "apptainer" */
    const char *args;     /* words for "run"; of these, --rm, --name and what
                             asks for a terminal are left out */
    const char *image;
    const char *name; /* of the container: unique on this machine */
    const char *gpus; /* "0,1"; "": none */
    const char *network, *user, *workdir; /* "": not set */
    uint64_t shm_bytes, memory_bytes;     /* 0: not set */
    double cpus;                          /* 0: not set */
    const char *slot_cpus, *slot_mems;    /* "0-3", of the slot it runs in; hold
                                             where args say nothing of them */
    uint64_t slot_memory;                 /* likewise, and memory_bytes; 0: any.
                                             apptainer's child is in the slot */
    const struct pr_mount *mounts;        /* of those with the same inside, and
                                             what args mount, the first holds */
    size_t mount_count;
    const char *const *env;  /* NULL-terminated NAME=value to set inside */
    const char *const *argv; /* what to run inside; NULL: what the image runs */
};

/* What to run, and what to do about it afterwards. In the arena; argvs are
 * NULL-terminated. */
struct pr_container {
    const char **argv;      /* starts it and waits for its end */
    const char **env;       /* NAME=value to add to the environment of that
                               program itself; may be empty */
    const char **kill;      /* ends it with everything inside; NULL: ending the
                               program is enough (apptainer) */
    const char **inspect;   /* tells how it ended: "STATUS OOM"; NULL: nobody
                               knows more than the exit status */
    const char **remove;    /* forgets it; NULL: nothing is left */
    const char **has_image; /* exit status 0 when the image is there; NULL: it
                               is a file, whose path follows */
    const char *image_file; /* NULL as well: it is fetched from its address,
                               nothing can be told beforehand */
};

/* PR_E_CONF for arguments that cannot be split or would let the container run
 * on by itself (-d), and for no image; PR_E_UNAVAIL for a container
 * program that is not known. */
int pr_container_make_plan(const struct pr_container_opts *o,
                           struct pr_arena *a, struct pr_container *ret,
                           struct pr_err *err) PR_MUST_CHECK;

/* The answer of inspect. False: it is none. */
bool pr_container_parse_inspect(const char *text, int *ret_status,
                                bool *ret_oom);

/* What an exit status of the container program itself means (125, 126, 127 of
 * docker and podman; 255 of apptainer), or NULL: it is the program's inside,
 * which may have the same ones; the last line that was said tells apptainer's
 * apart. */
const char *pr_container_status_words(const char *launcher, int status,
                                      const char *line);

#endif
