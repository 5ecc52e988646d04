# Without oneDNN: what is missing is said, and the rest works.
mkdir lib
for n in 2 3; do : > lib/libdnnl.so.$n; done
export LD_LIBRARY_PATH="$PWD/lib"
prony run exp.framework=native exp.model=lenet -o out && exit 99
echo "status $?"
prony doctor | sed -n 's/^oneDNN  *\([a-z]*\) .*apt-get install.*/\1/p'
prony run -q exp.workload=null -o null > said
prony model lenet > said
grep -c conv1 said
