# tags: valgrind
# The page of a verb: usage, examples first, options by group with choices.
prony run --help >run
prony help run | cmp - run
prony help jobs | cmp - run
prony run -P 1 x.yaml -h | cmp - run
cat run
prony help demo plan | grep '^usage'
