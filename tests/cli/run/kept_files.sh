# Files of the user's are not replaced: those in output.folder, and one that is
# called like a log. What a run wrote itself it may write again.
training() {
    prony run -q -o "$1" exp.workload=emulate workflow.generate_data=true \
        dataset.data_folder=data dataset.num_files_train=4 \
        dataset.format=npy dataset.record_length_bytes=4096 \
        reader.batch_size=2 output.folder="$2" >/dev/null 2>err ||
        { echo "status $?"; grep -E 'kept|hint' err; }
}
mkdir mine
echo precious > mine/summary.json
training a mine
cat mine/summary.json
echo "- the same folder again"
training b dlio
training c dlio
ls -A dlio
echo "- one that was changed"
echo "my notes" >> dlio/dlio.log
training d dlio
tail -1 dlio/dlio.log
echo "- a log"
echo precious > thesis.txt
prony run -q -P exp.command='"echo hi"' -P exp.log_file=thesis.txt \
    -P exp.rerun=always -o e >/dev/null 2>err || { echo "status $?"; cat err; }
cat thesis.txt
prony run -q -P exp.command='"echo hi"' -P exp.log_file=hi.log -o f >/dev/null
prony run -q -P exp.command='"echo again"' -P exp.log_file=hi.log \
    -P exp.rerun=always -o g >/dev/null
cat hi.log
echo "- one that the command wrote"
prony run -q -P exp.command='["sh", "-c", "echo mine > own.txt"]' \
    -P exp.log_file=own.txt -o h --format json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["experiments"][0]["warnings"])'
cat own.txt
