prony run -q -P exp.command=echo -o out -- --flag 'two words' > /dev/null
cat out/experiments/*/log.txt
