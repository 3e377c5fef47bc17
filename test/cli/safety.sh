# Nothing is overwritten by mistake, nothing is left behind, and files that belong together appear together. Sourced by run.sh.
files="$dwi $bval $bvec $mask $roi"
few="--nseeds 100 --model opdt --sphere small -q"

# one_line CODE TEXT: checks how the last run failed
one_line() {
    [ "$code" -eq "$1" ] || note "exit code $code, not $1: $2"
    grep -qF -e "$2" "$work/stderr" || note "the message does not name '$2'"
}

# a sphere on which a hull once overflowed
printf '1 1 2\n0 1 0\n1 0 1\n0 1 1\n-1 1 0\n1 -1 1\n1 1 1\n1 1 -1\n' >"$work/eight.txt"
run track $files --sphere "$work/eight.txt" --dg det --nseeds 3 -o x.trx -q
[ "$code" -lt 128 ] || note "a sphere of eight directions: exit code $code"
clean

# two outputs are never one file, under whatever name
fails 2 "this output is text" track $files $few -o a.trx --sidecar ./a.trx
fails 4 "another output" track $files $few -o a.trx --output-seeds a.txt --sidecar ./a.txt
mkdir "$work/bad/folder"
fails 4 "another output" track $files $few -o a.trx --output-seeds a.txt --sidecar "../bad/../out/a.txt"
# also with --skip-existing, and before the inputs are read
head -c 500 "$dwi" >"$work/bad/series.nii.gz"
inputs=$(find "$work/in" "$work/bad" -type f | sort | cksum)
fails 4 "another output" track "$work/bad/series.nii.gz" $bval $bvec $mask $roi $few -o a.trx --output-seeds a.txt --sidecar ./a.txt --skip-existing
fails 4 "is an input" track "$work/bad/series.nii.gz" $bval $bvec $mask $roi $few -o a.trx --sidecar $bval --skip-existing
rm "$work/bad/series.nii.gz"
inputs=$(find "$work/in" "$work/bad" -type f | sort | cksum)
for force in "" --force; do
    echo old >"$work/out/a.trx"
    ln "$work/out/a.trx" "$work/out/hard.json"
    ln -s a.trx "$work/out/soft.json"
    for name in hard.json soft.json; do
        run track $files $few -o a.trx --sidecar $name $force
        one_line 4 "a.trx"
        grep -qx old "$work/out/a.trx" || note "the tractogram was changed through $name"
    done
    clean
done

# inputs and special files are not replaced, with --force, too
cp -r "$i" "$work/own"
cp "$mask" "$work/own/s_fa.nii.gz"
sum=$(cat "$work"/own/*.* | cksum)
o=$work/own
for name in dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz roi.nii.gz; do
    ln "$o/$name" "$work/name.json"
    run track "$o/dwi.nii.gz" "$o/dwi.bval" "$o/dwi.bvec" "$o/mask.nii.gz" "$o/roi.nii.gz" $few -o a.trx --sidecar "$work/name.json" --force
    one_line 4 "is an input"
    rm "$work/name.json"
done
run fit "$o/dwi.nii.gz" "$o/dwi.bval" "$o/dwi.bvec" "$o/s_fa.nii.gz" "$o/s" --force -q
one_line 4 "is an input"
[ "$(cat "$work"/own/*.* | cksum)" = "$sum" ] || note "an input was changed"
[ -z "$(ls "$work/out")" ] || note "files beside inputs that would be overwritten"
# nor are files that are read along with them: the other file of a pair, the values of a .mih, under any name
rm -r "$work/own"
mkdir "$work/own"
for name in dwi mask roi; do python3 "$here/pair.py" "$i/$name.nii.gz" "$o/$name.hdr"; done
cp "$bval" "$bvec" "$o"
python3 - "$o" <<'PYTHON'
import struct, sys
head = open(f"{sys.argv[1]}/roi.hdr", "rb").read()
dim, vox = struct.unpack_from("<3h", head, 42), struct.unpack_from("<3f", head, 80)
rows = [struct.unpack_from("<4f", head, at) for at in (280, 296, 312)]
text = "mrtrix image\ndim: %d,%d,%d\nvox: %g,%g,%g\nlayout: +0,+1,+2\ndatatype: UInt8\n" % (*dim, *vox)
for row in rows: text += "transform: %g, %g, %g, %g\n" % (*(row[c] / vox[c] for c in range(3)), row[3])
open(f"{sys.argv[1]}/labels.mih", "w").write(text + "file: roi.img 0\nEND\n")
PYTHON
series="$o/dwi.hdr $bval $bvec $o/mask.hdr $o/roi.hdr"
succeeds track $series $few -o t.trx
mv "$work/out/t.trx" "$work/pair.trx"
clean
sum=$(cat "$work"/own/* "$work/pair.trx" | cksum)
ln "$o/dwi.img" "$o/hard.nii.gz"
for name in dwi.img mask.img roi.img roi.hdr; do ln "$o/$name" "$o/$name.txt"; done
ln "$o/mask.img" "$o/mask.html"
# stays PATH ARGUMENTS...: checks that an output that is a part of an input is refused
stays() {
    taken=$1
    shift
    run "$@" --force
    one_line 4 "$taken: is an input"
}
for name in dwi mask roi; do
    stays "$o/$name.img.txt" track $series $few -o a.trx --output-seeds "$o/$name.img.txt"
    stays "$o/$name.img.txt" track $series $few -o a.trx --sidecar "$o/$name.img.txt"
done
stays "$o/hard.nii.gz" track $series $few -o a.trx --density "$o/hard.nii.gz"
stays "$o/mask.img.txt" track $series $few -o a.trx --connectome "$o/mask.hdr:$o/mask.img.txt"
stays "$o/mask.img.txt" track $series $few -o a.trx --include "$o/mask.hdr:1" --output-seeds "$o/mask.img.txt"
for labels in roi.hdr labels.mih; do stays "$o/roi.img.txt" connectome "$work/pair.trx" "$o/$labels" "$o/roi.img.txt"; done
stays "$o/roi.hdr.txt" connectome "$work/pair.trx" "$o/roi.img" "$o/roi.hdr.txt"
stays "$o/mask.img.txt" sample "$work/pair.trx" "$o/mask.hdr" -o "$o/mask.img.txt"
stays "$o/mask.img.txt" stats "$work/pair.trx" --reference "$o/mask.hdr" -o "$o/mask.img.txt"
ln "$o/roi.img" "$o/p_wm.txt"
stays "$o/p_wm.txt" response "$o/dwi.hdr" "$bval" "$bvec" "$o/roi.hdr" "$o/p" -q
ln "$o/mask.img" "$o/p.png"
stays "$o/p.png" render "$work/pair.trx" --image "$o/mask.hdr" -o "$o/p.png"
stays "$o/mask.html" report "$work/pair.trx" --image "$o/mask.hdr" -o "$o/mask.html"
echo "0.0015 0.0003 0.0003 1000" >"$work/bad/response.txt"
stays "$work/bad/response.txt" bench --model csd --response "$work/bad/response.txt" --json="$work/bad/response.txt" -q
rm "$o/hard.nii.gz" "$o/p_wm.txt" "$o/p.png" "$o"/*.img.txt "$o/roi.hdr.txt" "$o/mask.html" "$work/bad/response.txt"
[ "$(cat "$work"/own/* "$work/pair.trx" | cksum)" = "$sum" ] || note "a part of an input was changed"
[ -z "$(ls "$work/out")" ] || note "files beside inputs that would be overwritten"
mkfifo "$work/out/fifo"
ln -s nowhere "$work/out/soft"
for node in fifo soft /dev/null; do
    run track $files $few -o a.trx --sidecar $node --force
    one_line 4 "$node"
    run score --json=$node --force --nseeds 10 -q
    one_line 4 "$node"
    run bench --json=$node --force -q
    one_line 4 "$node"
done
[ -p "$work/out/fifo" ] && [ -L "$work/out/soft" ] && [ -c /dev/null ] || note "a special file was replaced"
clean

# if standard descriptors are closed, no file gets their numbers and then messages
(cd "$work/out" && "$tool" track $files --nseeds 100 --sphere small -o a.trx <&- >&- 2>&-)
require python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$work/out/a.json"
clean

# killed at any moment, the program leaves nothing
folder_of() { find "$work/out" -type f | wc -l; }
for signal in KILL HUP PIPE XCPU USR1 TERM; do
    (cd "$work/out" && exec "$tool" track $files --nseeds 20000000 --sphere small -o a.trx >"$work/stdout" 2>"$work/stderr") &
    child=$!
    until grep -q 'seeds' "$work/stderr" || ! kill -0 $child 2>/dev/null; do sleep 0.1; done
    sleep 0.5
    kill -$signal $child 2>/dev/null
    [ $signal != PIPE ] || { sleep 0.2; kill -TERM $child; } # which is ignored
    wait $child
    code=$?
    [ $code -ge 128 ] || note "signal $signal: exit code $code"
    require test "$(folder_of)" -eq 0
    clean
done
for pause in 0.3 0.6 0.9; do
    (cd "$work/out" && exec "$tool" phantom p --shape 40 44 40 -q) &
    child=$!
    sleep $pause
    kill -KILL $child
    wait $child
    left=$(find "$work/out" -name '.*' -type f | wc -l)
    [ "$left" -eq 0 ] || note "phantom: $left hidden files after SIGKILL"
    all=$(folder_of)
    [ "$all" -eq 0 ] || [ -s "$work/out/p/dwi.nii.gz" ] || note "phantom: a part of the files after SIGKILL"
    clean
done

# a signal that comes when all outputs have their names has no effect
python3 - "$tool" "$work/out" track $files $few -o a.trx <<'PYTHON' || note "SIGTERM when all was written: $(cat "$work/out/codes")"
import os, signal, subprocess, sys, time
tool, folder, *arguments = sys.argv[1:]
os.chdir(folder)
codes = []
for wait in (0, 0, 0.001, 0.003, 0.01, 0.03):
    run = subprocess.Popen([tool, *arguments], stderr=subprocess.DEVNULL)
    while run.poll() is None and not (os.path.exists("a.trx") and os.path.exists("a.json")):
        time.sleep(0.0003)
    time.sleep(wait)
    run.send_signal(signal.SIGTERM)
    codes.append(run.wait())
    os.unlink("a.trx")
    os.unlink("a.json")
print(codes, file=open("codes", "w"))
sys.exit(any(codes))
PYTHON
checks=$((checks + 1))
clean

# the program waits for an input that is a pipe, and one signal ends that: a pipe without a writer, without data, or with a part of the data
succeeds track $files $few -o t.trx --sidecar none
mv "$work/out/t.trx" "$work/t.trx"
printf 'bundle\tinclude\nA\tpipe.nii.gz\n' >"$work/bundles.tsv"
python3 - "$tool" "$work/out" "$work/t.trx" "$mask" "$work/bundles.tsv" <<'PYTHON' || note "inputs that are pipes: $(cat "$work/out/wrong")"
import os, signal, subprocess, sys, time
tool, folder, tracks, mask, bundles = sys.argv[1:]
os.chdir(folder)
wrong = []
commands = {"template": f"density {tracks} o.nii.gz --template pipe.nii.gz", "weights": f"stats {tracks} --weights pipe.nii.gz -o o.tsv",
            "region of a table": f"segment {tracks} {folder}/bundles.tsv -o o.trx", "report": f"report {tracks} --image pipe.nii.gz -o o.html",
            "region": "track --phantom --model opdt --nseeds 10 --include pipe.nii.gz -o o.trx"}

def is_open(pid, name):
    folder = f"/proc/{pid}/fd"
    try:
        return any(os.readlink(f"{folder}/{fd}").endswith(name) for fd in os.listdir(folder))
    except OSError:
        return False

for what, line in commands.items():
    for said, kind, code in ((None, signal.SIGINT, 130), (b"", signal.SIGTERM, 143), (open(mask, "rb").read()[:100], signal.SIGQUIT, 131)):
        os.mkfifo("pipe.nii.gz")
        with open("bundles.tsv", "w") as file:
            file.write(open(bundles).read())
        writer = -1 if said is None else os.open("pipe.nii.gz", os.O_RDWR)
        if said:
            os.write(writer, said)
        run = subprocess.Popen([tool, *line.split(), "-q"], stderr=subprocess.PIPE, text=True)
        waits, until = False, time.monotonic() + 20
        while run.poll() is None and not waits and time.monotonic() < until:
            time.sleep(0.02)
            waits = is_open(run.pid, "pipe.nii.gz")
        run.send_signal(kind)
        try:
            error = run.communicate(timeout=20)[1]
        except subprocess.TimeoutExpired:
            run.kill()
            error = run.communicate()[1]
        left = sorted(set(os.listdir()) - {"pipe.nii.gz", "bundles.tsv", "wrong"})
        if not waits or run.returncode != code or left or len(error.splitlines()) != 1 or "interrupted" not in error:
            wrong.append(f"{what}, {said is not None} {kind.name}: waits {waits}, exit code {run.returncode}, left {left}: {error}")
        for name in ["pipe.nii.gz", "bundles.tsv", *left]:
            os.unlink(name)
        if writer >= 0:
            os.close(writer)
# a region of a table is read twice
def fed(line):
    run = subprocess.Popen([tool, *line.split()], stderr=subprocess.PIPE, text=True)
    while run.poll() is None and not is_open(run.pid, "pipe.nii.gz"):
        time.sleep(0.02)
    if "--resume" in line:
        open("o.trx", "w").close()
    try:
        # after the program has ended it reads no pipe, and says why
        pipe = os.open("pipe.nii.gz", os.O_WRONLY | os.O_NONBLOCK)
        os.set_blocking(pipe, True)
        with open(pipe, "wb") as file:
            file.write(open(mask, "rb").read())
    except OSError:
        pass
    return run.communicate(timeout=60)[1], run.returncode

os.mkfifo("pipe.nii.gz")
with open("bundles.tsv", "w") as file:
    file.write(open(bundles).read())
error, code = fed("track --unheard-of")
if code != 2:
    wrong.append(f"a program that ends early: exit code {code}: {error}")
error, code = fed("track --phantom --model opdt --nseeds 10 --segment bundles.tsv -o o.trx -q")
if code != 3 or "pipe.nii.gz: is not a regular file" not in error:
    wrong.append(f"region of a table of track: exit code {code}: {error}")
os.unlink("bundles.tsv")
# an output that another run makes while this one reads its inputs stays, and no journal is left
error, code = fed(commands["region"] + " --resume -q")
if code != 4 or "o.trx: exists already" not in error or sorted(os.listdir()) != ["o.trx", "pipe.nii.gz"]:
    wrong.append(f"output beside a journal: exit code {code}, left {os.listdir()}: {error}")
os.unlink("o.trx")
os.unlink("pipe.nii.gz")
# a pipe that gives all data works as a file does
os.mkfifo("pipe.nii.gz")
run = subprocess.Popen([tool, "density", tracks, "o.nii", "--template", "pipe.nii.gz", "-q"])
with open("pipe.nii.gz", "wb") as pipe:
    for byte in open(mask, "rb").read():
        pipe.write(bytes([byte]))
        pipe.flush()
subprocess.run([tool, "density", tracks, "p.nii", "--template", mask, "-q"])
if run.wait() != 0 or open("o.nii", "rb").read() != open("p.nii", "rb").read():
    wrong.append("the map on the grid of a pipe is another")
print(*wrong, sep="; ", file=open("wrong", "w"))
sys.exit(bool(wrong))
PYTHON
checks=$((checks + 1))
clean
# inputs that are read twice, or identified in the sidecar, have to be files
mkfifo "$work/out/pipe.nii.gz" "$work/out/pipe.mif" "$work/out/pipe.bval"
run track pipe.nii.gz $bval $bvec $mask $roi $few -o a.trx
one_line 3 "pipe.nii.gz: is not a regular file"
run track $dwi pipe.bval $bvec $mask $roi $few -o a.trx
one_line 3 "pipe.bval: is not a regular file"
run density "$work/t.trx" a.nii.gz --template pipe.mif
one_line 3 "pipe.mif: is not a regular file"
require test "$(find "$work/out" -type f | wc -l)" -eq 0
clean

# a full disk is an error of the output, and leaves nothing
for command in "track $files $few --nseeds 5000 -o a.trx" "fit $dwi $bval $bvec $mask f -q" "phantom p --shape 18 20 18 -q"; do
    (cd "$work/out" && ulimit -f 16 && exec "$tool" $command >"$work/stdout" 2>"$work/stderr")
    code=$?
    one_line 4 "File too large"
    require test "$(folder_of)" -eq 0
    clean
done

# a sidecar that appears during the run is not replaced; nothing of the run is left then
(cd "$work/out" && exec "$tool" track $files --nseeds 3000 --sphere small --chunk-size 100 -o a.trx --sidecar s.json >"$work/stdout" 2>"$work/stderr") &
child=$!
until grep -q 'seeds' "$work/stderr" || ! kill -0 $child 2>/dev/null; do sleep 0.05; done
echo mine >"$work/out/s.json"
wait $child
code=$?
one_line 4 "s.json: exists already"
grep -qx mine "$work/out/s.json" || note "a sidecar that appeared meanwhile was overwritten"
require test "$(folder_of)" -eq 1
clean
# two runs of one stem at once: each has its own sidecar
for suffix in trx tck; do
    (cd "$work/out" && exec "$tool" track $files $few -o st.$suffix 2>"$work/stderr.$suffix") &
    eval "child_$suffix=$!"
done
wait "$child_trx" || note "first of two runs"
wait "$child_tck" || note "second of two runs"
require test "$(folder_of)" -eq 4
clean

# damaged shards: bad input, by its name
succeeds track $files $few --shard 1/2 -o s.tck --sidecar none
succeeds track $files $few --shard 2/2 -o s.tck --sidecar none
mv "$work"/out/s_shard-*.tck "$work/"
python3 - "$work/s_shard-1of2.tck" "$work/bad" <<'PYTHON'
import sys
data = open(sys.argv[1], "rb").read()
start = int(data[data.index(b"file: . ") + 8:].split()[0])
for number, (at, value) in enumerate([(start, b"\0\0\xc0\x7f"), (start + 4, b"\0\0\x80\x7f"), (len(data) - 12, b"\0\0\0\0"), (40, b"\xff"), (start + 24, b"\1\2\3\4")]):
    open(f"{sys.argv[2]}/shard{number}.tck", "wb").write(data[:at] + value + data[at + len(value):])
for share in (3, 9):
    open(f"{sys.argv[2]}/cut{share}.tck", "wb").write(data[: len(data) * share // 10])
PYTHON
inputs=$(find "$work/in" "$work/bad" -type f | sort | cksum)
for shard in "$work"/bad/shard*.tck "$work"/bad/cut*.tck; do
    fails 3 "$shard" merge -o o.tck "$shard" "$work/s_shard-2of2.tck" --sidecar none
done

# ODFs without a positive value, for every getter that takes them
python3 - "$b/sh15.nii.gz" "$work/bad" <<'PYTHON'
import gzip, struct, sys
image = bytearray(gzip.open(sys.argv[1]).read())
start = int(struct.unpack_from("<f", image, 108)[0])
struct.pack_into("<2h", image, 70, 16, 32)
for name, value in (("zero", 0.0), ("nan", float("nan"))):
    body = struct.pack("<f", value) * (len(image) - start)
    gzip.open(f"{sys.argv[2]}/{name}.nii.gz", "wb", 1).write(image[:start] + body)
PYTHON
inputs=$(find "$work/in" "$work/bad" -type f | sort | cksum)
for dg in prob det ptt; do
    for name in zero nan; do
        fails 3 "$name.nii.gz: has no ODF" track --sh "$b/$name.nii.gz" --fa "$mask" --roi "$roi" --dg $dg --nseeds 10
    done
done

# a vector that is not finite is warned of if it does not matter, and refused if it does
sed '2s/^ *[^ ]*/nan/' "$bvec" >"$work/b0.bvec"
run track "$dwi" "$bval" "$work/b0.bvec" "$mask" "$roi" --nseeds 10 --sphere small -v -o n.trx
[ "$code" -eq 0 ] || note "a vector of a b0 that is no number: exit code $code"
grep -q 'b0.bvec: volume 0 .*not a finite number' "$work/stderr" || note "a vector of a b0 that is no number is not told"
clean

# limits that are none
for limits in texture_3d=x texture=64 texture_3d 'texture_3d=64;' gles32; do
    (cd "$work/out" && GLSLINES_FORCE_LIMITS=$limits "$tool" track $files $few -o a.trx >"$work/stdout" 2>"$work/stderr")
    code=$?
    one_line 2 GLSLINES_FORCE_LIMITS
    require test "$(folder_of)" -eq 0
done

# an address space without room for OpenBLAS, which would wait for it for ever: what needs no linear algebra runs, the rest is an error
if [ -z "${ASAN_OPTIONS:-}" ]; then
    for limit in 140000 160000 200000 250000 300000; do
        for command in --version "help track" "fit $dwi $bval $bvec $mask f"; do
            # shellcheck disable=SC2086
            (cd "$work/out" && ulimit -v $limit && export OMP_NUM_THREADS=2 && unset OPENBLAS_NUM_THREADS && exec timeout -s KILL 20 "$tool" $command >"$work/stdout" 2>"$work/stderr")
            code=$?
            case $command in fit*) one_line 1 "ulimit -v" ;; *) require test "$code" -eq 0 ;; esac
            require test "$(folder_of)" -eq 0
        done
    done
    # without /proc this part is found beside the path with which the program was started
    mkdir -p "$work/alone"
    run fit $dwi $bval $bvec $mask "$work/alone/f" -q
    if unshare -m mount -t tmpfs tmpfs /proc 2>/dev/null; then
        (cd "$work/out" && exec unshare -m sh -c 'mount -t tmpfs tmpfs /proc && exec "$@"' sh "$tool" fit $dwi $bval $bvec $mask f -q 2>"$work/stderr") || note "without /proc: $(cat "$work/stderr")"
        for file in "$work"/alone/f_*; do require cmp "$file" "$work/out/${file##*/}"; done
        rm -f "$work"/out/*
    else
        echo "left out: a fit without /proc, because no file system can be mounted here"
    fi
    # a program without the part that is linked to OpenBLAS: what needs no linear algebra runs, the rest is an error
    cp "$tool" "$work/alone/glslines"
    run fit $dwi $bval $bvec $mask "$work/alone/s" --model opdt -q
    [ "$code" -eq 0 ] || note "the fit: exit code $code"
    for command in "fit $dwi $bval $bvec $mask f" "track $files --nseeds 5 --dg tensordet" "track $files $few" "peaks $work/alone/s_sh.nii.gz -o p.nii"; do
        # shellcheck disable=SC2086
        (cd "$work/out" && exec timeout -s KILL 20 "$work/alone/glslines" $command >"$work/stdout" 2>"$work/stderr")
        code=$?
        [ "$code" -eq 0 ] || one_line 7 "libglslines_blas"
    done
    rm -rf "$work/alone" "$work"/out/*
fi
