#!/bin/sh
# Reports in a browser, without a network: the 3-D view draws, left is left, axe-core finds nothing, hostile names stay text.
# Usage: sh test/report/chromium.sh TOOL WORK_FOLDER AXE.js. Needs chromium and python3; tidy where it is there.
set -u
tool=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")" && pwd)
axe=$(cd "$(dirname "$3")" && pwd)/$(basename "$3")
rm -rf "$2"
mkdir -p "$2" && cd "$2" || exit 1
failures=0

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

# share PICTURE X Y W H CHANNEL: the share of pixels of the box in which this channel is well above both others
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
browse view.html --window-size=800,700 --screenshot=view.png
[ "$(($(share view.png 0 0 800 600 0) + $(share view.png 0 0 800 600 1) + $(share view.png 0 0 800 600 2)))" -ge 200 ] || note "less than 2 % of the 3-D view is coloured"
browse phantom.html --window-size=1250,6500 --screenshot=page.png
[ -s page.png ] || note "no picture of the page"
if command -v tidy > /dev/null; then tidy -e -q phantom.html > tidy.log 2>&1; [ $? -lt 2 ] || note "tidy: $(grep Error tidy.log)"; fi
[ "$(wc -c < phantom.html)" -le 1500000 ] || note "the report has $(wc -c < phantom.html) bytes"

# --- left is left: green (back to front) at the left of the body, red (left to right) at the right ---
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

[ $failures -eq 0 ] && echo "ok   reports in a browser${alone:+, without a network}"
exit $failures
