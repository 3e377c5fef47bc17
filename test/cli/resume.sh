# A run that was killed goes on from its journal and gives the bytes of one that was not. Sourced by run.sh.
run_of="$dwi $bval $bvec $mask $roi --model opdt --dg prob --sphere small --chunk-size 50 -q"

# same FILE...: compares with the undisturbed run; no other file may lie beside them
same() {
    for name; do require cmp "$work/out/$name" "$work/whole/$name"; done
    require test "$(find "$work/out" -type f | wc -l)" -eq $(($# + 1))
}

# undisturbed ARGUMENTS...: makes the run whose bytes the others have to give
undisturbed() {
    rm -rf "$work/whole"
    succeeds "$@"
    mv "$work/out" "$work/whole" && mkdir "$work/out"
}

# killed SIGNAL BYTES ARGUMENTS...: ends a run as soon as the journal has so many bytes
killed() {
    (cd "$work/out" && exec python3 - "$work/stderr" "a.$suffix.resume" "$tool" "$@") <<'PYTHON'
import os, signal, subprocess, sys, time
stderr, journal, tool, name, size, *arguments = sys.argv[1:]
before = set(os.listdir("."))
for attempt in range(10):
    run = subprocess.Popen([tool, *arguments], stderr=open(stderr, "w"))
    while run.poll() is None and not (os.path.exists(journal) and os.path.getsize(journal) >= int(size)):
        time.sleep(0.001)
    run.send_signal(getattr(signal, "SIG" + name))
    if run.wait() != 0 or before:
        break
    for output in os.listdir("."): # it was over before
        os.unlink(output)
sys.exit(run.wait() if run.wait() >= 0 else 128 - run.wait())
PYTHON
    code=$?
    checks=$((checks + 1))
    [ "$(find "$work/out" -type f)" = "$work/out/a.$suffix.resume" ] || note "not the journal alone: $(ls "$work/out")"
}

python3 - "$mask" "$work/labels.nii.gz" <<'PYTHON'
import gzip, struct, sys
image = bytearray(gzip.open(sys.argv[1]).read())
start = int(struct.unpack_from("<f", image, 108)[0])
for i in range(start, len(image)):
    image[i] = image[i] and 1 + (i - start) % 18 // 9 if image[70] == 2 else image[i]
gzip.open(sys.argv[2], "wb", 1).write(image)
PYTHON
labels=$work/labels.nii.gz

suffix=trx
all="track $run_of --nseeds 1500 -o a.trx"
undisturbed $all
killed KILL 100000 $all --resume
succeeds $all --resume
same a.trx
require python3 - "$work/out/a.json" "$work/whole/a.json" <<'PYTHON'
import json, sys
a, b = (json.load(open(name)) for name in sys.argv[1:])
assert all(a[key] == b[key] for key in ("counts", "lengths", "inputs", "output"))
PYTHON
clean
# killed twice, by a signal that ends it in order, and with the last record torn
killed TERM 60000 $all --resume
[ "$code" -eq 143 ] || note "SIGTERM: exit code $code"
grep -q 'to continue this run, give the same command' "$work/stderr" || note "SIGTERM: nothing about going on"
printf 'GLSPARCL torn' >>"$work/out/a.trx.resume"
killed KILL 250000 $all --resume
truncate -s -7 "$work/out/a.trx.resume"
cp "$work/out/a.trx.resume" "$work/journal"
succeeds $all --resume
same a.trx
clean
# a byte in the middle has changed: the seeds from there on are tracked again
cp "$work/journal" "$work/out/a.trx.resume"
printf '\252' | dd of="$work/out/a.trx.resume" bs=1 seek=70000 conv=notrunc 2>/dev/null
succeeds $all --resume
same a.trx
clean

# files that are no journal of this run
other() {
    cp "$work/journal" "$work/out/a.trx.resume"
    run "$@"
    [ "$code" -eq 4 ] || note "exit code $code, not 4: $*"
    grep -q 'a.trx.resume: ' "$work/stderr" || note "the journal is not named: $*"
    require cmp "$work/journal" "$work/out/a.trx.resume"
    require test "$(find "$work/out" -type f | wc -l)" -eq 1
}
other $all --resume --max-angle 30
other $all --resume --nseeds 1501
other track "$dwi" "$bval" "$bvec" "$mask" "$mask" --model opdt --dg prob --sphere small --nseeds 1500 -o a.trx --resume -q
other $all --resume --mask-stop interpolated
clean
cp "$work/journal" "$work/out/a.trx.resume"
flock "$work/out/a.trx.resume" sleep 30 &
child=$!
sleep 0.3
other $all --resume
grep -q 'another run is at work' "$work/stderr" || note "a run beside it is not told"
kill $child
wait $child
clean
cp "$work/journal" "$work/out/a.trx.resume"
succeeds $all --resume --force --max-angle 25
same a.trx
clean
head -c 5000 /dev/urandom >"$work/journal"
other $all --resume
clean
mkfifo "$work/out/a.trx.resume"
run $all --resume
[ "$code" -eq 4 ] || note "a pipe as journal: exit code $code"
[ -p "$work/out/a.trx.resume" ] || note "a pipe was replaced"
clean
fails 4 "a.trx.resume" $all --resume --sidecar a.trx.resume
clean

# other formats, two devices, maps and matrices
for case in "tck --device llvmpipe,llvmpipe" "trk --density d.nii.gz --connectome $labels:m.csv" "trx --select 700 --nseeds 0 --device llvmpipe --ngpus 2"; do
    suffix=${case%% *}
    all="track $run_of --nseeds 1500 -o a.$case"
    files=a.$suffix
    case $case in *density*) files="$files d.nii.gz m.csv" ;; esac
    undisturbed $all
    killed KILL 150000 $all --resume
    succeeds $all --resume
    # shellcheck disable=SC2086
    same $files
    clean
done
