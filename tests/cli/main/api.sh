# The library as a stranger uses it: headers and libprony alone.
lib=$(dirname "$(command -v prony)")
real=$(dirname "$(readlink -f "$lib/prony")")
test -e "$real/libprony.so" || { echo "no shared library beside the program; run it in a build folder"; exit 77; }
if grep -qE "__(asan|tsan)_init" "$real/libprony.so"; then
    echo "no plain program loads a library with a sanitizer; use another build"; exit 77
fi
cc -I"$SRC/include" "$SRC/examples/api.c" -L"$real" -lprony -Wl,-rpath,"$real" -o api
./api out | grep -c '"status": "ok"'
