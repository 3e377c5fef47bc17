# Streamlines that are tracked again: streamlines that are kept at once stay as they are, and the bytes are the same however a run is cut up. Sourced
# by run.sh.
few="$dwi $bval $bvec $mask $roi --model opdt --sphere small --nseeds 150 --step-size 0.5 --max-angle 60 --fa-threshold 0.1 --max-directions-per-seed 3 --min-length 22 -q"
a=$work/retries
mkdir -p "$a"
fails 2 "--retries" track $few --retries 1001
fails 2 "--retries" track $few --retries -1

# once CHECKS HOW... : the run beside the one without retries, and cut up in other ways
once() {
    expression=$1
    shift
    succeeds track $few "$@" -o "$a/plain.tck" --force
    succeeds track $few "$@" --retries 12 -o "$a/again.tck" --force
    require python3 - "$a" "$expression" <<'PYTHON'
import json, math, struct, sys
def lines(name):
    data = open(name, "rb").read()
    start = int(data.split(b"file: . ")[1].split()[0])
    out, line = [], []
    for i in range(start, len(data) - 11, 12):
        x = struct.unpack_from("<3f", data, i)
        if math.isnan(x[0]): out.append(tuple(line)); line = []
        elif math.isinf(x[0]): break
        else: line.append(x)
    return out
folder, expression = sys.argv[1:]
plain, again = (lines(f"{folder}/{n}.tck") for n in ("plain", "again"))
p, c = (json.load(open(f"{folder}/{n}.json"))["counts"] for n in ("plain", "again"))
# streamlines that need no second try are the same, in the same order
at = iter(again)
assert all(line in at for line in plain), "others"
assert p["retries"] == 0 and c["directions"] == p["directions"] and c["streamlines"] == len(again)
assert c["directions"] == c["streamlines"] + sum(c["rejected"].values())
assert sum(c["half_streamline_ends"].values()) == 2 * c["directions"]
lost, left = (n["directions"] - n["streamlines"] for n in (p, c))
assert eval(expression), (p, c)
PYTHON
    for how in "--chunk-size 7" "--device llvmpipe --ngpus 2 --chunk-size 40"; do
        succeeds track $few "$@" --retries 12 $how -o "$a/other.tck" --force
        require cmp "$a/other.tck" "$a/again.tck"
        require python3 -c 'import json, sys; a, b = (json.load(open(p)) for p in sys.argv[1:]); assert a["counts"] == b["counts"]' "$a/other.json" "$a/again.json"
    done
}
once "left < lost > 20 and lost <= c['retries'] <= 12 * lost" --dg prob
# points that are left out are so, too, in streamlines that were found by a second try
once "left < lost" --dg prob --downsample 4
once "left < lost" --dg prob --compress 0.1
# a device that has no room for the points of all streamlines that it tracks at a time
long="--dg prob --step-size 0.05 --max-length 60 --nseeds 50 --max-directions-per-seed 1 --retries 12"
run_small() { GLSLINES_FORCE_LIMITS=storage_bytes=45000 "$tool" track $few "$@"; }
# shellcheck disable=SC2086
require run_small $long -o "$a/small.tck"
succeeds track $few $long -o "$a/again.tck" --force
require cmp "$a/small.tck" "$a/again.tck"
succeeds track $few --dg prob --max-length 60 --retries 12 -o "$a/again.tck" --force
for part in 1 2 3; do succeeds track $few --dg prob --max-length 60 --retries 12 --shard "$part/3" -o "$a/part.tck"; done
succeeds merge -o "$a/merged.tck" "$a"/part_shard-?of3.tck
require cmp "$a/merged.tck" "$a/again.tck"
require python3 -c 'import json, sys; a, b = (json.load(open(p)) for p in sys.argv[1:]); assert a["counts"] == b["counts"]' "$a/merged.json" "$a/again.json"
# the first streamlines, as many as are wanted
succeeds track $few --dg prob --retries 12 --select 60 -o "$a/select.tck"
succeeds track $few --dg prob --retries 12 --select 60 --chunk-size 9 -o "$a/other.tck" --force
require cmp "$a/other.tck" "$a/select.tck"
# only the ends decide, and no points are wanted
once "left < lost and c['rejected']['wrong_ends'] < p['rejected']['wrong_ends']" --dg prob --exclude-end 0,0,20,12
succeeds track $few --dg prob --exclude-end 0,0,20,12 --retries 12 -o none --density "$a/density.nii" --force
# a getter that draws nothing at random is rejected again
once "left == lost and c['retries'] == 12 * lost > 0" --dg det
clean
