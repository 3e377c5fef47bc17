# What is written, and what is not. Sourced by run.sh.
small="--nseeds 500 --device auto --model opdt"

succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" $small -o a.trx
for file in a.trx a.json; do require test -s "$work/out/$file"; done
require test "$(find "$work/out" -type f | wc -l)" -eq 2
require test ! -s "$work/stdout"
require python3 - "$work/out/a.json" <<'PYTHON'
import json, sys
d = json.load(open(sys.argv[1]))
for key in ("renderer", "version", "mapping", "lanes"): d["device"][key]
for key in ("seeds", "directions", "streamlines", "points", "rejected"): d["counts"][key]
for key in ("read", "fit", "upload", "track", "write", "total"): d["seconds"][key]
assert d["counts"]["seeds"] == 500 and d["counts"]["streamlines"] > 0
assert sum(d["counts"]["half_streamline_ends"].values()) == 2 * d["counts"]["directions"]
assert d["counts"]["streamlines"] + sum(d["counts"]["rejected"].values()) == d["counts"]["directions"]
assert d["defaults"]["preset"] == "default" and d["defaults"]["reasons"]["max_angle_degrees"]
assert d["parameters"]["max_angle_degrees"] == 45 and d["parameters"]["sm_lambda"] == 0.006
PYTHON

# an existing output stays as it is without --force, sidecar included
cksum "$work/out/a.trx" "$work/out/a.json" >"$work/before"
run track --phantom $small -o a.trx
[ "$code" -eq 4 ] || note "existing output: exit code $code, not 4"
grep -q '^glslines: a\.trx: exists' "$work/stderr" || note "existing output is not named"
mv "$work/out/a.trx" "$work/a.trx"
run track --phantom $small -o a.trx
[ "$code" -eq 4 ] || note "existing sidecar: exit code $code, not 4"
grep -q '^glslines: a\.json: exists' "$work/stderr" || note "existing sidecar is not named"
mv "$work/a.trx" "$work/out/a.trx"
cksum "$work/out/a.trx" "$work/out/a.json" | cmp -s - "$work/before" || note "an existing output was changed"
require test "$(find "$work/out" -type f | wc -l)" -eq 2

# a sidecar stays with its output: another output of the same stem gets its own sidecar, and --force does not replace the first one
for force in "" --force; do
    succeeds track --phantom $small -o a.trk $force -q
    require grep -q '"path":.*"a\.trk"' "$work/out/a.trk.json"
    cksum "$work/out/a.trx" "$work/out/a.json" | cmp -s - "$work/before" || note "the sidecar of another output was changed"
    require test "$(find "$work/out" -type f | wc -l)" -eq 4
done
run fit "$dwi" "$bval" "$bvec" "$mask" a --model csd --force
[ "$code" -eq 4 ] || note "the sidecar of another output, fit: exit code $code, not 4"
grep -q '^glslines: a\.json: is the sidecar of a\.trx' "$work/stderr" || note "the output that has the sidecar is not named"
cksum "$work/out/a.trx" "$work/out/a.json" | cmp -s - "$work/before" || note "the sidecar of another output was changed"
rm "$work/out/a.trk" "$work/out/a.trk.json"
# a sidecar whose output does not exist any more may be replaced
succeeds track --phantom $small -o b.trx -q
rm "$work/out/b.trx"
succeeds track --phantom $small -o b.tck --force -q
require grep -q '"path":.*"b\.tck"' "$work/out/b.json"
rm "$work/out/b.tck" "$work/out/b.json"

# the batch size does not change the result; nor does a second run
cp "$work/out/a.trx" "$work/a.trx"
for chunk in 7 100 25000; do
    succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" $small -o a.trx --force -q --chunk-size $chunk
    require test ! -s "$work/stderr"
    require cmp "$work/out/a.trx" "$work/a.trx"
done
clean

for suffix in trk tck; do
    succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" $small --output-prefix p --write-method $suffix --sidecar none
    require test -s "$work/out/p.$suffix"
    require test "$(find "$work/out" -type f | wc -l)" -eq 1
    clean
done

# an empty result is a valid file, and a failure only if an option says so
succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" $small --fa-threshold 2 -o e.trx
require test -s "$work/out/e.trx"
grep -q '^glslines: warning: no streamline' "$work/stderr" || note "an empty result is not told"
grep -q '^glslines: warning:  *most half-streamlines ended by .stop_map.: lower --fa-threshold' "$work/stderr" || note "no reason for an empty result"
clean
run track "$dwi" "$bval" "$bvec" "$mask" "$roi" $small --fa-threshold 2 -o e.tck --fail-if-empty
[ "$code" -eq 6 ] || note "--fail-if-empty: exit code $code, not 6"
require test -s "$work/out/e.tck"
clean

succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" --dry-run
grep -q '^seeds  *100,000' "$work/stdout" || note "--dry-run does not show the seeds"
require test -z "$(find "$work/out" -type f)"

# places that cannot be written, also by root, whom no permission stops
: >"$work/file"
fails 4 "$work/file/a.trx" track --phantom $small -o "$work/file/a.trx"
fails 4 "$work/none/a.trx" track --phantom $small -o "$work/none/a.trx"
fails 4 "$work/none/a.json" track --phantom $small -o a.trx --sidecar "$work/none/a.json"
fails 4 "$work/file" phantom "$work/file" --shape 18 20 18
fails 4 "$i" phantom "$i" --shape 18 20 18
mkdir "$work/out/a.trx"
run track --phantom $small -o a.trx
[ "$code" -eq 4 ] || note "output is a directory: exit code $code, not 4"
clean
if [ "$(id -u)" -ne 0 ]; then
    mkdir -p "$work/locked" && chmod a-w "$work/locked"
    fails 4 "$work/locked/a.trx" track --phantom $small -o "$work/locked/a.trx"
fi

# full disk: a small file system if mounting is allowed, else a limit on the size of files, which fails in the same places
mkdir -p "$work/disk"
if mount -t tmpfs -o size=64k tmpfs "$work/disk" 2>/dev/null; then
    for suffix in trx trk tck; do
        fails 4 "$work/disk/a.$suffix" track "$dwi" "$bval" "$bvec" "$mask" "$roi" --nseeds 20000 -o "$work/disk/a.$suffix"
        require test -z "$(find "$work/disk" -type f)"
    done
    fails 4 "$work/disk/d" phantom "$work/disk/d" --shape 18 20 18
    require test -z "$(find "$work/disk" -type f)"
    umount "$work/disk"
else
    for suffix in trx trk tck; do
        # 25 is SIGXFSZ: if it is ignored, the write fails and the program goes on
        (trap '' XFSZ && ulimit -f 128 && cd out && "$tool" track "$dwi" "$bval" "$bvec" "$mask" "$roi" --model opdt --nseeds 20000 -o a.$suffix -q 2>"$work/stderr")
        code=$?
        [ "$code" -eq 4 ] || note "full disk: exit code $code, not 4"
        grep -q "^glslines: .*a\.$suffix" "$work/stderr" || note "full disk: a.$suffix is not named"
        require test -z "$(find "$work/out" -type f)"
    done
fi

# a signal stops a long run and leaves nothing
for signal in TERM:143 HUP:129 XCPU:152; do
    (cd out && exec "$tool" track "$dwi" "$bval" "$bvec" "$mask" "$roi" --model opdt --nseeds 1000000000 -o long.trx 2>"$work/stderr") &
    pid=$!
    tries=0
    while ! grep -q "^memory: " "$work/stderr" && [ "$tries" -lt 300 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    sleep 1
    kill -${signal%:*} "$pid"
    wait "$pid"
    code=$?
    checks=$((checks + 1))
    [ "$code" -eq ${signal#*:} ] || note "SIG${signal%:*}: exit code $code, not ${signal#*:}"
    require test -z "$(find "$work/out" -type f)"
done
clean

# a program that was started without standard error does not write its messages into a file of its own
(cd out && "$tool" track "$dwi" "$bval" "$bvec" "$mask" "$roi" --model opdt --nseeds 100 -o quiet.trx 2>&- >&- </dev/null)
code=$?
[ "$code" -eq 4 ] || [ "$code" -eq 0 ] || note "closed standard descriptors: exit code $code"
require python3 -c "import json; json.load(open('$work/out/quiet.json'))"
clean

# devices
succeeds devices --json
require python3 -c "import json; d = json.load(open('$work/stdout')); assert len(d) > 0 and d[0]['renderer'] and d[0]['mapping'] in ('single', 'subgroup')"
succeeds devices --doctor
grep -q '^Devices:' "$work/stdout" || note "devices --doctor lists no device"

# names of open files cannot be names of outputs
clean
few="--model opdt --nseeds 20 --device llvmpipe -q"
for name in /dev/stdout /dev/fd/1 /proc/self/fd/1; do
    (cd "$work/out" && { echo before; "$tool" track "$dwi" "$bval" "$bvec" "$mask" "$roi" $few -o a.tck --sidecar $name --force; } >"$work/kept" 2>"$work/stderr")
    code=$?
    [ "$code" -eq 4 ] || note "exit code $code, not 4: --sidecar $name"
    # a user who may not write to /dev gets that message before
    grep -q "$name: .*\(open\|Permission denied\)" "$work/stderr" || note "no word of $name"
    [ "$(cat "$work/kept")" = before ] || note "what stood in the file of $name is gone"
    [ -z "$(ls "$work/out")" ] || note "files left behind: --sidecar $name"
done

# a file that is no sidecar of ours keeps its name, with --force or without
for force in "" --force; do
    echo '{"EchoTime": 0.09}' >"$work/out/a.json"
    succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" $few -o a.tck $force
    require grep -q '"path":.*"a\.tck"' "$work/out/a.tck.json"
    require grep -q EchoTime "$work/out/a.json"
    rm "$work/out/a.tck" "$work/out/a.tck.json"
    for command in fit response; do
        run $command "$dwi" "$bval" "$bvec" "$mask" a $force
        [ "$code" -eq 4 ] || note "exit code $code, not 4: $command $force"
        require grep -q EchoTime "$work/out/a.json"
        [ "$(ls "$work/out")" = a.json ] || note "$command wrote beside a file of another program"
    done
done
# the other name may be taken as well; if both are, nothing is written
for force in "" --force; do
    clean
    echo '{"EchoTime": 0.09}' >"$work/out/a.tck.json"
    succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" $few -o a.tck $force
    require grep -q '"path":.*"a\.tck"' "$work/out/a.json"
    require grep -q EchoTime "$work/out/a.tck.json"
    rm "$work/out/a.tck"
    cp "$work/out/a.tck.json" "$work/out/a.json"
    run track "$dwi" "$bval" "$bvec" "$mask" "$roi" $few -o a.tck $force
    [ "$code" -eq 4 ] || note "exit code $code, not 4: both names of the sidecar are taken $force"
    require cmp "$work/out/a.tck.json" "$work/out/a.json"
    [ -e "$work/out/a.tck" ] && note "a tractogram without its sidecar $force"
done
# an output that is itself called x.json has its sidecar beside it, also when it is written again
clean
for force in "" --force; do
    succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" $few -o none --output-seeds a.json $force
    require grep -q '^#Track_index' "$work/out/a.json"
    require grep -q '"path":.*"a\.json"' "$work/out/a.json.json"
done
run track "$dwi" "$bval" "$bvec" "$mask" "$roi" $few -o none
[ "$code" -eq 2 ] || note "exit code $code, not 2: a run that would write nothing"
require grep -q 'nothing would be written' "$work/stderr"
# nor does a tractogram get the sidecar of responses
clean
succeeds response "$dwi" "$bval" "$bvec" "$mask" a --algorithm fa --shells 2000 -q
require python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["parameters"]["shells_s_per_mm2"] == [2000]' "$work/out/a.json"
cp "$work/out/a.json" "$work/kept"
succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" $few -o a.tck --force
require cmp "$work/kept" "$work/out/a.json"
clean

# the name of a mask is checked before the work, and each shard has a mask of its own
fails 2 "m.txt" track "$dwi" "$bval" "$bvec" "$mask" "$roi" $few -o a.tck --write-mask m.txt
for part in 1 2; do succeeds track "$dwi" "$bval" "$bvec" "$mask" "$roi" $few -o a.tck --shard $part/2 --write-mask m.nii.gz; done
require cmp "$work/out/m_shard-1of2.nii.gz" "$work/out/m_shard-2of2.nii.gz"
clean

# names as long as the system allows, in plans and in messages
deep=$(python3 -c 'print("/".join(["x" * 200] * 9))')
mkdir -p "$work/out/$deep"
run track "$dwi" "$bval" "$bvec" "$mask" "$roi" $few -o "$deep/a.tck" --dry-run
[ "$code" -eq 0 ] || note "exit code $code, not 0: a plan with a long name"
require grep -q "^output  *$deep/a.tck" "$work/stdout"
run track "$deep/a.nii.gz" "$bval" "$bvec" "$mask" "$roi" $few -o a.tck
[ "$code" -eq 3 ] || note "exit code $code, not 3: a long name that is not there"
grep -q "a.nii.gz: cannot be read: No such file" "$work/stderr" || note "no reason behind a long name"
clean
