# --verify --threads 1 names the files that are wrong.
set="dataset.format=npy dataset.record_dims=[1000] dataset.num_files_train=3"
prony generate $set > said
printf X | dd of=data/train/img_1_of_3.npy bs=1 seek=700 conv=notrunc 2> said
prony generate $set --verify --threads 1 || echo "status $?"
: > data/train/img_2_of_3.npy
prony generate $set --verify --threads 1 --threads 1 || echo "status $?"
rm data/train/img_1_of_3.npy
prony generate $set --verify --threads 1 --resume
