#!/bin/sh
# Tests of glslines report: report.sh TOOL WORK_DIR. Needs a device (a software renderer will do) and python3. test/report tests reports in a browser.
. "$(dirname "$0")/common.sh"

# Checks that the page is well-formed and complete, loads nothing from outside, and has the JSON of the sidecar and this number of pictures.
check_page() { # FILE PICTURES
    python3 - "$@" << 'END' || note "$1 as a page"
import base64, html.parser, json, sys, zlib

class Page(html.parser.HTMLParser):
    void = {"meta", "img", "input", "link", "br", "path", "line", "rect", "circle"}
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.images, self.handlers, self.data, self.kind = [], [], [], [], [], {}, None
    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        if tag not in self.void:
            self.open.append(tag)
        if "id" in a:
            self.ids.append(a["id"])
        self.links += [a[k] for k in ("href", "action", "srcset", "data") if k in a]
        self.handlers += [k for k in a if k.startswith("on")]
        if "src" in a:
            self.images.append(a["src"])
            assert a.get("alt"), "a picture without words"
        if tag == "script":
            self.kind = a.get("id", "script")
    def handle_endtag(self, tag):
        if tag in self.void:
            return
        assert self.open and self.open.pop() == tag, f"</{tag}> closes something else"
        self.kind = None
    def handle_data(self, data):
        if self.kind:
            self.data[self.kind] = self.data.get(self.kind, "") + data

path, pictures = sys.argv[1], int(sys.argv[2])
text = open(path, "rb").read()
page = Page()
page.feed(text.decode())
assert not page.open, page.open
assert len(page.ids) == len(set(page.ids)), "an id twice"
assert all(link.startswith("#") and link[1:] in page.ids for link in page.links), page.links
assert all(image.startswith("data:image/png;base64,") for image in page.images) and not page.handlers
assert len(page.images) == pictures, f"{len(page.images)} pictures"
for image in page.images:
    assert base64.b64decode(image.split(",")[1])[:8] == b"\x89PNG\r\n\x1a\n"
json.loads(page.data["glslines"])
assert len(text) <= 1500000, len(text)
if page.data.get("glslines-lines"):
    raw = zlib.decompress(base64.b64decode(page.data["glslines-lines"]))
    n, points = (int.from_bytes(raw[i : i + 4], "little") for i in (0, 4))
    assert len(raw) == 24 + 2 * n + 6 * points and n > 0, (n, points, len(raw))
END
}

expect 0 phantom data --shape 18 20 18 --directions 30 -q
set -- data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz data/roi.nii.gz --nseeds 400 --model csd --dg det --device llvmpipe -q
expect 0 track "$@" -o t.trx
expect 0 report t.trx --image data/mask.nii.gz --device llvmpipe -q
check_page t.html 3
contains t.html '<h1>glslines: t</h1>'
contains t.html 'constrained spherical deconvolution'
contains t.html '@article{csd,'
contains t.html '<tr class="changed"><th scope="row">nseeds</th><td>400</td>'
contains t.html 'Reasons that did not occur: '
contains t.html '<tr><th scope="row">min_length_mm</th>'
contains t.html '<tr><th scope="row">sh_order</th>'
expect 4 report t.trx
expect 3 report t.trx --image nowhere.nii --device llvmpipe -o bad_image.html
[ ! -e bad_image.html ] || note "a report was written although its image is missing"
expect 0 report t.json -o from_sidecar.html --device llvmpipe -q --no-view
check_page from_sidecar.html 3
contains from_sidecar.html 'asked for without it'
# a second report has the same bytes
expect 0 report t.trx --image data/mask.nii.gz --device llvmpipe -q -o again.html
cmp t.html again.html || note "the same report twice"
# tractograms of other programs, without a sidecar; without a grid there is no density
mkdir other
expect 0 convert t.trx other/o.tck -q
rm other/o.json
expect 0 report other/o.tck --device llvmpipe -q
check_page other/o.html 2
contains other/o.html 'There is no sidecar'
contains other/o.html 'There is no map: other/o.tck has no grid'
# a tractogram that another command made
expect 0 edit t.trx selected.trx --number 20 -q
expect 0 report selected.json --device llvmpipe -q
check_page selected.html 3
contains selected.html 'Made by glslines edit from t.trx'
grep -q 'There is no sidecar' selected.html && note "a sidecar that is there is told to be missing"
expect 0 cite selected.trx --format methods
says '20 were selected'
says 'steps of'
# weights by the signal: the numbers of the sidecar, the curve of --csv and the maps, in tables and in the chart
expect 0 weights t.trx data/dwi.nii.gz -o fit.trx --method commit --mask data/mask.nii.gz --maps fit_map --csv fit.csv -q
expect 0 report fit.trx --device llvmpipe -q
check_page fit.html 5
cat > check_fit.py << 'END'
import gzip, html, json, math, re, statistics, struct, sys
page, side = open("fit.html").read(), json.load(open("fit.json"))
page = page[page.index('<section aria-labelledby="weights">') : page.index('<section aria-labelledby="gradients">')]
rows = dict(re.findall(r'<tr><th scope="row">([^<]*)</th><td>([^<]*)</td></tr>', page))
near = lambda text, value: abs(float(text) - value) <= 1e-4 * abs(value)
for name, path in (("objective at the start", "model objective_first"), ("objective at the end", "model objective"), ("iterations", "model iterations"),
                   ("weights above 0", "counts weights_above_0"), ("mean RMSE of voxels", "model rmse_mean"), ("voxels of the model", "counts voxels")):
    part, key = path.split()
    assert near(rows[name], side[part][key]), (name, rows[name], side[part][key])
assert rows["ended by"] == side["model"]["stopped_by"], rows
table = [tuple(map(float, row)) for row in re.findall(r'<tr><td class="number">([^<]*)</td><td class="number">([^<]*)</td></tr>', page)]
steps = [tuple(map(float, line.split(",")[:2])) for line in list(open("fit.csv"))[1:]]
assert table == steps == list(zip(side["model"]["curve"]["iteration"], side["model"]["curve"]["objective"])) and len(table) > 10, (table, steps)
# the chart: positions on its axes give the numbers back
line = re.findall(r"[ML]([0-9.]+) ([0-9.]+)", re.search(r'<path class="curve" d="([^"]*)"', page).group(1))
down = [(float(y), float(v)) for y, v in re.findall(r'd="M75 ([0-9.]+)h5"/><text[^>]*>([^<]*)</text>', page)]
right = [(float(x), float(v)) for x, v in re.findall(r'd="M([0-9.]+) 210v5"/><text[^>]*>([^<]*)</text>', page)]
assert len(line) == len(table) and len(down) >= 3 and len(right) >= 3, (line, down, right)
(y0, v0), (y1, v1) = down[0], down[-1]
(x0, i0), (x1, i1) = right[0], right[-1]
for (x, y), (i, v) in zip(line, table):
    assert abs((float(x) - x0) / (x1 - x0) * (i1 - i0) + i0 - i) < 0.01 * i1, (x, i)
    assert abs(math.exp(math.log(v0) + (float(y) - y0) / (y1 - y0) * math.log(v1 / v0)) / v - 1) < 0.01, (y, v)
words = html.unescape(re.search(r'role="img" aria-label="(Objective[^"]*)"', page).group(1))
assert "from %.6g at the start to %.6g after %d iterations" % (table[0][1], table[-1][1], table[-1][0]) in words, words
# the maps
def values(name):
    raw = gzip.open("fit_map_%s.nii.gz" % name).read()
    return struct.unpack("<%df" % ((len(raw) - 352) // 4), raw[352:])
maps = {name: values(name) for name in ("ic", "ec", "iso", "rmse", "nrmse")}
inside = [i for i, v in enumerate(zip(*maps.values())) if any(v)]
shown = re.findall(r'<tr><th scope="row">(\w+): [^<]*</th>' + 4 * r'<td class="number">([^<]*)</td>', page)
assert len(shown) == 5 and "The maps in %d voxels" % len(inside) in page, shown
for (name, mean, median, most, largest), v in zip(shown, maps.values()):
    own = sorted(v[i] for i in inside)
    at = 0.95 * (len(own) - 1)
    high = own[int(at)] + (at - int(at)) * (own[min(int(at) + 1, len(own) - 1)] - own[int(at)])
    for text, value in ((mean, statistics.fmean(own)), (median, statistics.median(own)), (most, high), (largest, own[-1])):
        assert abs(float(text) - value) <= 1e-4 * value, (name, text, value)
assert statistics.fmean(maps["iso"]) > 0 and near(shown[3][1], side["model"]["rmse_mean"]), shown
END
python3 check_fit.py || note "the weights of a report"
# from the sidecar of a text, beside the tractogram, without maps, and with a damaged curve
expect 0 weights t.trx data/dwi.nii.gz -o fit.txt --method commit --mask data/mask.nii.gz -q --force
expect 0 report fit.txt -o text.html --device llvmpipe -q
contains text.html 'There are no maps of error and compartments'
contains text.html '<path class="curve"'
cp t.trx place.trx
expect 0 weights place.trx data/dwi.nii.gz --in-place --method commit --mask data/mask.nii.gz --maps place -q
expect 0 report place.trx --device llvmpipe -q
check_page place.html 5
contains place.html '<section aria-labelledby="weights">'
grep -q '<section aria-labelledby="weights">\|#weights' t.html && note "weights of a run without"
for curve in '"iteration": [0, 2, 1], "objective": [3, 2, 1]' '"iteration": [0, 1], "objective": [3]' '"iteration": [0, 1], "objective": [null, "x"]' '"iteration": 3' ''; do
    python3 -c '
import json, sys
side = json.load(open("fit.json"))
side["model"]["curve"] = json.loads("{" + sys.argv[1] + "}")
json.dump(side, open("damaged.json", "w"))' "$curve"
    expect 0 report damaged.json --device llvmpipe -q --force
    contains damaged.html 'The sidecar has no objective by iteration'
done
# weights of another tractogram, and maps of another fit, are left out; pictures and view, which say nothing of it, too
section='<section aria-labelledby="weights">'
expect 0 convert t.trx judged.tck -q
expect 0 weights judged.tck data/dwi.nii.gz -o judged_weights.txt --method commit --mask data/mask.nii.gz --maps judged -q
fast() { # INPUT
    expect 0 report "$1" --device nothing --no-view --force
}
fast judged.tck
contains judged.html "$section"
contains judged.html '<caption>The maps in '
fast judged_weights.txt
contains judged_weights.html '<caption>The maps in '
expect 0 weights judged.tck data/dwi.nii.gz -o other_weights.txt --method commit --mask data/mask.nii.gz --maps judged --max-iters 5 --force -q
fast judged.tck
contains judged.html 'are of another fit, with another mean RMSE than the sidecar states'
grep -q 'warning: the report has no maps' stderr || note "no warning of maps of another fit"
python3 - << 'END'
import gzip, json, struct
side = json.load(open("other_weights.json"))
def write(name, voxels=side["counts"]["voxels"], **model):
    json.dump({**side, "counts": {**side["counts"], "voxels": voxels}, "model": {**side["model"], **model}}, open(name + ".json", "w"))
write("fewer", side["counts"]["voxels"] - 1, rmse_mean=None)
# objectives that a scale cannot show; momentum that carries the last iteration beyond the best
write("tiny", curve={"iteration": [0, 1, 2, 3], "objective": [1, 5e-324, 1e308, 0.5]}, objective=0.25)
write("tiniest", curve={"iteration": [0, 1], "objective": [1, 5e-324]})
write("range", curve={"iteration": [0, 1], "objective": [1e300, 3e-308]})
maps = {k: gzip.open(f"judged_{k}.nii.gz").read() for k in ("ic", "ec", "iso", "rmse", "nrmse")}
def change(name, at, value):
    for k, raw in maps.items():
        raw = bytearray(raw)
        if k == "ic":
            struct.pack_into("<f", raw, at, value)
        open(f"{name}_{k}.nii", "wb").write(raw)
    json.dump({**side, "parameters": {**side["parameters"], "maps": name + ".nii"}}, open(name + ".json", "w"))
rmse = struct.unpack("<%df" % ((len(maps["rmse"]) - 352) // 4), maps["rmse"][352:])
change("wrong", 352 + 4 * next(i for i, v in enumerate(rmse) if v), float("nan"))
change("shifted", 280 + 12, 777)
END
for name in other_weights fewer tiny tiniest range wrong shifted; do fast $name.json; done
contains other_weights.html '<caption>The maps in '
contains fewer.html 'are of another fit, with another number of voxels than the sidecar states'
contains tiny.html 'from 1 at the start to 0.25 after 3 iterations'
contains tiniest.html 'The sidecar has no objective by iteration'
contains range.html '<path class="curve"'
grep -q 'd="M[^"]*\(nan\|inf\)' range.html tiny.html && note "a curve with a point that is no number"
contains wrong.html "<caption>The maps in $(python3 -c 'import json; print(json.load(open("other_weights.json"))["counts"]["voxels"] - 1)') voxels"
contains shifted.html 'shifted_ec.nii: has another grid than shifted_ic.nii'
rm judged_ic.nii.gz
fast other_weights.json
contains other_weights.html 'whose names begin with <code>judged</code>, were not found'
cp judged.tck whole.tck
python3 -c 'data = bytearray(open("judged.tck", "rb").read()); data[-28] ^= 1; open("judged.tck", "wb").write(data)'
fast judged.tck
grep -q "$section" judged.html && note "weights of another tractogram of the same size"
python3 -c 'import json; side = json.load(open("judged_weights.json")); side["inputs"][0].pop("xxh3_64"); json.dump(side, open("judged_weights.json", "w"))'
fast judged.tck
contains judged.html "$section"
expect 0 edit whole.tck less.tck --number 20 -q
mv less.tck judged.tck
for input in judged.tck judged_weights.txt; do
    fast $input
    grep -q 'warning: judged_weights.json: has weights of another tractogram than judged.tck' stderr || note "$input: no warning of other weights"
    grep -q "$section" "${input%.*}.html" && note "$input: weights of another tractogram"
done
expect 0 edit place.trx least.trx --number 20 -q
mv least.trx place.trx
fast place.trx
grep -q "$section" place.html && note "weights of another TRX"
# weights by the signal of a run of tracking
expect 0 track "$@" -o with.trx --weights commit --weights-maps with
fast with.trx
contains with.html '<caption>The maps in '
cp with_ec.nii.gz with_ic.nii.gz
fast with.trx
grep -q 'warning: with_ic.nii.gz: is not the map that the run wrote' stderr || note "no warning of another map"
contains with.html 'or are other files now'
# neither report nor picture without a tractogram; a row is no matrix
for words in "--report none.html" "--picture none.png"; do
    # shellcheck disable=SC2086
    expect 2 track "$@" -o none --density none.nii.gz $words
    says "needs a tractogram"
    [ ! -e none.nii.gz ] || note "a run without a tractogram began for its report"
done
expect 0 track "$@" -o row.trx --connectome data/mask.nii.gz:row.csv --vector
fast row.trx
says "row.csv is a row, as --vector writes it, which is not drawn"
grep -q 'warning: the report has no connectome' stderr && note "a row is warned of"
expect 3 report row.csv -o row_only.html
says "written without --vector"
# a pipe that a sidecar names is not read
mkfifo pipe.csv pipe.tsv pipe.trx
python3 - << 'END'
import json
side = json.load(open("row.json"))
json.dump({**side, "parameters": {**side["parameters"], "connectome": ["data/mask.nii.gz:pipe.csv"], "vector": False}}, open("piped.json", "w"))
json.dump({**side, "parameters": {**side["parameters"], "connectome": ["data/mask.nii.gz:small.csv"], "nodes": "pipe.tsv", "vector": False}}, open("piped_nodes.json", "w"))
json.dump({**side, "output": {**side["output"], "path": "pipe.trx"}}, open("piped_trx.json", "w"))
END
printf '0,3,nan\n0,0,-1\n0,0,0\n' > small.csv
for name in piped piped_nodes piped_trx; do
    timeout 20 "$tool" report $name.json --device nothing --no-view -q 2> /dev/null || note "$name: the report of a sidecar that names a pipe ended with $?"
done
contains piped_nodes.html '2 of 3 pairs of different regions are joined'
# a connectome finds its tractogram; files that are no tables
printf '0,3,nan\n0,0,-1\n0,0,0\n' > small.csv
printf 'index\tlabel\tname\n1\t1\tone\n2\t2\ttwo<i>\n3\t3\tthree\n' > small_nodes.tsv
expect 0 report small.csv -q
check_page small.html 1
contains small.html '<tr><th scope="row">one</th><td>two&lt;i&gt;</td><td class="number">3</td></tr>'
contains small.html '2 of 3 pairs of different regions are joined'
# groups, such as bundles: a picture in their colours, and a table
expect 0 cluster t.trx -o grouped.trx --threshold 10 --by-size --largest 2 -q
expect 0 report grouped.trx --device llvmpipe -q
contains grouped.html '<tr><th scope="row">cluster_000001</th><td><svg width="16" height="16" aria-hidden="true"><rect width="16" height="16" fill="#e69f00"/>'
contains grouped.html 'The groups of the file, such as bundles'
# the numbers of its table are those of other commands
mkdir models
for k in 1 2; do expect 0 edit grouped.trx models/b$k.trk --group cluster_00000$k -q; done
expect 0 recognize t.trx models -o found.trx --table recognized.tsv -q
expect 0 report found.trx --device llvmpipe -q
expect 0 stats found.trx --groups --shape -o found.tsv -q
python3 - << 'PY' || note "the numbers of the table of groups"
import array, csv, html, re, zipfile
page = open("found.html", encoding="utf-8").read()
table = re.search("<caption>Groups of streamlines</caption>(.*?)</table>", page, re.S)[1]
head = [html.unescape(h) for h in re.findall('<th scope="col">(.*?)</th>', table)]
rows = {html.unescape(name): re.findall('<td class="number">(.*?)</td>', cells)
        for name, cells in re.findall('<tr><th scope="row">(.*?)</th>(.*?)</tr>', table, re.S)}
assert head == ["group", "colour", "streamlines", "mean length, mm", "volume, mm\u00b3", "mean distance from the model, mm", "mean margin"], head
stats = {row["name"]: row for row in csv.DictReader(open("found.tsv"), delimiter="\t")}
trx = zipfile.ZipFile("found.trx")
column = {c: array.array("f", trx.read(f"dps/{c}.float32")) for c in ("bundle_distance", "bundle_margin")}
assert set(rows) == {"b1", "b2", "unrecognized"}, rows
for name, cells in rows.items():
    members = array.array("I", trx.read(f"groups/{name}.uint32"))
    wanted = [f"{len(members):,}", f"{float(stats[name]['mean_mm']):.1f}", f"{float(stats[name]['volume_mm3']):.0f}"]
    for values in column.values():
        finite = [values[m] for m in members if values[m] - values[m] == 0]
        wanted.append(f"{sum(finite) / len(finite):.2f}" if finite else "")
    near = [a == b or b and abs(float(a.replace(",", "")) - float(b.replace(",", ""))) < 0.011 for a, b in zip(cells, wanted)]
    assert len(cells) == len(wanted) and all(near), (name, cells, wanted)
table = re.search("<caption>What <code>glslines recognize</code> found.*?</table>", page, re.S)[0]
shown = [[html.unescape(c) for c in re.findall("<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in re.findall("<tr>(.*?)</tr>", table)]
rows = list(csv.reader(open("recognized.tsv"), delimiter="\t"))
number = lambda text: text.replace(".", "").replace("-", "").replace("e", "").isdigit()
assert len(shown) == len(rows) == 3 and shown[0] == rows[0], (shown, rows)
assert all((float(a) in (float(b), float(f"{float(b):.4g}"))) if number(b) else a == b for x, y in zip(shown[1:], rows[1:]) for a, b in zip(x, y, strict=True)), (shown, rows)
PY
[ "$(grep -c 'The groups of the file' t.html)" = 0 ] || note "a table of groups of a file without groups"
# a row and a column of names, as --header and --bids write them
printf ',2,17\n2,0,3\n17,0,0\n' > headed.csv
printf '\t2\t17\n2\tn/a\t3\n17\t3\t0\n' > whole_relmat.tsv
for matrix in headed.csv whole_relmat.tsv; do
    expect 0 report $matrix -o headed.html --force -q
    contains headed.html '<tr><th scope="row">2</th><td>17</td><td class="number">3</td></tr>'
    contains headed.html '1 of 1 pairs of different regions are joined'
done
printf '0,0\n0,0\n' > none.csv
expect 0 report none.csv -q
contains none.html 'The matrix: all values are 0.'
expect 0 track "$@" -o joined.trx --connectome data/mask.nii.gz:two
printf '0 3\n0 0\n' > two
printf 'index\tname\n1\tfirst\n2\tsecond\n' > two_nodes.tsv
expect 0 report joined.trx --device llvmpipe -q
contains joined.html '<tr><th scope="row">first</th><td>second</td><td class="number">3</td></tr>'
[ "$(grep -c 'The groups of the file' joined.html)" = 0 ] || note "a table of groups of a file without groups, with a connectome"
expect 0 connectome t.trx data/mask.nii.gz one.csv -q
expect 3 report one.csv
says 'no square matrix'
for rows in '1,2\n3' '1,2\n3,4\n5,6' '1,b\n3,4' '1 2\n3 x' ',a,b\na,1,2' ',a\na,1'; do
    printf "$rows\n" > bad.csv
    expect 3 report bad.csv
    says 'no square matrix'
done
# with a header, too, 4,096 regions are read; this file has no rows
for regions in 4096 4097; do
    seq -s , $regions | sed 's/^/,/' > wide.csv
    expect $((regions == 4096 ? 3 : 7)) report wide.csv
    says "$([ $regions -eq 4096 ] && echo 'no square matrix' || echo 'has more than 4096 regions')"
done
# the options that were given, by getter; a tensor that was fitted; one definition of length
for more in "--dg ifod2" "--dg ptt" "--dg ifod1 --compress" "--dg det --downsample 3" "--dg ifod2 --act data/5tt.nii.gz --crop-at-gmwmi"; do
    # shellcheck disable=SC2086
    expect 0 track "$@" $more -o given.trx --report given.html --force
    expect 0 stats given.trx -o given.tsv --dump given.txt --force -q
    python3 - "$more" << 'END' || note "a report of $more"
import csv, json, re, statistics, sys
page, side = open("given.html").read(), json.load(open("given.json"))
assert "OK: no warnings." in page, side["warnings"]
given = set(re.findall(r'class="changed"><th scope="row">(\w+)</th>', page))
names = {"compress": "compress_mm"}
wanted = {names.get(w, w.replace("-", "_")) for w in re.findall(r"--([\w-]+)", sys.argv[1])}
assert given == wanted | {"output", "force", "mask", "roi", "nseeds", "model", "device"}, given
(row,) = csv.DictReader(open("given.tsv"), delimiter="\t")
row["median_mm"] = statistics.median(float(line) for line in open("given.txt"))
for key in ("mean_mm", "median_mm", "min_mm", "max_mm"):
    assert abs(side["lengths"][key] - float(row[key])) < 2e-3, (key, side["lengths"], row)
assert f"of {float(row['mean_mm']):.1f} mm in the mean" in page and f"<dd>{float(row['mean_mm']):.2f} mm</dd>" in page
END
done
expect 0 track "$@" --dg ptt -o whole.trx
for i in 1 2; do expect 0 track "$@" --dg ptt -o part.trx --shard $i/2; done
expect 0 merge part_shard-*.trx -o merged.trx -q
python3 -c 'import json
a, b = (json.load(open(f))["lengths"] for f in ("whole.json", "merged.json"))
assert all(a[k] == b[k] for k in a if k != "median_mm") and b["median_mm"] is None, (a, b)' || note "lengths of merged shards"
contains given.html 'seeds where regions or tissue let no streamline begin: '
grep -q '@article{tensor,' given.html || note "the tensor of a response is not cited"
# a report straight from the tracker; a report that fails leaves the run as it is
expect 0 track "$@" -o r.trx --report r.html --picture r.png
check_page r.html 3
[ -s r.png ] || note "--picture"
cmp t.trx r.trx || note "the tractogram beside --report"
expect 4 track "$@" -o r2.trx --report r.html
expect 4 track "$@" -o r2.trx --picture r.png --report r2.html
expect 2 track "$@" -o r2.trx --picture r2.gif
expect 4 track "$@" -o r2.trx --report missing/r.html
# for MultiQC
mkdir mqc
expect 0 report t.trx -o mqc/t.html --mqc mqc --device llvmpipe -q
[ "$(ls mqc | tr '\n' ' ')" = "t.html t_glslines_general_mqc.json t_glslines_lengths_mqc.json t_glslines_tractogram_mqc.png " ] || note "mqc: $(ls mqc)"
python3 -c 'import json; g = json.load(open("mqc/t_glslines_general_mqc.json")); l = json.load(open("mqc/t_glslines_lengths_mqc.json"))
assert g["data"]["t"]["streamlines"] == sum(l["data"]["t"].values()) > 0 and g["plot_type"] == "generalstats"' || note "numbers for MultiQC"

# for Nextflow
expect 0 report t.trx -o v.html --versions versions.yml --no-view --device llvmpipe -q
version=$("$tool" --version | cut -d' ' -f2)
[ "$(grep -c "^    glslines: \"$version\"$" versions.yml)" -eq 2 ] && grep -qx '"glslines track":' versions.yml && grep -q '^    opengl: "' versions.yml || note "versions.yml: $(cat versions.yml)"
expect 4 report t.trx -o v2.html --versions versions.yml --no-view --device llvmpipe -q

# --- sidecars that are damaged, of others, hostile, or alone ---
python3 - << 'END'
import json
side = json.load(open("t.json"))
def write(name, **change):
    with open(name, "w") as f:
        json.dump({**side, **change}, f, ensure_ascii=False)
text = open("t.json").read()
open("cut.json", "w").write(text[: len(text) // 2])
write("foreign.json", software={"name": "tckgen", "version": "3.0.3"})
write("unversioned.json", software={"name": "glslines"})
write("newer.json", software={"name": "glslines", "version": "9.0.0"})
write("alone.json", output={"path": "gone.trx", "format": "trx", "bytes": 1})
bad = "</script><img src=x onerror=alert(1)>\"'&" + "x" * 300
write("hostile.json", output={"path": bad, "format": bad, "bytes": -1}, command_line=["glslines", bad, "it's"], warnings=[bad, 5, None],
      inputs={bad: {"path": bad, "bytes": "many"}}, model={"name": bad}, parameters={bad: bad, "dg": bad}, device={"renderer": bad}, run={"started": bad, "devices": [bad, 1]},
      gradients={"rule": bad, "shells": [bad]}, seconds={"total": 1}, grid={"dimensions": [1e9, -1, 0], "voxel_to_rasmm": [1, 2, 3]}, counts={"half_streamline_ends": {bad: 3}})
raw = open("hostile.json", "rb").read().replace(b'"it\'s"', b'"\xff\xfe\xc3"')
open("hostile.json", "wb").write(raw)
write("types.json", output=[], command_line={}, warnings={"a": 1}, inputs=[1], parameters=7, run=[], seconds="x", counts=[])
write("nothing.json", counts=None)
END
expect 3 report cut.json
expect 3 report foreign.json
expect 3 report unversioned.json
says "unversioned.json: is no sidecar of glslines"
expect 7 report newer.json
expect 3 report missing.trx
expect 3 report data/dwi.bval
expect 0 report alone.json -q
check_page alone.html 0
contains alone.html 'the tractogram is not there'
expect 0 report hostile.json -q
check_page hostile.html 0
contains hostile.html '3 warnings'
contains hostile.html 'The diffusion series had (unknown) volumes of b = (unknown) s/mm2'
grep -n '>[^<]*\bnan\b' hostile.html && note "a number that the sidecar lacks is shown as nan"
expect 0 report types.json -q
check_page types.html 0
expect 2 report
ln t.trx same.html
expect 4 report t.trx same.html
says "is an input"
expect 2 report t.trx t.trx
says "this output is a web page"
expect 2 report t.trx two.html three.html
expect 2 report t.trx --max-streamlines 0
expect 4 report t.trx -o same.html --force
rm same.html
# if the device does not exist, only the pictures are missing
expect 0 report t.trx -o blind.html --device nothing
grep -q 'warning: the report has no pictures' stderr || note "no warning of missing pictures"
contains blind.html 'There are no pictures: '
# beside the output, with FA behind the streamlines
expect 0 track --phantom --model opdt --nseeds 100 -o beside.trx --report --picture with.png --device llvmpipe -q
[ -s beside.html ] || note "no report beside the output"
expect 0 render beside.trx -o without.png --device llvmpipe -q
[ -z "$(python3 "$here/picture.py" same with.png without.png)" ] && note "no FA behind the picture of a run"
expect 4 track --phantom --model opdt --nseeds 100 -o other.trx --report=beside.html --device llvmpipe -q
expect 2 track --phantom --model opdt --nseeds 100 -o other.trx --report beside.txt --device llvmpipe -q
expect 0 report beside.trx -o no_view.html --mqc new/folder --force --no-view --device llvmpipe -q
[ -s new/folder/beside_glslines_general_mqc.json ] || note "the folder of --mqc is not made"
# without its script the page shows no control that would do nothing
grep -q 'id="stage" hidden' beside.html && grep -q 'id="controls" hidden' beside.html || note "an empty 3-D view without a script"
# --- no output of a report is an input or another output; the pictures, which say nothing of it, are left out ---
ln t.trx t.yml
ln beside.html beside.yml
for name in t.yml t.json beside.yml; do
    expect 4 report t.trx --image data/mask.nii.gz --versions $name -o beside.html --device llvmpipe --force -q
done
mkdir -p mqc2/t_glslines_lengths_mqc.json
expect 4 report t.trx --mqc mqc2 --versions v.yml -o beside2.html --device nothing -q
ln data/5tt.nii.gz own.html
expect 4 track "$@" -o r3.trx --include data/5tt.nii.gz:1 --report=own.html --force
says "is an input"
# the page and MultiQC get one file each; a run that would overwrite one is refused
mkdir -p mqc3
expect 4 report t.trx --mqc mqc3 --versions mqc3/t_glslines_general_mqc.json -o beside3.html --device nothing --force -q

# --- lengths of any size: every streamline is in one of at most 40 bins ---
python3 - << 'END'
import math, struct
for name, far in (("km", 1e9), ("float", 3e38)):
    lines = [[(x, y, 0) for x in range(20)] for y in range(12)] + [[(-far, 0, 0), (far, 5, 1)]]
    points = [p for line in lines for p in (*line, (math.nan,) * 3)] + [(math.inf,) * 3]
    with open(name + ".tck", "wb") as f:
        f.write(b"mrtrix tracks\ndatatype: Float32LE\ncount: 13\nfile: . 128\ntimestamp: 1\nEND\n".ljust(128, b"\0"))
        f.write(b"".join(struct.pack("<3f", *p) for p in points))
END
for name in km float; do
    expect 0 report $name.tck --mqc mqc3 --device llvmpipe --force -q
    python3 - $name.html mqc3/${name}_glslines_lengths_mqc.json << 'END' || note "$name: bins of lengths"
import json, re, sys
table = open(sys.argv[1]).read().split("Streamlines by length")[1].split("</table>")[0]
numbers = re.findall('number">([^<]*)<', table)
assert len(numbers) <= 3 * 40 and sum(map(int, numbers[2::3])) == 13, numbers
bins, = json.load(open(sys.argv[2]))["data"].values()
assert sum(bins.values()) == 13, bins
END
done

# --- a folder with a slash behind its name: the report is beside it, not in it ---
mkdir folder.trx && (cd folder.trx && python3 -m zipfile -e ../t.trx .)
expect 0 report folder.trx/ --device nothing --no-view -q
[ -s folder.html ] && [ ! -e folder.trx/.html ] || note "the report of a folder is not beside it"
contains folder.html '<title>glslines: folder<'

# --- names are text in the page ---
cp t.trx "<b>&'\"x.trx"
expect 0 report "<b>&'\"x.trx" -o names.html --device nothing -q
check_page names.html 0
contains names.html '&lt;b&gt;&amp;&#39;&quot;x'


finish "reports"
