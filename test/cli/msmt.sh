# Multi-tissue deconvolution: a series alone, responses, fits that other commands read, normalisation. Sourced by run.sh.
"$tool" phantom "$work/two" --shape 16 16 16 --directions 30 --bvals 1000 2500 -q
two="$work/two/dwi.nii.gz"
# all voxels if only a series is given; for the rest four slices are enough
slices="$two $work/two/dwi.bval $work/two/dwi.bvec $work/two/slices.nii"
four_slices "$work/two/mask.nii.gz" "$work/two/slices.nii"

# entry FILE KEY... VALUE: checks an entry of a sidecar in out
entry() {
    require python3 - "$work/out/$1" "$@" <<'PYTHON'
import json, sys
entry = json.load(open(sys.argv[1]))
for key in sys.argv[3:-1]: entry = entry[key]
assert entry == json.loads(sys.argv[-1]), (entry, sys.argv[-1])
PYTHON
}

# everything from the series: table beside it, mask, responses, model, seeds
succeeds track "$two" $few --write-mask m.nii.gz -o a.trx
entry a.json model name '"msmt"'
entry a.json model sh_order 8
entry a.json parameters dg '"ifod2"'
entry a.json parameters normalise true
entry a.json model tissues gm response '"dhollander"'
entry a.json model normalisation outliers "$(python3 -c "import json; print(json.load(open('$work/out/a.json'))['model']['normalisation']['outliers'])")"
require test -s "$work/out/m.nii.gz"
require python3 -c "import json; assert json.load(open('$work/out/a.json'))['counts']['streamlines'] > 25"
succeeds track "$two" --dry-run -o d.trx
grep -q '^seeds .*made from the fit' "$work/stdout" || note "--dry-run does not tell where seeds come from"
grep -q '^model  *msmt, order 8' "$work/stdout" || note "--dry-run does not show the model"

# shards of it, each of which makes its seeds after the fit; the table by FSL's names; without a table
mkdir "$work/fsl" && cp "$two" "$work/fsl/data.nii.gz" && cp "$work/two/dwi.bval" "$work/fsl/bvals" && cp "$work/two/dwi.bvec" "$work/fsl/bvecs"
for i in 1 2; do succeeds track "$work/fsl/data.nii.gz" $few --shard $i/2 -o s.trx; done
succeeds merge s_shard-1of2.trx s_shard-2of2.trx -o s.trx
require cmp "$work/out/a.trx" "$work/out/s.trx"
clean

# responses, and a fit with them, which tracking reads
succeeds response "$two" r
for file in r_wm.txt r_gm.txt r_csf.txt r_voxels.nii.gz r_mask.nii.gz r.json; do require test -s "$work/out/$file"; done
grep -q '^# Shells: 0,1000,2500' "$work/out/r_wm.txt" || note "the response does not tell its shells"
given="--response-wm r_wm.txt --response-gm r_gm.txt --response-csf r_csf.txt"
succeeds fit "$two" f --model msmt $given
for file in fa.nii.gz tensor.nii.gz wm.nii.gz gm.nii.gz csf.nii.gz vf.nii.gz mask.nii.gz wm.txt gm.txt csf.txt; do require test -s "$work/out/f_$file"; done
require cmp "$work/out/r_wm.txt" "$work/out/f_wm.txt"
entry f.json parameters normalise true
entry f.json outputs fractions '"f_vf.nii.gz"'
succeeds track $slices $given $few -o a.trx
succeeds track --sh f_wm.nii.gz --fa f_fa.nii.gz --mask f_mask.nii.gz --roi f_mask.nii.gz $few -o c.trx
succeeds fit $slices o --model msmt $given --no-normalise
entry o.json model normalisation null
entry o.json parameters normalise false
succeeds fit $slices n --model msmt $given --normalise --sh-order 10
entry n.json parameters normalise true
require python3 -c "import json; assert json.load(open('$work/out/n.json'))['model']['normalisation']['scale'] > 0"
clean
# the examples of the helps and of the manual, one after the other
cp "$work/two/dwi."* "$work/two/5tt.nii.gz" "$work/out" && cp "$work/two/roi.nii.gz" "$work/out/wm.nii.gz" && cp "$work/two/slices.nii" "$work/out/mask.nii.gz"
{
    "$tool" response --help | sed -n 's/^    glslines //p'
    "$tool" fit --help | sed -n 's/^    glslines //p' | sed "s/\.gz sub01/.gz again/; s/sub01_/again_/g; s/^track/& $few/"
    sed -n '/^glslines response/,/^```/s/^glslines \(.*\.gz \)sub01/\1mrtrix/p; s/^glslines \(response .*\)/\1/p' "$here/../../src/doc/models.md"
} > examples
[ "$(wc -l < examples)" -eq 11 ] || note "examples: $(cat examples)"
while read -r line; do
    # shellcheck disable=SC2086
    succeeds $line
done < examples
clean
succeeds response "$two" r
# two tissues, if there is one shell or two responses
succeeds fit "$dwi" "$bval" "$bvec" "$mask" s --model auto
require test ! -e "$work/out/s_gm.nii.gz"
succeeds fit $slices w --model msmt --response-wm r_wm.txt --response-csf r_csf.txt
require test ! -e "$work/out/w_gm.nii.gz"
for algorithm in tournier fa; do
    succeeds response "$two" $algorithm --algorithm $algorithm --shells 1000
    grep -q '^# Shells: 1000' "$work/out/${algorithm}_response.txt" || note "$algorithm: not the shell asked for"
done
succeeds track "$two" --model csd --response tournier_response.txt --shells 1000 $few -o t.trx
# responses from given voxels: all shells
succeeds response "$two" "$work/two/dwi.bval" "$work/two/dwi.bvec" "$work/two/roi.nii.gz" manual --algorithm manual
grep -q '^# Shells: 0,1000,2500' "$work/out/manual_response.txt" || note "manual: not all shells"
# responses from an image of tissues, which may have another grid; from all voxels above an FA
succeeds response "$two" "$work/two/dwi.bval" "$work/two/dwi.bvec" "$work/two/mask.nii.gz" five --algorithm msmt_5tt --act "$work/two/5tt.nii.gz" --pvf 0.6 --voxels 100
for file in wm.txt gm.txt csf.txt voxels.nii.gz; do require test -s "$work/out/five_$file"; done
grep -q '^# Shells: 0,1000,2500' "$work/out/five_gm.txt" || note "msmt_5tt: not all shells"
entry five.json parameters wm_algorithm '"tournier"'
entry five.json parameters pvf 0.6
entry five.json responses wm voxels 100
succeeds response "$two" above --algorithm fa --fa-threshold 0.5
entry above.json parameters fa_threshold 0.5
require python3 -c "import json; assert json.load(open('$work/out/above.json'))['responses']['response']['voxels'] not in (0, 300)"
clean

fails 2 "needs MASK" response "$two" m --algorithm manual
fails 2 "--erode: only --algorithm dhollander and fa can use it" response "$two" "$work/two/dwi.bval" "$work/two/dwi.bvec" "$work/two/roi.nii.gz" m --algorithm manual --erode 1
fails 2 "needs --act" response "$two" m --algorithm msmt_5tt
fails 2 "--act: only --algorithm msmt_5tt" response "$two" m --act "$work/two/5tt.nii.gz"
fails 2 "exclude each other" response "$two" m --algorithm fa --fa-threshold 0.5 --voxels 100
fails 3 "a tissue image has 5 volumes" response "$two" m --algorithm msmt_5tt --act "$two"
# voxels a thousand times shorter, because lengths are in metres
python3 - "$work/two/5tt.nii.gz" "$work/metres.nii" <<'PYTHON'
import gzip, struct, sys
raw = bytearray(gzip.open(sys.argv[1]).read())
for at in (280, 296, 312): raw[at:at + 16] = struct.pack("<4f", *(x / 1000 for x in struct.unpack("<4f", raw[at:at + 16])))
open(sys.argv[2], "wb").write(raw)
PYTHON
fails 3 "check that both images are in mm" response "$two" m --algorithm msmt_5tt --act "$work/metres.nii"
fails 3 "no voxel of at least one tissue" response "$two" m --algorithm msmt_5tt --act "$work/two/5tt.nii.gz" --pvf 1

# the cache keeps every tissue
succeeds track $slices $few --cache-dir cache -o a.trx
succeeds track $slices $few --cache-dir cache -o b.trx
[ "$(grep -c '^cache: .*reused' "$work/stderr")" -eq 3 ] || note "the cache was not reused"
require cmp "$work/out/a.trx" "$work/out/b.trx"
clean
