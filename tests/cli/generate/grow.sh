# More files are asked for: those there get their new names, the rest is made.
# Fewer: the first of those there are used.
set="dataset.format=npy dataset.record_dims=[10] --threads 1"
prony generate $set dataset.num_files_train=8 dataset.num_files_eval=1
prony generate $set dataset.num_files_train=20 dataset.num_files_eval=1 --verify
ls data/train | head -3
prony generate $set dataset.num_files_train=12
ls data/train | wc -l
prony generate $set dataset.num_files_train=20 dataset.num_files_eval=1 \
    dataset.data_folder=once > said
diff -r -x '.prony*' data once && cmp data/.prony-dataset.json once/.prony-dataset.json && echo the same
