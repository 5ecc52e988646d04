# tags: valgrind
# --params and --text as DLBS has them: re.search in any case, union over the
# patterns, intersection of the two options, sorted by name.
tab=$(printf "\t")
prony help --params exp.status
echo ---- any case, one of several patterns
prony help --params '^EXP\.RETRY$' 'null\.' | grep -v "$tab"
echo ---- text alone
prony help --text 'Kind of the DEVICE'
echo ---- both
prony help --params docker --text 'container image' | grep -v "$tab"
prony help --text 'container image' --params docker | grep -v "$tab"
prony help --params=docker --text='container image' | grep -v "$tab"
echo ---- all
prony help --params | grep -c ' = ' >some
prony help --text | grep -c ' = ' | cmp - some
prony help --params | sed -n 's/ = .*//p' >names
LC_ALL=C sort names | cmp - names
test "$(cat some)" -ge 50
