# A reader that has seen enough is no failure.
prony plan --no-defaults -V a="[$(seq -s, 1 20000)]" --format json | head -c 20
