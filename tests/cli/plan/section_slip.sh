# A slip in the name of a section is warned of when the rest is a name of it;
# other sections are the user's.
prony plan -P exp.command=true datset.format=npz workflwo.train=false \
    datset.mine=1 my.format=npz --format json | sed -n 2p | tr ',' '\n' |
    grep -E 'format|train|mine'
