# Several devices, lost ones, and devices of little memory: always the same bytes. Sourced by run.sh.
few="--nseeds 400 --chunk-size 40 --sphere small --model opdt"
succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" $few -o one.trx -q
cp "$work/out/one.trx" "$work/one.trx"
clean
for devices in "--device llvmpipe,llvmpipe" "--device llvmpipe --ngpus 3" "--device llvmpipe --ngpus 2 --chunk-size 25000"; do
    # shellcheck disable=SC2086
    succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" $few $devices -o one.trx -q
    require cmp "$work/out/one.trx" "$work/one.trx"
    require python3 - "$work/out/one.json" <<'PYTHON'
import json, sys
d = json.load(open(sys.argv[1]))
shares = d["run"]["devices"]
assert len(shares) in (2, 3)
assert sum(s["seeds"] for s in shares) == d["counts"]["seeds"] == 400
assert sum(s["streamlines"] for s in shares) == d["counts"]["streamlines"]
assert sum(s["batches"] for s in shares) == d["run"]["batches"]
assert not any(s["failed"] or s["resumes"] or s["halvings"] for s in shares) and d["warnings"] == []
PYTHON
    clean
done

# faulty DEVICES FAULTS KEY OPTIONS...: a run under these faults; KEY is the counter that the sidecar has to have
faulty() {
    devices=$1 faults=$2 key=$3
    shift 3
    GLSLINES_INJECT=$faults
    export GLSLINES_INJECT
    succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" $few --device "$devices" -o one.trx "$@"
    unset GLSLINES_INJECT
    require grep -q '^glslines: warning: ' "$work/stderr"
    require cmp "$work/out/one.trx" "$work/one.trx"
    require python3 - "$work/out/one.json" "$key" <<'PYTHON'
import json, sys
d = json.load(open(sys.argv[1]))
key = sys.argv[2]
assert len(d["warnings"]) >= 1
if key == "half":
    assert d["parameters"]["precision"] == "float" and d["device"]["precision"] == "half"
else:
    assert sum(s[key] for s in d["run"]["devices"]) == 1
PYTHON
    clean
}
faulty llvmpipe reset:1200 resumes
faulty llvmpipe,llvmpipe reset:2400 resumes
faulty llvmpipe readback:20 halvings
faulty llvmpipe,llvmpipe readback:40 halvings
faulty llvmpipe,llvmpipe dispatch:80 failed
# room for the volumes in half precision (1.2 MiB), not in single precision (2.5 MiB)
faulty llvmpipe memory:2200000 half --precision float

# Asymmetric ODFs on 362 directions in 6 textures in place of 1, and no binding over 2 GB: so a device of such limits splits a volume of 6 GB
python3 - "$work" <<'PYTHON'
import math, struct, sys
n = 12
header = bytearray(352)
struct.pack_into("<i", header, 0, 348)
def image(path, volumes, value):
    struct.pack_into("<8h", header, 40, 3 if volumes == 1 else 4, n, n, n, volumes, 1, 1, 1)
    struct.pack_into("<hh", header, 70, 16, 32)
    struct.pack_into("<8f", header, 76, 1, 1, 1, 1, 0, 0, 0, 0)
    struct.pack_into("<f", header, 108, 352)
    struct.pack_into("<hh", header, 252, 0, 1)
    for row in range(3):
        struct.pack_into("<4f", header, 280 + 16 * row, *(1.0 if column == row else 0.0 for column in range(4)))
    header[344:348] = b"n+1\0"
    data = [value(j, x, y, z) for j in range(volumes) for z in range(n) for y in range(n) for x in range(n)]
    open(path, "wb").write(bytes(header) + struct.pack("<%df" % len(data), *data))
image(sys.argv[1] + "/asymmetric.nii", 9, lambda j, x, y, z: 1 if j == 0 else math.sin(0.11 * j * x + 0.2 * y - 0.07 * j * z + j))
image(sys.argv[1] + "/stop.nii", 1, lambda j, x, y, z: 0.5)
PYTHON
odf="--sh $work/asymmetric.nii --fa $work/stop.nii --roi $work/stop.nii --dg prob --nseeds 200 --sphere small --precision float"
# shellcheck disable=SC2086
succeeds track $odf -o whole.trx -vv
require grep -q 'in 1 textures' "$work/stderr"
GLSLINES_FORCE_LIMITS=texture_3d=64,storage_bytes=2147483647
export GLSLINES_FORCE_LIMITS
# shellcheck disable=SC2086
succeeds track $odf -o split.trx -vv
unset GLSLINES_FORCE_LIMITS
require grep -qE 'in ([4-9]|1[0-5]) textures' "$work/stderr"
require cmp "$work/out/whole.trx" "$work/out/split.trx"
clean
