# Multi-tissue deconvolution: a series alone, responses, fits that other commands read, normalisation. Sourced by run.sh.
"$tool" phantom "$work/two" --shape 16 16 16 --directions 30 --bvals 1000 2500 -q
two="$work/two/dwi.nii.gz"
few="--nseeds 50 --sphere small"

# entry FILE KEY... VALUE: of a sidecar in out
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
entry a.json model tissues gm response '"dhollander"'
entry a.json model normalisation outliers "$(python3 -c "import json; print(json.load(open('$work/out/a.json'))['model']['normalisation']['outliers'])")"
require test -s "$work/out/m.nii.gz"
require python3 -c "import json; assert json.load(open('$work/out/a.json'))['counts']['streamlines'] > 25"
succeeds track "$two" --dry-run -o d.trx
grep -q '^seeds .*made from the fit' "$work/stdout" || note "--dry-run does not tell where seeds come from"
grep -q '^model  *msmt, order 8' "$work/stdout" || note "--dry-run does not show the model"

# shards of it: seeds are made after the fit
for i in 1 2; do succeeds track "$two" $few --shard $i/2 -o s.trx; done
succeeds merge s_shard-1of2.trx s_shard-2of2.trx -o s.trx
require cmp "$work/out/a.trx" "$work/out/s.trx"

# the table by FSL's names; without one
mkdir "$work/fsl" && cp "$two" "$work/fsl/data.nii.gz" && cp "$work/two/dwi.bval" "$work/fsl/bvals" && cp "$work/two/dwi.bvec" "$work/fsl/bvecs"
succeeds track "$work/fsl/data.nii.gz" $few -o b.trx --sidecar none
require cmp "$work/out/a.trx" "$work/out/b.trx"
clean

# responses, and a fit with them, which tracking reads
succeeds response "$two" r
for file in r_wm.txt r_gm.txt r_csf.txt r_voxels.nii.gz r_mask.nii.gz r.json; do require test -s "$work/out/$file"; done
grep -q '^# Shells: 0,1000,2500' "$work/out/r_wm.txt" || note "the response does not tell its shells"
given="--response-wm r_wm.txt --response-gm r_gm.txt --response-csf r_csf.txt"
succeeds fit "$two" f --model msmt $given
for file in fa.nii.gz tensor.nii.gz wm.nii.gz gm.nii.gz csf.nii.gz vf.nii.gz mask.nii.gz wm.txt gm.txt csf.txt; do require test -s "$work/out/f_$file"; done
require cmp "$work/out/r_wm.txt" "$work/out/f_wm.txt"
entry f.json outputs fractions '"f_vf.nii.gz"'
succeeds track "$two" $given $few -o a.trx
succeeds track --sh f_wm.nii.gz --fa f_fa.nii.gz --mask f_mask.nii.gz --roi f_mask.nii.gz $few -o c.trx
succeeds fit "$two" o --model msmt $given --no-normalise
entry o.json model normalisation null
succeeds fit "$two" n --model msmt $given --normalise --sh-order 10
entry n.json parameters normalise true
require python3 -c "import json; assert json.load(open('$work/out/n.json'))['model']['normalisation']['scale'] > 0"
# two tissues where there is one shell, or two responses
succeeds fit "$dwi" "$bval" "$bvec" "$mask" s --model auto
require test ! -e "$work/out/s_gm.nii.gz"
succeeds fit "$two" w --model msmt --response-wm r_wm.txt --response-csf r_csf.txt
require test ! -e "$work/out/w_gm.nii.gz"
for algorithm in tournier fa; do
    succeeds response "$two" $algorithm --algorithm $algorithm --shells 1000
    grep -q '^# Shells: 1000' "$work/out/${algorithm}_response.txt" || note "$algorithm: not the shell asked for"
done
succeeds track "$two" --model csd --response tournier_response.txt --shells 1000 $few -o t.trx
# of voxels that are given: all shells
succeeds response "$two" "$work/two/dwi.bval" "$work/two/dwi.bvec" "$work/two/roi.nii.gz" manual --algorithm manual
grep -q '^# Shells: 0,1000,2500' "$work/out/manual_response.txt" || note "manual: not all shells"
# of an image of tissues, which may be of another grid; of all voxels above an FA
succeeds response "$two" "$work/two/dwi.bval" "$work/two/dwi.bvec" "$work/two/mask.nii.gz" five --algorithm msmt_5tt --act "$work/two/5tt.nii.gz" --pvf 0.6 --voxels 100
for file in wm.txt gm.txt csf.txt voxels.nii.gz; do require test -s "$work/out/five_$file"; done
grep -q '^# Shells: 0,1000,2500' "$work/out/five_gm.txt" || note "msmt_5tt: not all shells"
entry five.json parameters wm_algorithm '"tournier"'
entry five.json parameters pvf 0.6
entry five.json responses wm voxels 100
succeeds response "$two" above --algorithm fa --fa-threshold 0.5
entry above.json parameters fa_threshold 0.5
require python3 -c "import json; assert json.load(open('$work/out/above.json'))['responses']['response']['voxels'] not in (0, 300)"
cp "$work/out/r_wm.txt" "$work/out/r_gm.txt" "$work/out/r_csf.txt" "$work/"
clean

fails 2 "needs MASK" response "$two" m --algorithm manual
fails 2 "--erode: only --algorithm dhollander and fa" response "$two" "$work/two/dwi.bval" "$work/two/dwi.bvec" "$work/two/roi.nii.gz" m --algorithm manual --erode 1
fails 2 "needs --act" response "$two" m --algorithm msmt_5tt
fails 2 "--act: only --algorithm msmt_5tt" response "$two" m --act "$work/two/5tt.nii.gz"
fails 2 "exclude each other" response "$two" m --algorithm fa --fa-threshold 0.5 --voxels 100
fails 3 "a tissue image has 5 volumes" response "$two" m --algorithm msmt_5tt --act "$two"
# of voxels a thousandth as long: in metres
python3 - "$work/two/5tt.nii.gz" "$work/metres.nii" <<'PYTHON'
import gzip, struct, sys
raw = bytearray(gzip.open(sys.argv[1]).read())
for at in (280, 296, 312): raw[at:at + 16] = struct.pack("<4f", *(x / 1000 for x in struct.unpack("<4f", raw[at:at + 16])))
open(sys.argv[2], "wb").write(raw)
PYTHON
fails 3 "is the unit of both mm?" response "$two" m --algorithm msmt_5tt --act "$work/metres.nii"
fails 3 "no voxels of one tissue" response "$two" m --algorithm msmt_5tt --act "$work/two/5tt.nii.gz" --pvf 1

# the cache keeps every tissue
succeeds track "$two" $few --cache-dir cache -o a.trx
succeeds track "$two" $few --cache-dir cache -o b.trx
[ "$(grep -c '^cache: .*reused' "$work/stderr")" -eq 3 ] || note "the cache was not reused"
require cmp "$work/out/a.trx" "$work/out/b.trx"
clean

# responses of other data
fails 3 "3 rows, but the series has 2 shells" track "$two" --shells 1000 --response-wm "$work/r_wm.txt"
sed 's/0,1000,2500/0,1000,3000/' "$work/r_wm.txt" > "$work/other.txt"
fails 3 "--force-response" track "$two" --response-wm "$work/other.txt"
run track "$two" --response-wm "$work/other.txt" --response-csf "$work/r_csf.txt" --force-response --dry-run
[ "$code" -eq 0 ] || note "--force-response does not force it"
fails 3 "names the shell" track "$two" --model msmt --shells 1000 1001

# vectors whose lengths tell b-values
awk 'NR == FNR { for (i = 1; i <= NF; i++) b[i] = $i; next } { for (i = 1; i <= NF; i++) printf "%.9f ", $i * (b[i] > 50 ? sqrt(b[i] / 2500) : 1); print "" }' \
    "$work/two/dwi.bval" "$work/two/dwi.bvec" > "$work/scaled.bvec"
awk '{ for (i = 1; i <= NF; i++) printf "%s ", ($i > 50 ? 2500 : $i); print "" }' "$work/two/dwi.bval" > "$work/nominal.bval"
succeeds track "$two" "$work/nominal.bval" "$work/scaled.bvec" --dry-run -o d.trx
grep -q '^shell .*b = 1000 s/mm2: 30 volumes' "$work/stdout" || note "lengths of vectors do not scale b-values"
grep -q '^glslines: warning: .*--bvalue-scaling' "$work/stderr" || note "no warning of scaled b-values"
succeeds track "$two" "$work/nominal.bval" "$work/scaled.bvec" --bvalue-scaling off --dry-run -o d.trx
grep -q '^shell .*b = 2500 s/mm2: 60 volumes' "$work/stdout" || note "--bvalue-scaling off scales them"
clean

# b-values that are no shells; b = 0 that MRtrix3 takes for a shell
awk '{ for (i = 1; i <= NF; i++) printf "%s ", ($i > 50 ? 300 + 97 * i : $i); print "" }' "$work/two/dwi.bval" > "$work/grid.bval"
fails 3 "are not shells" track "$two" "$work/grid.bval" "$work/two/dwi.bvec" --dry-run -o d.trx
awk '{ for (i = 1; i <= NF; i++) printf "%s ", ($i > 50 ? $i : 20); print "" }' "$work/two/dwi.bval" > "$work/low.bval"
succeeds track "$two" "$work/low.bval" "$work/two/dwi.bvec" --dry-run -o d.trx
grep -q 'volumes up to b = 20 s/mm2 count as b = 0' "$work/stderr" "$work/stdout" || note "not told what counts as b = 0"
clean

# what may be wrong though it runs
python3 - "$work" <<'PYTHON'
import sys
work = sys.argv[1]
gain, units, upside = lambda i, j, x: 20 * x, lambda i, j, x: 1000 * x, lambda i, j, x: abs(x) if (i, j) == (1, 1) else x
for source, name, change in (("r_wm", "gain", gain), ("r_csf", "gain_csf", gain), ("r_wm", "units", units), ("r_csf", "units_csf", units), ("r_wm", "upside", upside)):
    rows = [line.split() for line in open(f"{work}/{source}.txt") if line[0] != "#"]
    with open(f"{work}/{name}.txt", "w") as out:
        for i, row in enumerate(rows): print(*(change(i, j, float(x)) for j, x in enumerate(row)), file=out)
PYTHON
fails 3 "upside.txt: row 2, b = 1000 s/mm2" track "$two" --response-wm "$work/upside.txt" --response-csf "$work/r_csf.txt"
succeeds fit "$two" g --model msmt --response-wm "$work/gain.txt" --response-csf "$work/gain_csf.txt"
grep -q '^glslines: warning: the median b0 signal' "$work/stderr" || note "no warning of a series that was rescaled"
clean
fails 3 "units.txt: the response has a signal of" fit "$two" g --model msmt --response-wm "$work/units.txt" --response-csf "$work/units_csf.txt"
succeeds fit "$two" g --model msmt --response-wm "$work/units.txt" --response-csf "$work/units_csf.txt" --force-response
clean
succeeds fit "$two" f --model msmt --response-wm "$work/r_wm.txt" --response-csf "$work/r_csf.txt"
python3 - "$work/out" <<'PYTHON'
import gzip, struct, sys
data = bytearray(gzip.open(sys.argv[1] + "/f_wm.nii.gz").read())
start = int(struct.unpack_from("<f", data, 108)[0])
values = struct.unpack_from(f"<{(len(data) - start) // 4}f", data, start)
struct.pack_into(f"<{len(values)}f", data, start, *(100 * x for x in values))
open(sys.argv[1] + "/big.nii", "wb").write(data)
PYTHON
scaled="track --mask f_mask.nii.gz --roi f_mask.nii.gz --dg ifod2 $few -o w.trx --force"
succeeds $scaled --sh big.nii
grep -q "^glslines: warning: the median of the FODs' first coefficients" "$work/stderr" || note "no warning of FODs in other units"
succeeds $scaled --sh big.nii --cutoff 10
grep -q "^glslines: warning: the median of the FODs" "$work/stderr" && note "a warning though --cutoff was given"
succeeds $scaled --sh f_wm.nii.gz --step-size 1.5vox
grep -q '^glslines: warning: --step-size' "$work/stderr" || note "no warning of steps longer than a voxel"
clean

# without b0: responses have to be given; voxels that are not finite are empty, all of them are an error
python3 - "$work" <<'PYTHON'
import gzip, struct, sys
work = sys.argv[1]
data = bytearray(gzip.open(work + "/two/dwi.nii.gz").read())
start, volumes = int(struct.unpack_from("<f", data, 108)[0]), struct.unpack_from("<h", data, 48)[0]
size = (len(data) - start) // volumes * 2
stored = struct.unpack_from(f"<{(len(data) - start) // 2}h", data, start) # int16, which knows no NaN
data = data[:start] + struct.pack(f"<{len(stored)}f", *stored)
struct.pack_into("<hh", data, 70, 16, 32)
broken = bytearray(data)
for voxel, volume, value in ((8 + 16 * 8 + 256 * 8, 3, float("nan")), (9 + 16 * 8 + 256 * 8, 40, float("inf"))):
    struct.pack_into("<f", broken, start + volume * size + 4 * voxel, value)
open(work + "/broken.nii", "wb").write(broken)
open(work + "/nan.nii", "wb").write(data[:start] + struct.pack("<f", float("nan")) * len(stored))
struct.pack_into("<h", data, 48, volumes - 4)
open(work + "/nob0.nii", "wb").write(data[:start] + data[start + 4 * size:])
for name in ("bval", "bvec"):
    rows = [line.split() for line in open(f"{work}/two/dwi.{name}")]
    open(f"{work}/nob0.{name}", "w").write("".join(" ".join(row[4:]) + "\n" for row in rows))
for name in ("wm", "csf"):
    rows = [line for line in open(f"{work}/r_{name}.txt") if line[0] != "#"]
    open(f"{work}/nob0_{name}.txt", "w").write("".join(rows[1:]))
PYTHON
nob0="$work/nob0.nii $work/nob0.bval $work/nob0.bvec $work/two/mask.nii.gz"
table="$work/two/dwi.bval $work/two/dwi.bvec $work/two/mask.nii.gz"
fails 3 "no b0 volume" fit $nob0 n --model msmt
succeeds fit $nob0 n --model msmt --response-wm "$work/nob0_wm.txt" --response-csf "$work/nob0_csf.txt"
grep -q 'from 0 b0 volumes and 2 shells' "$work/stderr" || note "not fitted without b0"
clean
succeeds fit "$work/broken.nii" $table v --model msmt --response-wm "$work/r_wm.txt" --response-csf "$work/r_csf.txt"
grep -q 'values of 2 voxels are not finite' "$work/stderr" || note "broken voxels are not counted"
require python3 - "$work/out/v_wm.nii.gz" <<'PYTHON'
import gzip, struct, sys
data = gzip.open(sys.argv[1]).read()
start = int(struct.unpack_from("<f", data, 108)[0])
values = struct.unpack_from(f"<{(len(data) - start) // 4}f", data, start)
assert all(x == x and abs(x) < 1e9 for x in values)
for voxel in (8 + 16 * 8 + 256 * 8, 9 + 16 * 8 + 256 * 8): assert not any(values[voxel::4096]), voxel
assert any(values[7 + 16 * 8 + 256 * 8::4096])
PYTHON
clean
fails 3 "no value inside the mask" fit "$work/nan.nii" $table v --model msmt --response-wm "$work/r_wm.txt" --response-csf "$work/r_csf.txt"
