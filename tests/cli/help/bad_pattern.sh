# A pattern that is wrong is a usage error, wherever it stands.
prony help --params 'exp.(' || echo "exit $?"
prony help --params exp --text '[' || echo "exit $?"
prony help exp --params gpu || echo "exit $?"
