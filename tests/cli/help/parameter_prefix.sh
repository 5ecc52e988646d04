# A parameter that stands for many is found by any of its names.
prony help runtime.env >page
prony help runtime.env.NAME | cmp - page
prony help runtime.env.OMP_NUM_THREADS | cmp - page
cat page
