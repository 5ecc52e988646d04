# What is wrong is said with its place, and a remedy where there is one.
try()
{
    status=0
    "$@" || status=$?
    echo "exit $status"
}
try prony model resnet51
try prony model nothing_like_it
try prony model ./missing.yaml
try prony model resnet50 --input 3,64
try prony model resnet50 --input 3,a,4
try prony model resnet50 --input 3,4,4,4
try prony model resnet50 --classes 0
try prony model --classes 10
try prony model acoustic_model --input 3,64,64
try prony model vgg16 --input 3,16,16
printf 'model: other\ninput: [4]\nclasses: 2\nlayers: [{linear: 2}]\n' > m.yaml
try prony model ./m.yaml
printf 'model: m\ninput: [4]\nclasses: 2\nlayers: [{linear: 2}\n' > m.yaml
try prony model ./m.yaml
printf 'model: m\ninput: [4]\nclasses: 2\nlayers:\n- {liner: 2}\n' > m.yaml
try prony model ./m.yaml
try prony model ./m.yaml --format json
printf 'model: e\ninput: [4]\nitem: "a\\n__results.x__= 1"\nclasses: 2\nlayers: [{linear: 2}]\n' > e.yaml
try prony model ./e.yaml
# A bad one among those that are installed does not hide the others.
mkdir -p share/workloads share/models
cp m.yaml share/models/
cp "$SRC/models/lenet.yaml" share/models/
try env PRONY_SHARE=share prony model
rm -r share/models
try env PRONY_SHARE=share prony model
try env PRONY_SHARE=share prony model lenet
