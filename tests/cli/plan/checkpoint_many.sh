# A table of checkpoints has a limit of its own, and tells how many are left out.
prony plan default workflow.checkpoint=true -V train.epochs='[1, 2, 3, 4, 5, 6]' \
    -V model.num_layers='[1, 2, 3, 4, 5, 6, 7, 8]' |
    sed -n '/^checkpoints of/,/^$/p' | tail -n 3 | sed 's!-[0-9a-f]*!!'
