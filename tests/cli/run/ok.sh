# tags: valgrind
prony run -q -P exp.command='["sh", "-c", "echo __results.speed__= $1; echo words", "x", "${n}"]' -V n='[1, 2]' -o out
cat out/experiments/0001-*/log.txt
