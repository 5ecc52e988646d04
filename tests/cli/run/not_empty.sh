mkdir out
touch out/precious
prony run -P exp.command=true -o out
