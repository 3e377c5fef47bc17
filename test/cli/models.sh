# Every model and direction getter. Sourced by run.sh.
tracks $files --model opdt --dg prob
sidecar odf source '"fit of the model"'
sidecar model name '"opdt"'
tracks $files --dg det --model csa
sidecar model name '"csa"'
sidecar parameters boot_retry null
tracks $files --dg boot --angular-weight 0.5
sidecar parameters angular_weight 0.5
tracks $files --dg ptt --model csd --max-angle 20 --probe-length 1vox --ptt-substep 0.1 --probe-count 3 --probe-radius 0.5mm
sidecar parameters probe_count 3
tracks $files --model csd
sidecar parameters dg '"prob"'
sidecar model shell_b_s_per_mm2 2000
sidecar model response source '"estimated"'
require python3 - "$work/out/m.json" "$mask" <<'PYTHON'
import ctypes, json, sys
xxhash, data = ctypes.CDLL("libxxhash.so.0"), open(sys.argv[2], "rb").read()
xxhash.XXH3_64bits.restype, xxhash.XXH3_64bits.argtypes = ctypes.c_uint64, (ctypes.c_char_p, ctypes.c_size_t)
assert json.load(open(sys.argv[1]))["inputs"]["mask"]["xxh3_64"] == f"{xxhash.XXH3_64bits(data, len(data)):016x}"
PYTHON

# the response from fewer or other voxels, directions of the constraint by name and from a file
tracks $files --model csd --response-voxels 12 --csd-directions symmetric362
sidecar model response voxels 12
tracks $files --model csd --response-fa 0.5 --response-radius 0
sidecar model response roi_radius_voxels 0
awk 'BEGIN { for (i = 0.5; i < 60; i++) print i * 2.399963, atan2(sqrt(1 - (1 - i / 60)^2), 1 - i / 60) }' > "$work/azel.txt"
tracks $files --model csd --csd-directions "$work/azel.txt"
tracks $files --model csd --sphere repulsion724
sidecar sphere directions 362
clean

# the rule of MRtrix3 gives other ODFs, and accepts a response of any order; by default the fit has the order of the response
tracks $files --model csd
sidecar parameters csd_rule '"dipy"'
sidecar model csd_rule '"dipy"'
cp "$work/out/m.trx" "$work/m.trx"
tracks $files --model csd --csd-rule mrtrix
sidecar parameters csd_rule '"mrtrix"'
sidecar model csd_rule '"mrtrix"'
require sh -c "! cmp -s '$work/out/m.trx' '$work/m.trx'"
clean
succeeds fit "$dwi" "$bval" "$bvec" "$mask" m --csd-rule mrtrix --response "$b/zonal3.txt"
sidecar model sh_order 4
sidecar sh coefficients 15
succeeds fit "$dwi" "$bval" "$bvec" "$mask" m --csd-rule mrtrix --response "$b/zonal3.txt" --sh-order 10 --force
sidecar model sh_order 10
sidecar model response zonal_coefficients '[900, -400, 100]'
grep -q 'CSD of order 10: the response has order 4; the constraint' "$work/stderr" || note "what the response lacks is not told"
grep -q warning "$work/stderr" && note "a warning of MRtrix3's rule"
succeeds track $files --preset tckgen --model csd --dry-run -o d.trx
grep -q '^model  *csd, rule mrtrix, order 6' "$work/stdout" || note "--preset tckgen has another rule"
succeeds track $files --preset tckgen --model csd --csd-rule dipy --dry-run -o d.trx
grep -q '^model  *csd, rule dipy, order 6' "$work/stdout" || note "--csd-rule does not go before the preset"
clean
fails 3 "--csd-rule mrtrix" fit "$dwi" "$bval" "$bvec" "$mask" m --response "$b/zonal3.txt"
fails 2 "--csd-rule: only --model csd" track $files --csd-rule mrtrix -o m.trx
fails 2 "--csd-rule: only --model csd" fit "$dwi" "$bval" "$bvec" "$mask" m --model msmt --csd-rule mrtrix
tracks $files --model csd --response-fa 0.98
grep -q 'only 0 voxels have FA above 0.98: .*--response-fa' "$work/stderr" || note "the response takes other voxels without a warning"

# 288 neighbours at the pole of 307 axes: more than the loops of a software renderer may visit for every vertex
awk 'function put(t, p) { t *= atan2(0, -1) / 180; p *= atan2(0, -1) / 180
                          x = sin(t) * cos(p); y = sin(t) * sin(p); z = cos(t); printf "%.9f %.9f %.9f\n%.9f %.9f %.9f\n", x, y, z, -x, -y, -z }
     BEGIN { for (p = 0; p < 360; p += 1.25) put(10, p)
             for (p = 0; p < 360; p += 30) put(45, p)
             for (p = 0; p < 180; p += 30) put(90, p)
             print "0 0 1\n0 0 -1" }' > "$work/angles.txt"
for getter in prob ptt; do tracks $files --model opdt --dg $getter --sphere "$work/angles.txt"; done

# lengths of the probe: voxels of 2 mm, or mm
succeeds track $files --dg ptt --model csd --max-angle 20 --probe-length 1vox --ptt-substep 0.1 --probe-count 3 --probe-radius 0.5mm --dry-run -o d.trx
grep -q '^probe .*2 mm long, 4 samples.* 3 parallel curves at 0.5 mm; radius of curvature at least 2.879[0-9]* mm; short steps of 0.2 mm' "$work/stdout" ||
    note "--dry-run does not show the probe"
succeeds track $files --dg ptt --min-radius-of-curvature 3 --dry-run -o d.trx
grep -q '^probe .*1 mm long.* 1 curve; radius of curvature at least 6 mm; short steps of 0.05 mm' "$work/stdout" || note "--dry-run does not show the probe"

# more coefficients than directions: a warning with the numbers
tracks $files --model csd --sh-order 8
grep -q '^glslines: warning: .*order 8.*45 coefficients.*30 directions' "$work/stderr" || note "no warning of too few directions"
clean
