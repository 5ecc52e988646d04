# A command is a list of arguments even without any defaults.
prony run -q --no-defaults -P exp.command='["sh", "-c", "echo a b $0"]' -o out -- 'c d' > /dev/null
cat out/experiments/*/log.txt
