# Control characters of a log or config never reach the terminal.
prony run -P exp.command='["sh", "-c", "printf \"bad \\033[31m red\"; exit 3"]' -P exp.name='"\u001b[31mname"' -o out || true
prony plan -P exp.command='"\u001b[31mred"'
