# Without -o: a folder in runs/, named after the target and the second, with a
# number if that is taken. Two runs have two, each with all its files.
prony run -q "$SRC/examples/hello.yaml" > /dev/null
prony run -q "$SRC/examples/hello.yaml" > /dev/null
for dir in runs/*; do
    echo "$dir" | sed 's/[0-9]/N/g; s/Z\.N$/Z/'
    ls "$dir"
    ls "$dir"/experiments/*
    cat "$dir"/experiments/*/log.txt
done
