# What fit writes and track reads, ODFs from files, one shell of several, the cache, threads. Sourced by run.sh.
# what fit writes, track reads: the same ODFs, in another basis and frame. The fit for tracking is limited to the stop map, so both start from files
succeeds fit "$dwi" "$bval" "$bvec" "$mask" f --model csd
for file in f_fa.nii.gz f_tensor.nii.gz f_sh.nii.gz f_response.txt f.json; do require test -s "$work/out/$file"; done
require test "$(find "$work/out" -type f | wc -l)" -eq 5
cksum "$work/out"/* >"$work/before"
run fit "$dwi" "$bval" "$bvec" "$mask" f --model csd
[ "$code" -eq 4 ] || note "fit over existing files: exit code $code, not 4"
cksum "$work/out"/* | cmp -s - "$work/before" || note "fit changed existing files"
# the tensor alone, with its maps
succeeds fit "$dwi" "$bval" "$bvec" "$mask" t --no-model --tensor-maps --tensor mrtrix
[ "$(cd "$work/out" && echo t_* t.json)" = "$(for name in ad evals fa md rd rgb tensor v1 v2 v3; do printf 't_%s.nii.gz ' $name; done)t.json" ] ||
    note "fit --no-model --tensor-maps wrote $(cd "$work/out" && echo t*)"
succeeds fit "$dwi" "$bval" "$bvec" "$mask" g --sh-basis descoteaux07 --response f_response.txt --shells 1995
# responses and b-values in other units, a table in another order than the volumes
python3 - "$work" "$dwi" "$bval" <<'PYTHON'
import gzip, struct, sys
work, dwi, bval = sys.argv[1:]
values = [line.split() for line in open(work + "/out/f_response.txt") if line[0] != "#"][0]
for name, scale, s0 in (("um2", 1000, 1), ("mm2_per_ms", 0.001, 1), ("signal", 1, 1e6)):
    print(*[float(v) * scale for v in values[:3]], float(values[3]) * s0, file=open(f"{work}/{name}.txt", "w"))
print("1e-3 -3e-4 1e-4 -2e-5 3e-6", file=open(work + "/zonal.txt", "w"))
b = [float(v) for v in open(bval).read().split()]
print(*[v / 1000 for v in b], file=open(work + "/ms_um2.bval", "w"))
data = bytearray(gzip.open(dwi).read())
start = int(struct.unpack_from("<f", data, 108)[0])
n = (len(data) - start) // len(b)
for t, v in enumerate(b):
    if v < 50: data[start + t * n:start + (t + 1) * n] = bytes(n)
open(work + "/dark.nii", "wb").write(data)
PYTHON
mv "$work/out" "$work/fitted" && mkdir "$work/out"
fails 2 "--no-model cannot be used with --model" fit "$dwi" "$bval" "$bvec" "$mask" u --no-model --model csd
fails 2 "--no-model cannot be used with --sh-order" fit "$dwi" "$bval" "$bvec" "$mask" u --no-model --sh-order 4
fails 3 "um2.txt: the response has eigenvalues" fit "$dwi" "$bval" "$bvec" "$mask" u --response "$work/um2.txt"
fails 3 "divide eigenvalues in um2/ms by 1000" track $files --model csd --response "$work/um2.txt"
fails 3 "multiply eigenvalues in mm2/ms by 1000" fit "$dwi" "$bval" "$bvec" "$mask" u --response "$work/mm2_per_ms.txt"
fails 3 "signal.txt: the response has a signal of" fit "$dwi" "$bval" "$bvec" "$mask" u --response "$work/signal.txt"
fails 3 "zonal.txt: the response has a signal of" track $files --model csd --response "$work/zonal.txt"
for model in opdt csa csd msmt; do
    fails 3 "ms_um2.bval: the largest b-value is" fit "$dwi" "$work/ms_um2.bval" "$bvec" "$mask" u --model $model --b0-threshold 0
done
fails 3 "dark.nii: no value of its b = 0 volumes" fit "$work/dark.nii" "$bval" "$bvec" "$mask" u --model opdt
rmdir "$work/out" && mv "$work/fitted" "$work/out"
succeeds track --sh f_sh.nii.gz --fa f_fa.nii.gz --mask "$mask" --roi "$roi" --dg det $few -o a.tck --sidecar none
succeeds track --sh g_sh.nii.gz --sh-basis descoteaux07 --fa f_fa.nii.gz --mask "$mask" --roi "$roi" --dg det $few -o b.tck --sidecar none
succeeds track $files --sh f_sh.nii.gz --fa f_fa.nii.gz --dg det $few -o c.tck --sidecar none
[ "$(grep -c 'SH of even order' "$work/stderr")" -eq 1 ] || note "basis and order are not named once"
require cmp "$work/out/a.tck" "$work/out/c.tck"
# rounding may bend a few of the fifty streamlines
require python3 "$here/tck.py" same "$work/out/a.tck" "$work/out/b.tck" 0.9
succeeds track --sh f_sh.nii.gz --fa f_fa.nii.gz --roi "$roi" --dry-run -o d.trx
clean

# amplitudes, along the axes that --sh-frame names: the voxel axes of the phantom are LAS
for frame in image:-1 fsl:-1 world:1; do
    succeeds track --odf "$b/along.nii.gz" --sphere "$b/along.txt" --sh-frame ${frame%:*} --fa "$mask" --roi "$roi" --dg det --nseeds 50 -o m.tck --force
    require python3 "$here/tck.py" along "$work/out/m.tck" ${frame#*:} 1 0
    sidecar odf source '"amplitudes"'
done
clean

# one shell of two, for every model; together they are a warning
"$tool" phantom "$work/two" --shape 18 20 18 --directions 30 --bvals 1000 2500 -q
two="$work/two/dwi.nii.gz $work/two/dwi.bval $work/two/dwi.bvec $work/two/mask.nii.gz $work/two/roi.nii.gz"
tracks $two --model csd
sidecar model shell_b_s_per_mm2 2500
for model in opdt csa; do
    tracks $two --model $model --shells 2500
    sidecar model shell_b_s_per_mm2 2500
    sidecar model weighted_volumes 30
done
cp "$work/out/m.trx" "$work/m.trx"
succeeds track $two --model csd --shells 2500 --dry-run -o d.trx
grep -q '^model .*b = 2500' "$work/stdout" || note "--dry-run does not show the shell"
tracks $two --model csa
sidecar model weighted_volumes 60
require sh -c "! cmp -s '$work/out/m.trx' '$work/m.trx'"
grep -q '^glslines: warning: .*one shell' "$work/stderr" || note "no warning of mixed shells"
clean

# the cache: a plan does not make it; a run writes it; it is reused, and fitted again after another parameter, other data, or damage
succeeds track $files --model csd --cache-dir cache --dry-run -o d.trx
[ ! -e "$work/out/cache" ] || note "--dry-run makes the cache"
fails 4 "cannot be used" track $files --model csd --cache-dir "$roi" --dry-run -o d.trx
fails 4 "none/cache cannot be made" track $files --model csd --cache-dir none/cache --dry-run -o d.trx
fails 4 "cannot be made" track $files --model csd --cache-dir "$roi/cache/" --dry-run -o d.trx
tracks $files --model csd --cache-dir cache
[ "$(grep -c '^cache: kept' "$work/stderr")" -eq 2 ] || note "nothing kept in the cache"
cp "$work/out/m.trx" "$work/m.trx"
tracks $files --model csd --cache-dir cache
[ "$(grep -c '^cache: .*reused' "$work/stderr")" -eq 2 ] || note "the cache was not reused"
sidecar model sh_from_cache true
require cmp "$work/out/m.trx" "$work/m.trx"
sh=$(cd "$work/out/cache" && echo glslines_sh_csd_*.nii)
succeeds track $files --model csd --cache-dir cache --sh-order 2 $few -o m.trx --force
[ "$(grep -c '^cache: .*reused' "$work/stderr")" -eq 1 ] || note "SH of another order were reused"
[ "$(find "$work/out/cache" -type f | wc -l)" -eq 6 ] || note "fits of two orders are not beside each other"
tracks $files --model csd --cache-dir cache --csd-rule mrtrix --sh-order 2
[ "$(grep -c '^cache: .*reused' "$work/stderr")" -eq 1 ] || note "SH of another rule were reused"
tracks $files --model csd --cache-dir cache
[ "$(grep -c '^cache: .*reused' "$work/stderr")" -eq 2 ] || note "the fit of before was replaced by that of another order"
fa=$(cd "$work/out/cache" && echo glslines_fa_*.nii)
python3 - "$work/out/cache" "$fa" "$sh" <<'PYTHON'
import sys
with open(f"{sys.argv[1]}/{sys.argv[2]}", "r+b") as file:
    file.seek(2000)
    file.write(b"\1")
with open(f"{sys.argv[1]}/{sys.argv[3]}", "r+b") as file: file.truncate(5000)
PYTHON
sum=$(cat "$work"/out/cache/* | cksum)
tracks $files --model csd --cache-dir cache
[ "$(grep -c '^glslines: warning: cache: .*made anew' "$work/stderr")" -eq 2 ] || note "damaged images in the cache are not told"
require cmp "$work/out/m.trx" "$work/m.trx"
[ "$(cat "$work"/out/cache/* | cksum)" = "$sum" ] || note "what lies in the cache was replaced"
rm "$work/out/cache/$sh"
echo '{' >"$work/out/cache/${fa%.nii}.json"
tracks $files --model csd --cache-dir cache
[ "$(grep -c '^glslines: warning: cache: .*made anew' "$work/stderr")" -eq 1 ] || note "a damaged key in the cache is not told"
rm "$work"/out/cache/glslines_fa_*
tracks $files --model csd --cache-dir cache
[ "$(grep -c '^cache: kept' "$work/stderr")" -eq 1 ] || note "what was deleted is not kept anew"
# files of others are not replaced, an input of the run among them, and no link is followed
cp "$work/out/cache/$fa" "$work/fa.nii"
gzip -dc "$roi" >"$work/out/cache/$fa"
echo thesis >"$work/thesis"
rm "$work"/out/cache/glslines_sh_csd_*
ln -s ../../thesis "$work/out/cache/${sh%.nii}.json"
sum=$(cksum <"$work/out/cache/$fa")
succeeds track $dwi $bval $bvec $mask "cache/$fa" --model csd --cache-dir cache $few -o r.trx --force
[ "$(cksum <"$work/out/cache/$fa")" = "$sum" ] || note "an input in the cache was replaced"
require grep -qx thesis "$work/thesis"
grep -q "$sh: cannot\|is no regular file" "$work/stderr" || note "no word of a link in the cache"
rm -r "$work/out/cache"
tracks $files --model csd --cache-dir cache
succeeds track $files --b0-threshold 60 --model csd --cache-dir cache $few -o m.trx --force
[ "$(grep -c '^cache: .*reused' "$work/stderr")" -eq 2 ] || note "a parameter without effect on the fit made it anew"
require cmp "$work/out/m.trx" "$work/m.trx"
clean

# the bytes of fits do not depend on the number of threads
"$tool" phantom "$work/many" --shape 16 16 16 --directions 250 --bvals 1000 2500 -q
four_slices "$work/many/mask.nii.gz" "$work/many/slices.nii"
for n in 1 3; do
    succeeds fit "$work/many/dwi.nii.gz" "$work/many/dwi.bval" "$work/many/dwi.bvec" "$work/many/slices.nii" "csd$n" --model csd --sh-order 12 --shells 2500 --nthreads $n
    succeeds fit "$work/many/dwi.nii.gz" "msmt$n" --model msmt --nthreads $n
done
require cmp "$work/out/csd1_sh.nii.gz" "$work/out/csd3_sh.nii.gz"
for file in wm.nii.gz gm.nii.gz csf.nii.gz wm.txt; do require cmp "$work/out/msmt1_$file" "$work/out/msmt3_$file"; done
clean
