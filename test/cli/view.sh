#!/bin/sh
# Tests of glslines view: view.sh TOOL WORK_DIR. Needs a device (a software renderer will do), python3, and a program built with libwebsockets.
. "$(dirname "$0")/common.sh"

if ! ldd "$tool" 2> /dev/null | grep -q libwebsockets; then
    expect 7 view x.trx
    says "libwebsockets-dev"
    [ -z "${GLS_TEST_REQUIRE_GPU:-}" ] || { echo "FAIL: the program was built without libwebsockets"; exit 1; }
    echo "skipped: the program was built without libwebsockets"
    exit 77
fi

# starts view with ARGUMENTS, and waits for its addresses: that which changes the scene, and that which looks alone
start() {
    rm -f stdprinted
    "$tool" view "$@" > stdprinted 2> stderr &
    pid=$!
    for _ in $(seq 200); do
        if [ -s stdprinted ]; then
            sed -n 1p stdprinted > stdaddress
            sed -n '2s/^read-only: //p' stdprinted > stdlook
            return 0
        fi
        kill -0 $pid 2> /dev/null || break
        sleep 0.1
    done
    note "view $*: no address"
    return 1
}

expect 0 phantom data --shape 18 20 18 --directions 30 -q
expect 0 fit data/dwi.nii.gz --model csd -o fit -q
set -- --sh fit_sh.nii.gz --sh-basis descoteaux07_legacy --fa fit_fa.nii.gz --mask data/mask.nii.gz --dg prob --device llvmpipe
expect 0 track "$@" --roi data/roi.nii.gz --nseeds 700 -o t.trx -q

printf "7\tFront left\n8\tFront right\n" > names.txt
expect 0 convert t.trx t.tck -q

# --- what it refuses ---
expect 2 view
says "got none"
expect 2 view t.trx --port 70000
expect 2 view t.trx --port -1
expect 2 view t.trx --idle -1
expect 2 view t.trx --idle nan
expect 2 view t.trx --max-streamlines 0
expect 2 view t.trx --nseeds 100001
expect 2 view t.trx --sh fit_sh.nii.gz
says "behind --"
# shellcheck disable=SC2046
expect 2 view $(for _ in $(seq 9); do echo fit_fa.nii.gz; done)
says "up to 8 images are shown"
expect 3 view none.trx
expect 3 view none.nii.gz
expect 3 view data
expect 3 view t.trx -- --sh none.nii.gz --dg ifod2
expect 2 view t.trx -- --nonsense
expect 2 view t.trx --seed-sphere 1,2,3 -- "$@"
expect 2 view t.trx --sh-basis tournier07
says "--sh-basis: needs --odf"
expect 3 view t.trx --odf none.nii.gz
expect 2 view t.trx -- "$@" --output x.trx
says "view writes nothing"
expect 2 view t.trx -- "$@" --density x.nii.gz
expect 2 view t.trx -- "$@" --quiet
says "give it before --"
expect 2 view t.trx -- "$@" --nseeds 5
says "before --: --seed-sphere"
expect 2 view t.trx -- "$@" --roi data/roi.nii.gz

# options without effect are refused by name; each needs what it is for
for option in "--atlas labels.nii" "--max-streamlines 5" "--reference fit_fa.nii.gz" "--vtk-space ras" --recover "--save-to ." "--lut names.txt" "--nseeds 5" "--seed-seed 5" "--seed-sphere 0,0,0,5"; do
    for files in fit_fa.nii.gz data "t.trx t.tck"; do
        case "$files$option" in data--save* | "t.trx"*--[amrv]*) continue ;; esac
        # shellcheck disable=SC2086
        expect 2 view $files $option
        says "${option%% *}: needs "
    done
done
expect 4 view t.trx --save-to missing
says "is no folder"
expect 4 view t.trx --save-to names.txt

# names that no browser can show; the bytes are those of no text in UTF-8
odd=$(printf 'odd\377')
cp t.trx "$odd.trx"
mkdir -p "$odd/sub-01" "named/sub-$odd"
for words in "$odd.trx" "$odd" named "t.trx --save-to $odd" "t.trx --atlas $odd.trx"; do
    # shellcheck disable=SC2086
    expect 3 view $words
    says "is no name in UTF-8"
done
mkdir -p plain/sub-01
expect 2 view plain --transform shift.txt
says "there is no image to bring"
printf '1 0 0 30\n0 1 0 0\n0 0 1 -9\n' > "$odd.txt"
expect 3 view t.trx fit_fa.nii.gz --transform "$odd.txt"
says "is no name in UTF-8"
expect 3 view t.trx --atlas fit_fa.nii.gz --lut "$odd.txt"
says "is no name in UTF-8"
rm -r "$odd.trx" "$odd" named plain "$odd.txt"

# --- a server: who may use it, what it sends, what it endures; it writes nothing ---
python3 "$here/view.py" data/mask.nii.gz labels.nii
mkdir saved
before=$(files)
if start t.trx --atlas labels.nii --lut names.txt --save-to saved --max-streamlines 200 --seed-sphere -1,2,3,4 --nseeds 50 --seed-seed 9 -q -- "$@"; then
    [ "$(wc -l < stdprinted)" -eq 2 ] || note "more than the addresses: $(cat stdprinted)"
    port=$(sed 's@.*1:\([0-9]*\)/.*@\1@' stdaddress)
    python3 "$here/view_checks.py" "$(cat stdaddress)" "$tool" t.trx labels.nii || note "the server"
    rm -rf again.trx again.json saved
    mkdir saved
    python3 "$here/view_shared.py" "$(cat stdaddress)" "$(cat stdlook)" saved $pid || note "pages that share a scene"
    python3 "$here/view_paint.py" "$(cat stdaddress)" "$tool" t.trx fit_fa.nii.gz saved || note "painting"
    rm -rf again.trx again.json saved
    mkdir saved
    "$tool" view t.trx --port "$port" > other 2>&1
    [ $? -eq 4 ] || note "a port in use: exit code $?"
    grep -q -e "--port $port" other || note "a port in use: $(cat other)"
    rm other
    # a shell's job does not get SIGINT
    kill -TERM $pid
    wait $pid
    code=$?
    [ $code -eq 0 ] || note "view after a signal: exit code $code"
fi
[ "$before" = "$(files)" ] || note "view has written files"
# sanitizers keep what is freed
[ -n "${ASAN_OPTIONS:-}" ] || python3 "$here/view_memory.py" "$tool" || note "memory of a server at rest"
rm -rf many.trx
python3 "$here/view_socket.py" "$tool" t.trx || note "a UNIX socket"
[ "$before" = "$(files)" ] || note "view --listen has left files"
python3 "$here/view_open.py" "$tool" t.trx || note "view --open"
[ "$before" = "$(files)" ] || note "view --open has left files"

# --- live tracking: every getter of FODs, controls, regions to stop in; getters of a series, without a tractogram ---
before=$(files)
for options in "t.trx fit_fa.nii.gz --atlas labels.nii --save-to saved --nthreads 1 -q -- $* --act data/5tt.nii.gz" "--save-to saved --nthreads 1 -q -- data/dwi.nii.gz --mask data/mask.nii.gz --device llvmpipe"; do
    # shellcheck disable=SC2086
    if start $options; then
        case $options in t.trx*) only= ;; *) only="boot tensordet tensorprob" ;; esac
        # shellcheck disable=SC2086
        python3 "$here/view_live.py" "$(cat stdaddress)" "$tool" saved $only || note "live tracking: $options"
        kill -TERM $pid
        wait $pid
        code=$?
        [ $code -eq 0 ] || note "view after live tracking: exit code $code"
    fi
done
[ "$before" = "$(files)" ] || note "live tracking has left files"
expect 2 view t.trx -- "$@" --rng-seed random
says "give a number"

# --- criteria beside regions: the same streamlines as those of edit, in a save, too ---
python3 - << 'END'
import json, struct, zipfile
with zipfile.ZipFile("t.trx") as a, zipfile.ZipFile("marked.trx", "w") as b:
    n = json.loads(a.read("header.json"))["NB_STREAMLINES"]
    for name in a.namelist():
        b.writestr(name, a.read(name))
    b.writestr("dps/mark.int32", struct.pack("<%di" % n, *(i % 20 for i in range(n))))
    b.writestr("dps/odd name.float32", struct.pack("<%df" % n, *(i % 7 / 7 for i in range(n))))
    b.writestr("dps/holes.float32", struct.pack("<%df" % n, *(i % 3 or float("nan") for i in range(n))))
    b.writestr("dps/three.3.float32", bytes(12 * n))
    b.writestr("groups/low.uint32", struct.pack("<%dI" % (n // 3), *range(n // 3)))
    b.writestr("groups/upper half.uint32", struct.pack("<%dI" % (n - n // 5), *range(n // 5, n)))
    b.writestr("groups/none.uint32", b"")
END
if start marked.trx fit_fa.nii.gz --odf fit_sh.nii.gz --sh-basis descoteaux07_legacy --save-to saved --nthreads 1 -q; then
    python3 "$here/view_criteria.py" "$(cat stdaddress)" "$tool" marked.trx saved || note "criteria"
    kill -TERM $pid
    wait $pid
fi
# tractograms of which one alone has columns: the command line has to say what becomes of them
if start t.trx marked.trx -q; then
    python3 "$here/view_criteria.py" "$(cat stdaddress)" "$tool" || note "selecting from files of different columns"
    kill -TERM $pid
    wait $pid
fi
rm -rf saved marked.trx again.trx again.json
mkdir saved

# --- saving: a tractogram without a grid, beside an image; one with a point that is not finite ---
python3 - << 'END'
import struct, zipfile
with zipfile.ZipFile("t.trx") as a, zipfile.ZipFile("holed.trx", "w") as b:
    for name in a.namelist():
        data = bytearray(a.read(name))
        if name.startswith("positions"):
            data[12 * 7 : 12 * 7 + 4] = struct.pack("<f", float("nan"))
        b.writestr(name, data)
END
# saves ARGUMENTS...: a bundle of view ARGUMENTS can be saved, and its script makes it again
saves() {
    start "$@" --save-to saved --atlas labels.nii --nthreads 1 -q || return
    python3 "$here/view_save.py" "$(cat stdaddress)" "$tool" saved again 7 || note "saving of view $*"
    kill -TERM $pid
    wait $pid
    rm -rf saved
    mkdir saved
}
before=$(files)
saves t.tck fit_fa.nii.gz
# names that look like options, that begin with a blank, or have what shells and tables take for something else
cp t.trx "odd ; 't.trx"
mkdir -p "./-odd dir"
for atlas in "-lab 'els; \\.nii" " labels .nii"; do
    cp labels.nii "./$atlas"
    if start "odd ; 't.trx" fit_fa.nii.gz "--save-to=-odd dir" "--atlas=$atlas" "--reference=$atlas" --nthreads 1 -q; then
        python3 "$here/view_save.py" "$(cat stdaddress)" "$tool" "-odd dir" again 7 || note "saving with the atlas $atlas"
        kill -TERM $pid
        wait $pid
    fi
    rm -f "./$atlas" ./-odd\ dir/*
done
rm -r "./-odd dir" "odd ; 't.trx"
saves holed.trx
# images of another space, which --transform brings: the same bundle
python3 - << 'END'
import gzip, struct
for old, new in (("fit_fa.nii.gz", "far_fa.nii"), ("labels.nii", "far_labels.nii")):
    raw = open(old, "rb").read()
    raw = bytearray(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
    a = struct.unpack("<12f", raw[280:328])
    struct.pack_into("<h", raw, 252, 0)
    struct.pack_into("<h", raw, 254, 1)
    # (x, y, z) of the streamlines lies at (y + 30, z, x - 9) of the images
    struct.pack_into("<12f", raw, 280, *a[4:7], a[7] + 30, *a[8:12], *a[:3], a[3] - 9)
    open(new, "wb").write(raw)
END
printf '0 1 0 0\n0 0 1 0\n1 0 0 0\n' > ./-turn.txt
printf '1 0 0 30\n0 1 0 0\n0 0 1 -9\n' > shift.txt
for space in "fit_fa.nii.gz --atlas labels.nii" "far_fa.nii --atlas far_labels.nii --transform=-turn.txt -t shift.txt"; do
    # shellcheck disable=SC2086
    if start t.trx $space --save-to saved --nthreads 1 -q; then
        python3 "$here/view_save.py" "$(cat stdaddress)" "$tool" saved again 7 || note "saving of view $space"
        kill -TERM $pid
        wait $pid
    fi
    checks=$((checks + 1))
    [ ! -e near.trx ] || cmp saved/edited.trx near.trx || note "images of another space select others: $space"
    mv saved/edited.trx near.trx || note "no selection of $space"
    rm -rf saved/*
done
# --transform behind -- would move seeds that are painted: nothing can be painted
printf '1 0 0 0\n0 1 0 0\n0 0 1 0\n' > unit.txt
if start t.trx fit_fa.nii.gz -q -- "$@" --transform unit.txt --transform-mask; then
    python3 "$here/view_guard.py" "$(cat stdaddress)" moved || note "painting beside track --transform"
    kill -TERM $pid
    wait $pid
fi
rm -f far_fa.nii far_labels.nii ./-turn.txt shift.txt unit.txt near.trx
[ "$before" = "$(files)" ] || note "saving has left files"

# --- what strokes and saves leave as it is: inputs of all kinds, regions of before ---
mkdir own
cp t.trx names.txt own
cp names.txt own/names.tsv
cp fit_fa.nii.gz own/shown_mask-1.nii.gz
cp fit_fa.nii.gz own/over_mask-1.nii.gz
cp data/mask.nii.gz own/hand_mask-1.nii.gz
before=$(files)
if start own/t.trx own/shown_mask-1.nii.gz own/over_mask-1.nii.gz --atlas labels.nii --lut own/names.tsv -q -- --sh fit_sh.nii.gz --fa fit_fa.nii.gz --mask own/hand_mask-1.nii.gz --dg prob --device llvmpipe; then
    python3 "$here/view_guard.py" "$(cat stdaddress)" inputs names shown over hand t || note "saves over inputs"
    kill -TERM $pid
    wait $pid
fi
[ "$before" = "$(files)" ] || note "saves over inputs have changed files"
python3 - << 'END'
import gzip, math, struct
head = bytearray(gzip.open("fit_fa.nii.gz").read(352))
def write(path, dim, kind, rows, values):
    struct.pack_into("<8h", head, 40, 3, *dim, 1, 1, 1, 1)
    struct.pack_into("<2h", head, 70, *kind)
    struct.pack_into("<2h", head, 252, 0, 1)
    struct.pack_into("<3f", head, 80, *(math.dist((0, 0, 0), c) for c in zip(*(r[:3] for r in rows))))
    struct.pack_into("<12f", head, 280, *(v for r in rows for v in r))
    with open(path, "wb") as f:
        f.write(head + values)
# voxels of 1, 1.5 and 4 mm, turned about two axes
a, b = math.cos(0.5), math.sin(0.5)
turn = [[a, -b * a, b * b], [b, a * a, -a * b], [0, b, a]]
rows = [[row[0], 1.5 * row[1], 4 * row[2], 0] for row in turn]
for row in rows:
    row[3] = -12 * row[0] - 9 * row[1] - 4 * row[2]
write("own/tilted.nii", (24, 18, 8), (2, 8), rows, bytes(24 * 18 * 8))
for row in rows:
    row[3] += 3
write("own/other.nii", (24, 18, 8), (2, 8), rows, bytes(24 * 18 * 8))
write("own/stripes.nii", (160, 160, 160), (2, 8), [[0.6, 0, 0, -48], [0, 0.6, 0, -48], [0, 0, 0.6, -48]], bytes((0, 1)) * (160**3 // 2))
END
for what in "tilted own/tilted.nii" grid stripes; do
    cp own/tilted.nii own/shown.nii
    [ "$what" != stripes ] || cp own/stripes.nii own/shown.nii
    if start t.trx own/shown.nii -q; then
        [ "$what" != grid ] || cp own/other.nii own/shown.nii
        [ "$what" != stripes ] || what="stripes $pid"
        # shellcheck disable=SC2086
        timeout 120 python3 "$here/view_guard.py" "$(cat stdaddress)" $what || note "painting, $what"
        kill -TERM $pid 2> /dev/null
        wait $pid
        code=$?
        [ $code -eq 0 ] || note "view after $what: exit code $code"
    fi
done
rm -r own

# --- a signal during a save: the files that it was to replace are there, even if the server is killed ---
for signal in TERM KILL; do
    rm -rf saved saved.before slow.nii
    mkdir saved
    cp labels.nii slow.nii
    if start t.trx --atlas slow.nii --save-to saved -q; then
        timeout 60 python3 "$here/view_stop.py" "$(cat stdaddress)" slow.nii saved || note "a save that goes on"
        begun=$(date +%s)
        kill -$signal $pid
        wait $pid
        code=$?
        [ $signal$code = TERM0 ] || [ $signal$code = KILL137 ] || note "SIG$signal during a save: exit code $code"
        [ $(($(date +%s) - begun)) -le 9 ] || note "SIG$signal during a save: the end takes $(($(date +%s) - begun)) s"
        diff -r -x '.x.tsv.*' saved saved.before || note "SIG$signal during a save leaves other files"
        # the command of a server that was killed goes on, and reads to the end of the pipe
        [ $signal = TERM ] || timeout 10 sh -c ': > slow.nii' || note "the command of a server that was killed does not read"
        [ $signal = KILL ] || [ -z "$(find saved -mindepth 1 -name '.*')" ] || note "SIG$signal during a save leaves $(ls -A saved)"
    fi
done
# the next save of that name removes what the killed server has left
if start t.trx --save-to saved -q; then
    [ -n "$(find saved -mindepth 1 -name '.x.tsv.*')" ] || note "a killed server leaves no folder: $(ls -A saved)"
    python3 "$here/view_stop.py" "$(cat stdaddress)" || note "a save after a server was killed"
    kill -TERM $pid
    wait $pid
    [ "$(find saved -mindepth 1 | wc -l)" -eq 5 ] || note "files after a server was killed: $(find saved)"
fi
rm -rf saved saved.before slow.nii
mkdir saved

# --- a data set: pictures, and a table of judgements that goes on ---
mkdir -p set/sub-01/figures set/sub-02/ses-a/figures set/sub-03 "set/sub-9\"q" set/code set/sub-01/figures/folder.png judged
# a file is no participant, a pipe no picture
: > set/sub-04
mkdir set/sub-03/figures
mkfifo set/sub-03/figures/pipe.png
expect 0 render t.trx -o "set/sub-01/figures/sub-01_views.png" -q
expect 0 render t.trx --views left -o "set/sub-02/ses-a/figures/of left.png" -q
expect 3 view set/code
says "has no participants"
printf 'name\tvalue\n' > set/desc-qc_participants.tsv
expect 3 view set
says "has not the columns"
rm set/desc-qc_participants.tsv
mkdir set/desc-qc_participants.tsv
expect 4 view set
rmdir set/desc-qc_participants.tsv
printf 'participant_id\tjudgement\tnote\nsub-gone\tdoubtful\tof before\n' > judged/desc-qc_participants.tsv
before=$(files)
for round in 1 2; do
    start set --save-to judged -q || continue
    first=$(cat stdaddress) other=$pid
    if start set --save-to judged -q; then
        python3 "$here/view_review.py" "$first" set judged/desc-qc_participants.tsv "$(cat stdaddress)" "$other" || note "a data set, round $round"
        kill -TERM $pid
        wait $pid
    fi
    kill -TERM "$other"
    wait "$other"
done
[ "$(grep -c . judged/desc-qc_participants.tsv)" -eq 3 ] || note "judgements: $(cat judged/desc-qc_participants.tsv)"
printf 'participant_id\tjudgement\tnote\nsub-gone\tdoubtful\tof before\n' > judged/desc-qc_participants.tsv
[ "$before" = "$(files)" ] || note "view of a data set has written files"

# --- it ends by itself, without a page ---
if start t.trx --idle 0.01 -q; then
    wait $pid
    code=$?
    [ $code -eq 0 ] || note "view --idle: exit code $code"
fi

finish "view"
