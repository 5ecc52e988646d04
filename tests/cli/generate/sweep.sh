# Every data set of a plan, each once.
prony generate -V dataset.record_element_type='["uint8", "float32"]' \
    -V i='[1, 2]' -P dataset.format='"csv"' \
    -P dataset.data_folder='"sets/${dataset.record_element_type}"' \
    -P dataset.num_files_train=1 -P dataset.record_dims='[4]'
find sets -name '*.csv' | sort
# The same folder for different ones is a mistake.
prony generate -V dataset.seed='[1, 2]' dataset.format=csv || echo "status $?"
