# Either name of a parameter or section finds it, and help shows both.
prony help dataset.record_length | head -n 1
prony help dataset.record_length_bytes | tail -n 1
prony help reader.prefetch | tail -n 2
prony help data_loader | head -n 2
prony help --params num_files_val
prony help --params train.do_eval --format json | grep -A 5 older_names
