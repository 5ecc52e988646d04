# tags: valgrind
prony demo -o out
