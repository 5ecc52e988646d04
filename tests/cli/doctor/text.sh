# tags: valgrind
prony doctor
