# What DLBS's launchers call: what a log says of failures, batches that were too
# large, times of Caffe. In sh and bash.
cat > use.sh <<'END'
. "$SRC/scripts/utils.sh"
says() { "$@" > /dev/null 2>&1 && echo "$*: yes" || echo "$*: no"; }
echo '__results.time__= 2.5' > good
echo 'tensorflow: ResourceExhaustedError: OOM' > oom
: > empty
for log in good oom empty gone; do
    says tf_error $log
    says caffe_error $log
    says mxnet_error $log training
done
rm -f batches
for batch in 64 128 32; do update_error_file batches $batch; done
says is_batch_good batches 31
says is_batch_good batches 32
says is_batch_good none 1000
cat > train <<'EOF'
I1116 23:59:59.500 1 solver.cpp:1] Solving AlexNet
I1116 00:00:01.500 1 caffe.cpp:2] Optimization Done.
EOF
echo 'I1 10:00:00.0 1 caffe.cpp:3] Average Forward pass: 12.5 ms.' > infer
printf 'F1 10:00 x.cpp:4] Check failed: error == "cudaSuccess"\t(2 vs. 0)\n*** Check failure stack trace: ***\n' > check
says caffe_postprocess_log train batches training 16 32 10
says caffe_postprocess_log infer batches inference 16 32 10
says caffe_postprocess_log check batches training 16 32 10
says caffe_postprocess_log empty batches training 8 32 10
says assert_singularity_img_exists good
(exp_docker=true && exp_singularity=true && assert_not_docker_and_singularity) | sed 's/.*\] *//'
says assert_not_docker_and_singularity
grep -h __ train infer check empty batches
cat batches
END
sh use.sh > sh.txt
cat sh.txt
! command -v bash > /dev/null || bash use.sh | cmp - sh.txt
