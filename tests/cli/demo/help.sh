# tags: valgrind
# The demo itself computes, which takes minutes under valgrind.
prony demo --help
prony demo unasked && exit 99
echo "status $?"
