try() { prony "$@" && exit 99; echo "status $?" >&2; }
try plan -P
try plan -P a
try plan --frmat json
try plan --format xml
try plan --co x
try plan nosuch
try pln
