/*
 * A trace of what happened when, for ui.perfetto.dev and chrome://tracing:
 * one event a line, with the names that DFTracer gives them. Each thread has a
 * lane of its own that it fills without a lock until it is full.
 */
#ifndef PR_OBSERVE_TRACE_H
#define PR_OBSERVE_TRACE_H

#include "base/err.h"

#include <stdint.h>

/* X(kind, category, name) */
#define PR_SPANS(X)                      \
    X(ROOT, "ai_root", "ai_root")        \
    X(EPOCH, "pipeline", "epoch.block")  \
    X(TRAIN, "pipeline", "train")        \
    X(EVALUATE, "pipeline", "evaluate")  \
    X(FETCH, "dataloader", "fetch.iter") \
    X(COMPUTE, "compute", "compute")     \
    X(CAPTURE, "checkpoint", "capture")  \
    X(RESTART, "checkpoint", "restart")  \
    X(ITEM, "data", "item")              \
    X(PREPROCESS, "data", "preprocess")

enum pr_trace_span_kind {
#define X(kind, category, name) PR_SPAN_##kind,
    PR_SPANS(X)
#undef X
};

struct pr_trace;
struct pr_trace_lane;

/* The file appears when the trace is closed; start_ns is time 0. */
int pr_trace_open(const char *path, uint64_t start_ns, struct pr_trace **ret,
                  struct pr_err *err) PR_MUST_CHECK;

/* A lane for one thread: rows of process pid ("accelerator 3") and thread tid
 * ("reader 0"). It lives as long as the trace. NULL: out of memory. */
struct pr_trace_lane *pr_trace_lane(struct pr_trace *t);

/* Something took from start to end. epoch and step (of ITEM and PREPROCESS:
 * sample) are arguments of the event, UINT64_MAX: none. Rows with spans of
 * these two kinds are named "reader TID", others "training". A lane that is
 * NULL: does nothing. */
void pr_trace_span(struct pr_trace_lane *l, enum pr_trace_span_kind kind,
                   uint64_t pid, uint64_t tid, uint64_t start_ns,
                   uint64_t end_ns, uint64_t epoch, uint64_t step);

/* Writes what is left, names of processes included, and makes the file
 * appear, when no thread uses a lane any more. An error while writing comes up
 * here, and then there is no file. NULL is fine. */
int pr_trace_close(struct pr_trace *t, struct pr_err *err);

#endif
