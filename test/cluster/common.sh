# Sourced by the scripts beside it: CLUSTER_GLSLINES and CLUSTER_WORK are their arguments. Leaves the folder with a small subject in it as the current one.

fail() {
    echo "FAIL $*" >&2
    exit 1
}

# Prints the block of the manual behind this marker, without its fences.
manual_block() {
    awk -v marker="<!-- tested: $1 -->" '$0 == marker { found = 1; next } found && /^```/ { if (inside) exit; inside = 1; next } inside' "$root/src/doc/clusters.md"
}

# the number of seeds, here 300, does not matter: the test is which task tracks which seeds
SEEDS=601
input="dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz wm.nii.gz"

prepare() { # GLSLINES WORK
    [ $# -eq 2 ] && [ -x "$1" ] || fail "usage: sh $0 GLSLINES WORK_FOLDER"
    program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
    rm -rf "$2"
    mkdir -p "$2/bin" && work=$(cd "$2" && pwd) || fail "$2: cannot be made"
    ln -s "$program" "$work/bin/glslines"
    PATH=$work/bin:$PATH
    export PATH
    glslines phantom "$work/subject" --shape 18 20 18 --directions 30 -q && mv "$work/subject/roi.nii.gz" "$work/subject/wm.nii.gz" || fail "no phantom"
    cd "$work/subject" || exit 1
    # shellcheck disable=SC2086
    timeout -k 5 120 glslines track $input --nseeds $SEEDS -o single.trx -q || fail "the single run"
}

# same FILE: checks that the merged tractogram is that of the single run, and so is its sidecar, except names of this run
same() {
    cmp single.trx "$1" || fail "$1 is not the file of one run"
    python3 - single.json "${1%.trx}.json" <<'PYTHON' || fail "the sidecar of $1 is not that of one run"
import json, sys
single, merged = (json.load(open(path)) for path in sys.argv[1:])
assert len(merged["run"]["shards"]) > 1
for d in (single, merged):
    del d["command_line"], d["run"], d["seconds"], d["output"]["path"], d["parameters"]["output"]
# shards do not know the median of lengths that are no multiples of the step
if merged["lengths"]["median_mm"] is None:
    single["lengths"]["median_mm"] = None
assert single == merged and list(single) == list(merged), [key for key in single if single[key] != merged.get(key)]
PYTHON
}
