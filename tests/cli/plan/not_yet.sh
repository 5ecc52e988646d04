# Files of other tools are recognised, and it is said that they cannot be read.
try() { prony plan "$1" && exit 99; echo "status $?" >&2; }
printf 'NUM_GPU=2\n' > lambda.sh
try ./lambda.sh
