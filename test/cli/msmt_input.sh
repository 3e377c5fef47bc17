# Multi-tissue deconvolution of input that may be wrong: responses of other data, units, b-values, voxels without a value. Sourced by run.sh.
"$tool" phantom "$work/two" --shape 16 16 16 --directions 30 --bvals 1000 2500 -q
two="$work/two/dwi.nii.gz"
# four slices are enough for the fit
table="$work/two/dwi.bval $work/two/dwi.bvec $work/two/slices.nii"
four_slices "$work/two/mask.nii.gz" "$work/two/slices.nii"
succeeds response "$two" r
cp "$work/out/r_wm.txt" "$work/out/r_csf.txt" "$work/"
clean

# responses of other data
fails 3 "3 rows, but the series has 2 shells" track "$two" --shells 1000 --response-wm "$work/r_wm.txt"
sed 's/0,1000,2500/0,1000,3000/' "$work/r_wm.txt" > "$work/other.txt"
fails 3 "--force-response" track "$two" --response-wm "$work/other.txt"
run track "$two" --response-wm "$work/other.txt" --response-csf "$work/r_csf.txt" --force-response --dry-run
[ "$code" -eq 0 ] || note "--force-response does not force it"
fails 3 "names the shell" track "$two" --model msmt --shells 1000 1001

# responses in each other's place: that of white matter is refused, for that of CSF there is a warning
awk '!/^#/ { print $1 }' "$work/r_wm.txt" > "$work/r_gm.txt"
fails 3 "r_csf.txt: has one coefficient a shell" track "$two" --response-wm "$work/r_csf.txt" --response-gm "$work/r_wm.txt" --dry-run
run track "$two" --response-wm "$work/r_csf.txt" --response-csf "$work/r_gm.txt" --force-response --dry-run
[ "$code" -eq 0 ] || note "--force-response does not force another tissue"
for order in "gm csf 1" "csf gm 0"; do
    # shellcheck disable=SC2086
    set -- $order
    succeeds track "$two" --response-wm "$work/r_wm.txt" --response-gm "$work/r_$1.txt" --response-csf "$work/r_$2.txt" --dry-run
    grep -q 'were --response-csf and --response-gm exchanged' "$work/stderr"
    [ $? -eq "$3" ] || note "$order: exchanged responses"
done

# vectors whose lengths stand for b-values
awk 'NR == FNR { for (i = 1; i <= NF; i++) b[i] = $i; next } { for (i = 1; i <= NF; i++) printf "%.9f ", $i * (b[i] > 50 ? sqrt(b[i] / 2500) : 1); print "" }' \
    "$work/two/dwi.bval" "$work/two/dwi.bvec" > "$work/scaled.bvec"
awk '{ for (i = 1; i <= NF; i++) printf "%s ", ($i > 50 ? 2500 : $i); print "" }' "$work/two/dwi.bval" > "$work/nominal.bval"
succeeds track "$two" "$work/nominal.bval" "$work/scaled.bvec" --dry-run -o d.trx
grep -q '^shell .*b = 1000 s/mm2: 30 volumes' "$work/stdout" || note "lengths of vectors do not scale b-values"
grep -q '^glslines: warning: .*--bvalue-scaling' "$work/stderr" || note "no warning of scaled b-values"
succeeds track "$two" "$work/nominal.bval" "$work/scaled.bvec" --bvalue-scaling off --dry-run -o d.trx
grep -q '^shell .*b = 2500 s/mm2: 60 volumes' "$work/stdout" || note "--bvalue-scaling off scales them"
clean

# b-values without shells; b = 0 that MRtrix3 takes for a shell
awk '{ for (i = 1; i <= NF; i++) printf "%s ", ($i > 50 ? 300 + 97 * i : $i); print "" }' "$work/two/dwi.bval" > "$work/grid.bval"
fails 3 "form no shell" track "$two" "$work/grid.bval" "$work/two/dwi.bvec" --dry-run -o d.trx
# from b-values on a grid, as in diffusion spectrum imaging, track and fit take one shell
awk '{ for (i = 1; i <= NF; i++) printf "%s ", ($i > 50 ? 400 + 150 * int(i / 6) : $i); print "" }' "$work/two/dwi.bval" > "$work/dsi.bval"
for run in "track $two $work/dsi.bval $work/two/dwi.bvec --dry-run -o d.trx" "fit $two $work/dsi.bval $work/two/dwi.bvec d"; do
    # shellcheck disable=SC2086
    succeeds $run
    grep -hq 'model: deconvolution of one shell, csd: the b-values lie on a grid of 1[0-9]' "$work/stdout" "$work/stderr" || note "$run: the choice is not told"
    grep -hq 'would use all of them' "$work/stdout" "$work/stderr" && note "$run: msmt is advised for a grid"
done
[ -e "$work/out/d_sh.nii.gz" ] || note "fit of a grid wrote no FODs"
clean
# an option that only csd has makes fit use csd
succeeds fit "$two" d --csd-rule mrtrix --sh-order 4
[ -e "$work/out/d_sh.nii.gz" ] || note "--csd-rule chose another model"
clean
fails 3 "take --model csd, which uses one shell" track "$two" "$work/dsi.bval" "$work/two/dwi.bvec" --model msmt --dry-run -o d.trx
awk '{ for (i = 1; i <= NF; i++) printf "%s ", ($i > 50 ? $i : 20); print "" }' "$work/two/dwi.bval" > "$work/low.bval"
succeeds track "$two" "$work/low.bval" "$work/two/dwi.bvec" --dry-run -o d.trx
grep -q 'volumes up to b = 20 s/mm2 count as b = 0' "$work/stderr" "$work/stdout" || note "not told what counts as b = 0"
clean

# data that may be wrong although the fit runs
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
succeeds fit "$two" $table g --model msmt --response-wm "$work/gain.txt" --response-csf "$work/gain_csf.txt"
grep -q '^glslines: warning: the median b0 signal' "$work/stderr" || note "no warning of a series that was rescaled"
clean
fails 3 "units.txt: the response has a signal of" fit "$two" $table g --model msmt --response-wm "$work/units.txt" --response-csf "$work/units_csf.txt"
succeeds fit "$two" $table g --model msmt --response-wm "$work/units.txt" --response-csf "$work/units_csf.txt" --force-response
clean
succeeds fit "$two" $table f --model msmt --response-wm "$work/r_wm.txt" --response-csf "$work/r_csf.txt"
python3 - "$work/out" <<'PYTHON'
import gzip, struct, sys
data = bytearray(gzip.open(sys.argv[1] + "/f_wm.nii.gz").read())
start = int(struct.unpack_from("<f", data, 108)[0])
values = struct.unpack_from(f"<{(len(data) - start) // 4}f", data, start)
struct.pack_into(f"<{len(values)}f", data, start, *(100 * x for x in values))
open(sys.argv[1] + "/big.nii", "wb").write(data)
PYTHON
scaled="track --mask $work/two/slices.nii --roi $work/two/slices.nii --dg ifod2 $few -o w.trx --force"
succeeds $scaled --sh big.nii
grep -q "^glslines: warning: the median of the FODs' first coefficients" "$work/stderr" || note "no warning of FODs in other units"
succeeds $scaled --sh big.nii --cutoff 10
grep -q "^glslines: warning: the median of the FODs" "$work/stderr" && note "a warning though --cutoff was given"
succeeds $scaled --sh f_wm.nii.gz --step-size 1.5vox
grep -q '^glslines: warning: --step-size' "$work/stderr" || note "no warning of steps longer than a voxel"
clean

# without b0, responses have to be given; voxels that are not finite are empty, and an error if all of them are
python3 - "$work" <<'PYTHON'
import gzip, struct, sys
work = sys.argv[1]
data = bytearray(gzip.open(work + "/two/dwi.nii.gz").read())
start, volumes = int(struct.unpack_from("<f", data, 108)[0]), struct.unpack_from("<h", data, 48)[0]
size = (len(data) - start) // volumes * 2
stored = struct.unpack_from(f"<{(len(data) - start) // 2}h", data, start) # int16 has no NaN
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
nob0="$work/nob0.nii $work/nob0.bval $work/nob0.bvec $work/two/slices.nii"
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
# warnings: few directions for the order, few voxels for a response, gradients that deviate from voxel to voxel
"$tool" phantom "$work/poor" --shape 18 20 18 --directions 12 -q
: >"$work/poor/grad_dev.nii.gz"
succeeds fit "$work/poor/dwi.nii.gz" "$work/poor/dwi.bval" "$work/poor/dwi.bvec" "$work/poor/mask.nii.gz" poor --model msmt
for text in "msmt of order 8 has 45 coefficients of white matter, but the series has 12 different directions" "responses of fewer than 30 voxels" "grad_dev.nii.gz is not used"; do
    grep -q "^glslines: warning: .*$text" "$work/stderr" || note "no warning of '$text'"
done
succeeds fit "$dwi" "$bval" "$bvec" "$mask" rich --model msmt
! grep -q "coefficients of white matter\|grad_dev" "$work/stderr" || note "a warning of 30 directions"
clean
