# tags: valgrind
prony plan --no-defaults -V a='[1, 2]' -V b='["x", "y"]' -P c='"${a}${b}"' --format json
