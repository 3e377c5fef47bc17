# Several devices, lost ones, and devices of little memory: always the same bytes. Sourced by run.sh.
few="--nseeds 400 --chunk-size 40"
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

# faulty DEVICES FAULTS KEY OPTIONS...: a run under these faults; KEY is what the sidecar has to count
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
