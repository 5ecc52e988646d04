# Without oneDNN: what is missing is said, and the rest works.
mkdir lib
for f in libdnnl.so.2 libdnnl.so.3 /usr/lib/*/libdnnl.so.*; do : > "lib/${f##*/}"; done
export LD_LIBRARY_PATH="$PWD/lib"
prony run exp.framework=native exp.model=lenet -o out && exit 99
echo "status $?"
prony doctor | sed -n 's/^oneDNN  *\([a-z]*\) .*apt-get install.*/\1/p'
prony run -q exp.workload=null -o null > said
prony model lenet > said
grep -c conv1 said
