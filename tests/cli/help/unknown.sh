# The nearest name is suggested: of verbs, sections and parameters, with or
# without the section.
for name in exp.timeot timeout tiemout pln rutime sys.plan_bulder no_such_name; do
    prony help "$name" || echo "exit $?"
done
prony help exp.timeout no_such_name || echo "exit $?"
prony help --format json plan || echo "exit $?"
prony help --format yaml || echo "exit $?"
