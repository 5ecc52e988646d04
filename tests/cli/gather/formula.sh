# A name that a spreadsheet would run is text in both of our CSVs.
mkdir -p r/2xMINE_v2/PyTorch_SSD_FP32
echo 'Training performance = 144.66 FPS' >r/2xMINE_v2/PyTorch_SSD_FP32/a.txt
cat >mine.yaml <<'END'
systems: [{folder: 2xMINE_v2, name: "=cmd|'x'!A0", gpus: 2}]
END
prony gather r --systems mine.yaml -q | tail -1 | cut -d, -f1
prony run -q -P exp.command=true -V n='["=1+2", "@x", -3]' -o out >/dev/null
prony report out --format csv | cut -d, -f2
