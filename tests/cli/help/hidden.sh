# What tools/gen_docs asks for: names, and a usage error for all others.
prony __verbs | head -3
prony __man | head -2
prony __reference
for args in '__verbs x' '__man prony-nothing.1' '__man a b' '__complete' \
    '__complete csh' '__schema x' '__reference x.md'; do
    prony $args || echo "exit $?"
done
