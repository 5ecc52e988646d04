# The examples of the library, compiled as a stranger would.
lib=$(dirname "$(command -v prony)")
real=$(dirname "$(readlink -f "$lib/prony")")
test -e "$real/libprony.so" || { echo "no shared library beside the program; run it in a build folder"; exit 77; }
if grep -qE "__(asan|tsan)_init" "$real/libprony.so"; then
    echo "no plain program loads a library with a sanitizer; use another build"; exit 77
fi
for name in probe_callbacks probe_loop loader; do
    cc -std=c99 -D_POSIX_C_SOURCE=199309L -Wall -Wextra -Wpedantic -Werror \
        -I"$SRC/include" "$SRC/examples/$name.c" \
        -L"$real" -lprony -Wl,-rpath,"$real" -o $name
done
./probe_callbacks
./probe_loop
prony -q generate dataset.format=npz dataset.num_files_train=10 \
    dataset.record_dims='[5,3]' dataset.data_folder=data > /dev/null
./loader data
./loader nowhere || echo "exit $?"
