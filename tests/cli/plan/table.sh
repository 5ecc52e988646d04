prony plan -P exp.command='"sleep ${t}"' -V t='[1, 2]' --timeout 3 2>&1 || true
prony plan -P exp.command='"sleep ${t}"' -V t='[1, 2]' exp.timeout=3
