# tags: valgrind
# A page shows example, text, kind, default, range, unit, since, environment.
prony help exp.timeout
echo ----
prony help exp.phase exp.num_gpus
