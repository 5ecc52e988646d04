# In one file today's name is stronger than an older one beside it, with a
# warning when they differ.
cat > both.yaml <<'Y'
dataset: {record_length: 5, record_length_bytes: 7, num_files_val: 3}
reader: {batch_size: 3}
data_loader: {batch_size: 4, read_threads: 9}
Y
prony plan both.yaml --format json | sed -n 2p | tr ',' '\n' |
    grep -E 'dataset|reader'
