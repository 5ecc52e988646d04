# Several runs in the same second have directories of their own.
for i in 1 2 3; do prony run -q -P exp.command=true > /dev/null; done
ls runs | wc -l
