try() { prony report "$@" && exit 99; echo "status $?" >&2; }
try
try nowhere
mkdir empty
try empty
