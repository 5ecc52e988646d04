/* The workload `loader` against the bare codec and torch's DataLoader. */
#ifndef BENCH_LOADING_H
#define BENCH_LOADING_H

void bench_loading(const char *dir);

#endif
