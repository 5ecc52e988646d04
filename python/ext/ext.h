/*
 * The extension _prony: what the package prony calls in C. It has no logic of
 * its own about measuring: prony/probe.h and prony/loader.h have.
 *
 * Objects belong to the thread that holds the GIL. It is let go where a call
 * may block.
 */
#ifndef PRONY_PYTHON_EXT_H
#define PRONY_PYTHON_EXT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <pythread.h>

#include "prony/probe.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- errors.c: a pr_err as an exception of its class, with where and hint */

int pr_py_errors_add(PyObject *module);

/* Raises it; returns NULL. */
void *pr_py_raise(const struct pr_err *err);

/* ---- config.c: benchy's settings as a dict of dicts, and back */

PyObject *pr_py_read_config(PyObject *module, PyObject *args);
int pr_py_config_of(PyObject *dict, struct pr_probe_config *ret);

/* ---- samples.c: how many samples a batch has */

enum pr_py_rule {
    PR_PY_GIVEN,     /* as many as the caller said */
    PR_PY_FIRST_DIM, /* the first dimension of the first array in it */
    PR_PY_LEN_FIRST, /* the length of its first member */
    PR_PY_LEN,       /* its own length */
};

/* 0: that cannot be told by this rule. No exception is left. */
uint64_t pr_py_samples(PyObject *batch, enum pr_py_rule rule);

/* The rule that gives `want` for this batch; with want 0 the likeliest. */
enum pr_py_rule pr_py_samples_rule(PyObject *batch, uint64_t want);

/* ---- tools.c: NVTX ranges and the CUDA profiler, where they are there */

bool pr_py_nvtx(void); /* somebody listens */
void pr_py_nvtx_push(const char *name);
void pr_py_nvtx_pop(void);
PyObject *pr_py_profiler(PyObject *module, PyObject *start);

/* ---- spans.c: the trace of PRONY_TRACE */

struct pr_py_spans;

struct pr_py_spans *pr_py_spans_new(uint64_t rank); /* NULL: no memory */
void pr_py_spans_free(struct pr_py_spans *s);
uint64_t pr_py_now(void); /* nanoseconds */

/* label: of the trial; NULL name: the trial itself. */
void pr_py_spans_add(struct pr_py_spans *s, const char *label, const char *name,
                     uint64_t step, uint64_t start, uint64_t end);
int pr_py_spans_write(struct pr_py_spans *s, const char *path,
                      struct pr_err *err);

/* ---- loop.c: one thread at a time */

struct pr_py_turn {
    PyThread_type_lock lock;
    unsigned long owner; /* a thread; 0: nobody's turn */
    unsigned forks;      /* before the process that made it */
};

int pr_py_turn_init(struct pr_py_turn *t); /* 0, or -1 with an exception */
void pr_py_turn_done(struct pr_py_turn *t);

/* Waits for it, without the GIL. 1: taken; 0: this thread has it already; -1:
 * an exception, of a signal's handler. */
int pr_py_turn_take(struct pr_py_turn *t);
void pr_py_turn_give(struct pr_py_turn *t);

/* The same for iterators: one that has it already is an exception, too. */
int pr_py_turn_only(struct pr_py_turn *t);

int pr_py_loop_add(PyObject *module);

/* ---- probe.c */

struct pr_py_probe {
    PyObject_HEAD struct pr_probe *probe;
    struct pr_probe_config config;
    PyObject *write; /* takes a line; or NULL */
    PyObject *sum;   /* sums a list of floats over all ranks; or NULL */
    PyObject *warn;  /* takes what failed and the exception; or NULL */
    uint64_t ranks;
    uint64_t first;       /* samples of the first batch; 0: not known */
    enum pr_py_rule rule; /* how to count them */
    bool ruled;           /* that was found out */
    bool alone;    /* the trial was cut short, perhaps on this rank only */
    bool unsaved;  /* that the result cannot be written was told */
    bool stopped;  /* nothing is measured any more */
    bool finished; /* the summary was said */
    struct pr_py_turn turn;    /* to use `probe` */
    uint64_t serial;           /* of the trial that goes on; 0: none does */
    uint64_t serials;          /* given so far */
    uint64_t trial_ns;         /* when it began; for a trace */
    bool nvtx;                 /* ranges of it are open */
    struct pr_py_spans *spans; /* NULL: no trace is wanted */
    uint64_t started;          /* wall clock */
    pid_t pid;                 /* a forked child leaves it alone */
    PyObject *wrong[3]; /* what ends a callback and is no mistake (Ctrl-C),
                           until it can be passed on */
};

int pr_py_probe_add(PyObject *module);

/* A mistake that was raised while measuring is told, and the loop goes on: 0.
 * Other exceptions (Ctrl-C, an exit) are kept for pr_py_probe_leave. */
void pr_py_probe_told(struct pr_py_probe *p, const char *what);

/* To use p->probe: 1; 0: this thread does already, in a callback; -1: an
 * exception. */
int pr_py_probe_enter(struct pr_py_probe *p);

/* 0, or -1 with what was kept. */
int pr_py_probe_leave(struct pr_py_probe *p);

/* Ends the trial that goes on, if any; whole: this rank did all of it, and so
 * do the others. Between enter and leave. */
void pr_py_probe_end(struct pr_py_probe *p, bool whole);

/* ---- record.c */

PyObject *pr_py_metrics(const struct pr_py_probe *p);

/* A method of Probe. */
PyObject *pr_py_record(PyObject *self, PyObject *args);

/* ---- trial.c */

int pr_py_trial_add(PyObject *module);
PyObject *pr_py_trial_new(struct pr_py_probe *p, PyObject *args,
                          PyObject *keywords);

/* ---- types.c: what the limited API leaves to do by hand */

/* Makes a type from its spec and puts it into the module. */
PyObject *pr_py_type_add(PyObject *module, PyType_Spec *spec, const char *name);
PyObject *pr_py_alloc(PyObject *type);
void pr_py_free(PyObject *self);

PyObject *pr_py_none(void);             /* a new reference to None */
PyObject *pr_py_given(PyObject *o);     /* one to o; NULL for None and NULL */
PyObject *pr_py_itself(PyObject *self); /* for tp_iter of iterators */

#endif
