#!/bin/sh
# Tests of the command line: run.sh TOOL WORK_DIR PART [ARGUMENT OF PART]. Needs a device (a software renderer will do) and python3. PART names the script beside this one that has the checks.
# The checks take lists of files apart at blanks: where the build folder has one in its path, they work in another.
case $2 in *" "*)
    place=$(mktemp -d) && trap 'rm -rf "$place"' EXIT
    set -- "$1" "$place/work" "$3" "${4:-}"
    ;;
esac
. "$(dirname "$0")/common.sh"
part=$3
mkdir out

# run LIMIT... : runs the tool in the output directory, which is empty before
run() {
    (cd "$work/out" && "$tool" "$@" >"$work/stdout" 2>"$work/stderr")
    code=$?
    checks=$((checks + 1))
}

# fails CODE TEXT ARGUMENTS... : checks a failure: with -q there is only one line, except for warnings; it has TEXT. (Failures without -q: expect, in
# common.sh.)
fails() {
    want=$1
    text=$2
    shift 2
    own=$1
    shift
    run "$own" -q "$@" # behind --, -q would be an option of another command
    set -- "$own" "$@"
    [ "$code" -eq "$want" ] || note "exit code $code, not $want: $*"
    [ "$(errors)" -eq 1 ] || note "$(errors) error lines, not 1: $*"
    [ "$(grep -vc "^glslines: warning: " "$work/stderr")" -eq 1 ] || note "not one line with -q: $*"
    grep '^glslines: ' "$work/stderr" | grep -v '^glslines: warning: ' | grep -qF -e "$text" || note "the message does not name '$text': $*"
    [ -z "$(find "$work/out" -type f)" ] || note "files left behind: $(find "$work/out" -type f | tr '\n' ' '): $*"
    [ "$(find "$work/in" "$work/bad" -type f | sort | cksum)" = "$inputs" ] || note "files beside the inputs: $*"
    rm -rf "$work/out" && mkdir "$work/out"
}

# succeeds ARGUMENTS...
succeeds() {
    run "$@"
    [ "$code" -eq 0 ] || note "exit code $code, not 0: $*"
}

clean() {
    rm -rf "$work/out" && mkdir "$work/out"
}

require() {
    checks=$((checks + 1))
    "$@" >/dev/null 2>&1 || note "$*"
}

"$tool" phantom in --shape 18 20 18 --directions 30 -q || { echo "FAIL: no phantom"; exit 1; }
mkdir bad
python3 "$here/damage.py" in bad || exit 1
inputs=$(find "$work/in" "$work/bad" -type f | sort | cksum)
i=$work/in
b=$work/bad
dwi=$i/dwi.nii.gz
bval=$i/dwi.bval
bvec=$i/dwi.bvec
mask=$i/mask.nii.gz
roi=$i/roi.nii.gz

few="--nseeds 50 --sphere small"
files="$dwi $bval $bvec $mask $roi"

# sidecar KEY... VALUE: checks an entry of out/m.json
sidecar() {
    require python3 - "$work/out/m.json" "$@" <<'PYTHON'
import json, sys
entry = json.load(open(sys.argv[1]))
for key in sys.argv[2:-1]: entry = entry[key]
want = json.loads(sys.argv[-1])
assert entry == want or isinstance(want, float) and abs(entry - want) <= 1e-6 * abs(want), (entry, want)
PYTHON
}

# tracks ARGUMENTS...: gives streamlines
tracks() {
    case " $* " in *" --sphere "*) set -- --nseeds 50 "$@" ;; *) set -- $few "$@" ;; esac
    succeeds track "$@" -o m.trx --force
    require python3 -c "import json; assert json.load(open('$work/out/m.json'))['counts']['streamlines'] > 25"
}

# four_slices MASK OUT.nii: writes the four middle slices along z of a mask of the phantom
four_slices() {
    python3 - "$@" <<'PYTHON'
import gzip, struct, sys
data = bytearray(gzip.open(sys.argv[1]).read())
start = int(struct.unpack_from("<f", data, 108)[0])
slices = struct.unpack_from("<h", data, 46)[0]
size = (len(data) - start) // slices
for z in set(range(slices)) - set(range(slices // 2 - 2, slices // 2 + 2)): data[start + z * size:start + (z + 1) * size] = bytes(size)
open(sys.argv[2], "wb").write(data)
PYTHON
}

# shellcheck source=/dev/null
. "$here/$part.sh"

if [ "$failures" -gt 0 ]; then
    echo "$failures of $checks checks failed"
    exit 1
fi
echo "$checks checks passed"
