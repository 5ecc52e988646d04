# Classes that a DLIO config may name are refused where they are named.
printf 'dataset: {format: npz}\nreader:\n  data_loader: custom\n' > w.yaml
prony plan w.yaml && exit 99
echo "status $?"
prony plan unet3d_a100 ++workload.reader.reader_classname=my.Reader && exit 99
echo "status $?"
printf 'checkpoint:\n  checkpoint_mechanism_classname: a.B\n' > c.yaml
prony plan c.yaml && exit 99
echo "status $?"
