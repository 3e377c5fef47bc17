#!/bin/sh
# Reports and the window of view in a browser, reports without a network: the 3-D view draws, left is left, axe-core finds nothing, hostile names stay text.
# Usage: sh test/report/chromium.sh TOOL WORK_FOLDER AXE.js. Needs chromium, python3 and tidy.
set -u
tool=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")" && pwd)
axe=$(cd "$(dirname "$3")" && pwd)/$(basename "$3")
rm -rf "$2"
mkdir -p "$2" && cd "$2" || exit 1
failures=0
. "$here/../have.sh"

note() {
    failures=$((failures + 1))
    echo "FAIL: $*"
}

# a namespace without a network, where one may be made
alone=
unshare -n true 2> /dev/null && alone="unshare -n"

# browse FILE OPTIONS...
browse() {
    file=$1
    shift
    profile=$(mktemp -d)
    # shellcheck disable=SC2086
    timeout 100 $alone chromium --headless --no-sandbox --use-angle=swiftshader --enable-unsafe-swiftshader --hide-scrollbars --virtual-time-budget=20000 \
        --user-data-dir="$profile" "$@" "file://$PWD/$file" 2> browser.log
    rm -rf "$profile"
}

title() { sed -n 's/.*<title>\(.*\)<\/title>.*/\1/p' "$1" | head -n 1; }

# share PICTURE X Y W H CHANNEL: prints the share of pixels of the box in which this channel is well above both others
share() {
    python3 - "$here/../cli" "$@" << 'END'
import sys
sys.path.insert(0, sys.argv[1])
import picture
x, y, w, h, channel = (int(v) for v in sys.argv[3:])
_, _, step, rows = picture.pixels(sys.argv[2])
found = sum(all(rows[r][c * step + channel] > rows[r][c * step + k] + 40 for k in range(3) if k != channel) for r in range(y, y + h) for c in range(x, x + w))
print(int(10000 * found / (w * h)))
END
}

# --- the phantom: a whole page ---
"$tool" track --phantom --model opdt --nseeds 2000 -o phantom.trx --report phantom.html --device llvmpipe -q || note "track --report"
browse phantom.html --dump-dom > dom.html
grep -q 'id="status" role="status">All [1-9][0-9,]* streamlines' dom.html || note "the 3-D view is not ready: $(grep -o 'id="status"[^/]*' dom.html)"
[ "$(title dom.html)" = "glslines: phantom" ] || note "title: $(title dom.html)"
python3 "$here/variants.py" phantom.html "$axe" .
for scheme in light dark; do
    # 0 is dark
    browse axe.html --blink-settings=preferredColorScheme=$([ $scheme = dark ] && echo 0 || echo 1) --dump-dom > dom.html
    case $(title dom.html) in "axe 0 "*) ;; *) note "axe-core, $scheme: $(title dom.html)" ;; esac
done
browse layout.html --window-size=500,900 --dump-dom > dom.html
[ "$(title dom.html)" = "0 shown, 0 too wide, 1 folded" ] || note "layout on a phone: $(title dom.html)"
browse view.html --window-size=800,700 --screenshot=view.png
[ "$(($(share view.png 0 0 800 600 0) + $(share view.png 0 0 800 600 1) + $(share view.png 0 0 800 600 2)))" -ge 200 ] || note "less than 2 % of the 3-D view is coloured"
browse phantom.html --window-size=1250,6500 --screenshot=page.png
[ -s page.png ] || note "no picture of the page"
if have tidy; then tidy -e -q phantom.html > tidy.log 2>&1; [ $? -lt 2 ] || note "tidy: $(grep Error tidy.log)"; fi
[ "$(wc -c < phantom.html)" -le 1500000 ] || note "the report has $(wc -c < phantom.html) bytes"

# --- sides: green (back to front) at the left of the body, red (left to right) at the right ---
python3 - << 'END'
import math, struct
lines = [[(-30 + 0.2 * i, y, z) for y in range(-30, 31, 10)] for i in range(40) for z in (-6, 0, 6)]
lines += [[(x, y + 0.2 * i, 0) for x in range(10, 41, 5)] for i in range(40) for y in (-6, 0, 6)]
with open("sides.tck", "wb") as f:
    f.write(b"mrtrix tracks\ndatatype: Float32LE\ncount: 240\nfile: . 128\nEND\n".ljust(128, b"\0"))
    for line in lines:
        for p in line + [(math.nan,) * 3]:
            f.write(struct.pack("<3f", *p))
    f.write(struct.pack("<3f", *(math.inf,) * 3))
END
"$tool" report sides.tck --device llvmpipe -q || note "report sides.tck"
python3 "$here/variants.py" sides.html "$axe" .
browse view.html --window-size=800,700 --screenshot=sides.png
for box in "0 1 1" "400 0 1" "0 0 0" "400 1 0"; do
    # shellcheck disable=SC2086
    set -- $box
    found=$(share sides.png "$1" 0 400 600 "$2")
    if [ "$3" -eq 1 ]; then [ "$found" -gt 20 ] || note "sides: channel $2 from x = $1: $found"; else [ "$found" -lt 5 ] || note "sides: channel $2 from x = $1: $found"; fi
done

# --- columns and bundles: half of the streamlines are of a group, which is put out; weights from 0 to 239; the picture ---
python3 -c 'print("\n".join(str(i) for i in range(240)))' > weights.txt
python3 - << 'END'
import struct
head = bytearray(352)
struct.pack_into("<i", head, 0, 348)
struct.pack_into("<8h", head, 40, 3, 20, 20, 20, 1, 1, 1, 1)
struct.pack_into("<2h", head, 70, 16, 32)
struct.pack_into("<8f", head, 76, 1, 5, 5, 5, 0, 0, 0, 0)
struct.pack_into("<f", head, 108, 352)
struct.pack_into("<2h", head, 252, 0, 1)
struct.pack_into("<12f", head, 280, 5, 0, 0, -47.5, 0, 5, 0, -47.5, 0, 0, 5, -47.5)
head[344:348] = b"n+1\0"
open("grid.nii", "wb").write(head + struct.pack("<8000f", *[1] * 8000))
END
"$tool" convert sides.tck plain.trx --reference grid.nii --weights weights.txt -q || note "convert"
python3 - << 'END'
import struct, zipfile
with zipfile.ZipFile("plain.trx") as a, zipfile.ZipFile("columns.trx", "w") as b:
    for name in a.namelist():
        b.writestr(name, a.read(name))
    b.writestr("groups/<b>some.uint32", struct.pack("<120I", *range(120)))
END
"$tool" report columns.trx -o bundles.html --device llvmpipe -q || note "report columns.trx"
mkdir -p variants
python3 "$here/variants.py" bundles.html "$axe" variants
(cd variants && browse columns.html --dump-dom > ../dom.html)
[ "$(title dom.html)" = "bundles&lt;b&gt;some 120others 120; 120 of 240 streamlines; 4; 234; tractogram.png data:image/png;base64," ] ||
    note "columns and bundles: $(title dom.html)"
(cd variants && browse axe.html --dump-dom > ../dom.html)
case $(title dom.html) in "axe 0 "*) ;; *) note "axe-core, bundles: $(title dom.html)" ;; esac

# --- slices: grey behind the streamlines from the first; near x = 25 only those of the right; a column of points ---
# grey PICTURE X Y W H: the share of pixels of the box that are grey and bright, in 1/10000
grey() {
    python3 - "$here/../cli" "$@" << 'END'
import sys
sys.path.insert(0, sys.argv[1])
import picture
x, y, w, h = (int(v) for v in sys.argv[3:])
_, _, step, rows = picture.pixels(sys.argv[2])
found = sum(min(rows[r][c * step : c * step + 3]) > 150 and max(rows[r][c * step : c * step + 3]) - min(rows[r][c * step : c * step + 3]) < 10
            for r in range(y, y + h) for c in range(x, x + w))
print(int(10000 * found / (w * h)))
END
}
python3 -c '
data = bytearray(open("grid.nii", "rb").read())
import struct
data[352:] = struct.pack("<8000f", *[1 + i % 20 for i in range(8000)])
open("ramp.nii", "wb").write(data)'
"$tool" sample sides.tck ramp.nii --to-dpv ramp --trx ramp.trx --reference grid.nii -q || note "sample --to-dpv"
"$tool" report ramp.trx --image ramp.nii -o ramp.html --device llvmpipe -q || note "report ramp.trx"
python3 "$here/variants.py" ramp.html "$axe" variants
for name in view slices points; do (cd variants && browse $name.html --window-size=800,700 --screenshot=../$name.png); done
[ "$(grey view.png 0 0 800 600)" -ge 1000 ] || note "slices: $(grey view.png 0 0 800 600) of 10000 pixels are bright"
[ "$(grey slices.png 0 0 800 600)" -lt 500 ] || note "slices put out: $(grey slices.png 0 0 800 600) of 10000 pixels are bright"
[ "$(share slices.png 0 0 390 600 1)" -lt 5 ] || note "near a slice: streamlines of the other side remain"
[ "$(share slices.png 410 0 390 600 0)" -ge 20 ] || note "near a slice: $(share slices.png 410 0 390 600 0) of 10000 pixels are red"
# the ramp runs from violet (x < 0) to green and yellow (x > 0)
[ "$(share points.png 0 0 390 600 1)" -lt 20 ] || note "points: $(share points.png 0 0 390 600 1) green at the left"
[ "$(share points.png 450 0 350 600 1)" -ge 20 ] || note "points: $(share points.png 450 0 350 600 1) green at the right"

# --- a connectome: matrix, circle, names as text ---
python3 -c '
data = bytearray(open("grid.nii", "rb").read())
import struct
data[352:] = struct.pack("<8000f", *[1 + i // 5 % 4 + 4 * (i // 2000) for i in range(8000)])
open("parcels.nii", "wb").write(data)
open("names.txt", "w").write("".join("%d <b>region&%d %d 0 0 0\n" % (i, i, i) for i in range(1, 17)))'
"$tool" connectome sides.tck parcels.nii joined.csv --lut names.txt -q 2> /dev/null || note "connectome"
"$tool" report joined.csv --device llvmpipe -q || note "report joined.csv"
python3 "$here/variants.py" joined.html "$axe" variants
(cd variants && browse axe.html --dump-dom > ../dom.html)
case $(title dom.html) in "axe 0 "*) ;; *) note "axe-core, connectome: $(title dom.html)" ;; esac
python3 - joined.html << 'END' || note "connectome: the largest edge of the matrix is not the first of the page"
import csv, re, sys
rows = [[float(v) for v in row] for row in csv.reader(open("joined.csv"))]
names = [row["name"] for row in csv.DictReader(open("joined_nodes.tsv"), delimiter="\t")]
best = max((rows[a][b], -a, -b) for a in range(len(rows)) for b in range(a + 1, len(rows)))
page = open(sys.argv[1]).read()
first = re.search(r'The largest \d+ edges</caption>.*?<th scope="row">(.*?)</th><td>(.*?)</td><td class="number">(.*?)</td>', page, re.S).groups()
safe = lambda text: text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
want = (safe(names[-best[1]]), safe(names[-best[2]]), "%g" % best[0])
edges = sum(v != 0 for a, row in enumerate(rows) for v in row[a + 1 :])
sys.exit(first != want or page.count('<path class="edge') != min(edges, 100) or "<b>region" in page.replace("\\u003cb", ""))
END
"$tool" edit phantom.trx long.trx --min-length 40 -q && "$tool" report long.trx --device llvmpipe -q || note "report long.trx"
grep -q "<p>Its counts: read [1-9][0-9,]*; failed by: length [1-9]" long.html || note "counts of edit: $(grep -o '<p>Its counts[^/]*' long.html)"

# --- weights by the signal: chart, table and maps ---
"$tool" phantom set_of_weights --shape 18 20 18 --directions 20 -q && "$tool" track set_of_weights/dwi.nii.gz set_of_weights/dwi.bval set_of_weights/dwi.bvec \
    set_of_weights/mask.nii.gz set_of_weights/roi.nii.gz --nseeds 300 --dg eudx --weights commit --weights-maps weighed -o weighed.trx --report --device llvmpipe -q || note "track --weights commit --report"
python3 "$here/variants.py" weighed.html "$axe" variants
for scheme in 0 1; do
    (cd variants && browse axe.html --blink-settings=preferredColorScheme=$scheme --dump-dom > ../dom.html)
    case $(title dom.html) in "axe 0 "*) ;; *) note "axe-core, weights: $(title dom.html)" ;; esac
done
(cd variants && browse layout.html --window-size=500,900 --dump-dom > ../dom.html)
[ "$(title dom.html)" = "0 shown, 0 too wide, 1 folded" ] || note "layout of weights on a phone: $(title dom.html)"
python3 - << 'END' || note "weights: the page has other numbers than the sidecar, or no pictures"
import json, re, sys
page, side = open("weighed.html").read(), json.load(open("weighed.json"))["weights"]["model"]
page = page[page.index('<section aria-labelledby="weights">') : page.index('<section aria-labelledby="gradients">')]
table = [tuple(map(float, row)) for row in re.findall(r'<tr><td class="number">([^<]*)</td><td class="number">([^<]*)</td></tr>', page)]
sys.exit(table != list(zip(side["curve"]["iteration"], side["curve"]["objective"])) or page.count("<img ") != 2 or page.count('role="img"') != 1)
END
if have tidy; then tidy -e -q weighed.html > tidy.log 2>&1; [ $? -lt 2 ] || note "tidy: $(grep Error tidy.log)"; fi

# --- hostile names ---
python3 - << 'END'
import json
side = json.load(open("phantom.json"))
bad = "</script><img src=x onerror=alert(1)>\"'&" + "x" * 300
side.update(warnings=[bad], inputs={bad: {"path": bad}}, output={"path": bad}, model={"name": bad})
side["parameters"]["dg"] = bad
open("bad.json", "wb").write(json.dumps(side, ensure_ascii=False).encode().replace(b"xxxxx", b"x\xff\xfe"))
END
"$tool" report bad.json -q || note "report bad.json"
python3 "$here/variants.py" bad.html "$axe" .
browse hostile.html --dump-dom > dom.html
[ "$(title dom.html)" = "0 handlers, JSON" ] || note "hostile names: $(title dom.html)"

# --- the window of view: the sphere by mouse, keys and fields, both colour schemes, a phone ---
"$tool" phantom data --shape 18 20 18 --directions 30 -q && "$tool" fit data/dwi.nii.gz --model csd --sh-order 8 -o fit -q || note "data for view"
python3 "$here/../cli/view.py" data/mask.nii.gz labels.nii
printf "7\tFront left\n" > names.txt
"$tool" view phantom.trx --atlas labels.nii --lut names.txt --save-to . --nseeds 5000 -q -- --sh fit_sh.nii.gz --sh-basis descoteaux07_legacy --fa fit_fa.nii.gz --act data/5tt.nii.gz --dg prob --device llvmpipe > address &
server=$!
mkdir -p set/sub-01/figures set/sub-02/figures set/sub-03
"$tool" render phantom.trx -o set/sub-01/figures/views.png -q && "$tool" render phantom.trx --views left -o set/sub-02/figures/left.png -q || note "pictures for view"
"$tool" view set -q > address_of_set &
reviewer=$!
for _ in $(seq 200); do [ -s address ] && [ -s address_of_set ] || sleep 0.1; done
timeout 300 python3 "$here/view.py" "$(head -n 1 address)" "$axe" . "$(head -n 1 address_of_set)" "$(dirname "$tool")" || note "the window of view"
kill -TERM $server $reviewer
wait $server || note "view after a signal: exit code $?"
[ "$(($(share view.png 19 110 950 530 0) + $(share view.png 19 110 950 530 1) + $(share view.png 19 110 950 530 2)))" -ge 200 ] || note "view: less than 2 % is coloured"

# --- what the window shows: values under the pointer, images over each other, criteria, glyphs ---
python3 - << 'END'
import gzip, struct
fa = bytearray(gzip.open("fit_fa.nii.gz").read())
fa[-4:] = struct.pack("<f", 1e6)
gzip.open("fa.nii.gz", "wb").write(fa)
head = bytearray(gzip.open("fit_fa.nii.gz").read(352))
dim, rows = struct.unpack("<3h", head[42:48]), struct.unpack("<4f", head[280:296])
with open("slopes.nii", "wb") as f:
    f.write(head + struct.pack("<%df" % (dim[0] * dim[1] * dim[2]), *((rows[0] * x + rows[3]) * 10 for _ in range(dim[1] * dim[2]) for x in range(dim[0]))))
END
python3 - << 'END'
import json, struct, zipfile
with zipfile.ZipFile("phantom.trx") as a, zipfile.ZipFile("marked.trx", "w") as b:
    n = json.loads(a.read("header.json"))["NB_STREAMLINES"]
    for name in a.namelist():
        b.writestr(name, a.read(name))
    b.writestr("dps/mark.int32", struct.pack("<%di" % n, *(i % 20 for i in range(n))))
    b.writestr("groups/upper half.uint32", struct.pack("<%dI" % (n - n // 2), *range(n // 2, n)))
END
printf "#No. Label Name: R G B A\n7 Front-<b>left 200 40 160 0\n8 Front-right 20 90 210 0\n2000 Back-left\n" > colours.txt
"$tool" view marked.trx fa.nii.gz slopes.nii --atlas labels.nii --lut colours.txt --odf fit_sh.nii.gz --sh-basis descoteaux07_legacy -q > address_of_images &
server=$!
for _ in $(seq 200); do [ -s address_of_images ] || sleep 0.1; done
timeout 300 python3 "$here/shown.py" "$(head -n 1 address_of_images)" "$axe" . "$tool" || note "what the window shows"
kill -TERM $server
wait $server || note "view of images after a signal: exit code $?"

# --- two pages that share a scene, one of them read-only ---
"$tool" view phantom.trx fa.nii.gz --nseeds 500 -q -- --sh fit_sh.nii.gz --sh-basis descoteaux07_legacy --fa fit_fa.nii.gz --dg prob --device llvmpipe > address_of_two &
server=$!
for _ in $(seq 200); do [ -s address_of_two ] || sleep 0.1; done
timeout 300 python3 "$here/shared.py" "$(head -n 1 address_of_two)" "$(sed -n '2s/^read-only: //p' address_of_two)" "$axe" || note "two pages of a window"
kill -TERM $server
wait $server || note "view of two pages after a signal: exit code $?"

[ $failures -eq 0 ] && echo "ok   reports in a browser${alone:+, without a network}"
exit $failures
