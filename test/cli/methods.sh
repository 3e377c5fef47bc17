#!/bin/sh
# Tests that a paper can say what was done: methods.sh TOOL WORK_DIR. Each direction getter, model, filter and preset is tracked; the header of the TCK file and
# the sidecar have the values that were used; the text of `cite --format methods` has the numbers, and each of its papers is in the list, and none more; all
# papers of `cite` are those of some run. Needs a device (a software renderer will do) and python3.
. "$(dirname "$0")/common.sh"

expect 0 phantom data --shape 18 20 18 --voxel-size 3 --bvals 1000 2000 --directions 30 -q
expect 0 fit data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz fod --model csd --shells 2000 --sh-order 4 -q
python3 - "$tool" <<'END' || failures=$((failures + 1))
import json, re, subprocess, sys

tool = sys.argv[1]
series = [f"data/{name}" for name in ("dwi.nii.gz", "dwi.bval", "dwi.bvec", "mask.nii.gz")]
images = [*series, "data/roi.nii.gz"]
help_json = json.loads(subprocess.run([tool, "help", "--format", "json"], capture_output=True, check=True).stdout)
track = {o["name"]: o for c in help_json["commands"] if c["name"] == "track" for o in c["options"]}
faults, cited = [], set()


def run(*words):
    done = subprocess.run([tool, *words], capture_output=True, text=True)
    if done.returncode != 0:
        faults.append(f"{' '.join(words)}: exit code {done.returncode}: {done.stderr[-300:]}")
    return done.stdout


def header(path):
    text = open(path, "rb").read().split(b"\nEND\n")[0].decode()
    return dict(line.split(": ", 1) for line in text.split("\n")[1:])


def count(n):
    return f"{n:,}"


def read_methods(name):
    """The paragraphs and the references of a run; both name the same papers."""
    text = run("cite", name, "--format", "methods")
    words, references = text.rsplit("\n\n", 1)[0], [line[2:] for line in text.split("\n") if line.startswith("- ")][1:]
    listed = {r.split(",")[0] + " " + re.search(r", (\d{4}[a-z]?)\.$", r)[1] for r in references}
    named = {re.split(r" et al\.| and |, ", label)[0] + " " + label[label.rindex(" ") + 1:]
             for group in re.findall(r"\(([^()]* \d{4}[a-z]?)\)", words) for label in group.split("; ")}
    if listed != named:
        faults.append(f"{name}: the text names {sorted(named - listed)} alone, the list {sorted(listed - named)}")
    if re.search(r"unknown|nan|-1\b|  | [,.]", words):
        faults.append(f"{name}: {words}")
    cited.update(references)
    return words


def check(name, *wanted):
    side, head, words = json.load(open(f"{name}.json")), header(f"{name}.tck"), read_methods(f"{name}.tck")
    values, counts = side["parameters"], side["counts"]
    # the values that were used, by MRtrix3's names; a value that was not used is in neither
    expected = {"step_size": values["step_size_mm"], "max_angle": values["max_angle_degrees"], "min_dist": values["min_length_mm"],
                "max_dist": values["max_length_mm"], "rng_seed": side["rng"]["rng_seed"],
                "max_num_seeds": side["voxels"]["seeds"] * values["seeds_per_voxel"] if values["seeds_per_voxel"] else values["nseeds"],
                "stop_map_threshold": values["fa_threshold"], "max_num_tracks": values["select"] or None}
    cutoff = values["cutoff"]
    if cutoff == 0 and values["dg"] in ("prob", "det"):
        cutoff = None
    expected["threshold"] = cutoff
    for key, value in expected.items():
        found = float(head[key]) if key in head else None
        if (found is None) != (value is None) or (value is not None and abs(found - float(value)) > 1e-6 * abs(float(value))):
            faults.append(f"{name}: header {key} {found}, used {value}")
    negative = [k for k, v in values.items() if isinstance(v, (int, float)) and not isinstance(v, bool) and v < 0]
    if negative:
        faults.append(f"{name}: below 0 in the sidecar: {negative}")
    if (side["odf"].get("interpolated") == "amplitudes") != (values["dg"] in ("ptt",) or (values["dg"] in ("prob", "det", "closest") and values["odf_interpolation"] == "amplitudes")):
        faults.append(f"{name}: interpolated {side['odf'].get('interpolated')}")
    # numbers of the text
    texts = [count(counts["seeds"]) + " seeds", count(counts["streamlines"]) + " gave streamlines", *wanted]
    if values["dg"] != "seedtest":
        texts += [f"steps of {values['step_size_mm']:g} mm", f"at most {values['max_angle_degrees']:g} degrees"]
    texts += [f"longer ones than {values['max_length_mm']:g} mm"]
    if values["min_length_mm"] > 0:
        texts += [f"shorter than {values['min_length_mm']:g} mm"]
    if cutoff:
        texts += [f"below {cutoff:g}"]
    if side.get("model"):
        texts += [f"harmonics of order {side['model']['sh_order']}"]
    faults.extend(f"{name}: no \"{text}\" in: {words}" for text in texts if text not in words)


# small spheres and few seeds, because only the texts are tested here
opdt, csd = ["--model", "opdt", "--sphere", "small"], ["--sphere", "small", "--model", "csd", "--shells", "2000", "--sh-order", "4", "--response-radius", "0", "--response-voxels", "30"]
names = track["dg"]["choices"]
ways = {name: opdt for name in names}
ways.update({name: csd for name in ("prob", "ifod1", "ifod2", "sdstream")})
ways.update({name: [] for name in ("tensordet", "tensorprob", "nulldist1", "nulldist2", "seedtest", "eudx")})
ways["csa"] = ["--model", "csa", "--shells", "2000", "--dg", "ptt", "--seeds-per-voxel", "1", "--select", "40"]
ways["fact"] = [*opdt, "--step-noise", "0.1", "--compress", "0.1"]
ways["tensordet"] = ["--rk4", "--seed-sphere", "0,0,0,8", "--include", "0,0,0,20"]
ways["cutoff"] = [*csd, "--dg", "prob", "--cutoff", "0.02", "--odf-interpolation", "amplitudes"]
ways["map"] = [*csd, "--dg", "ifod2", "--fa", "fod_fa.nii.gz", "--fa-threshold", "0.12"]
ways["act"] = [*csd, "--dg", "ifod1", "--act", "data/5tt.nii.gz", "--backtrack", "--crop-at-gmwmi", "--seed-gmwmi", "auto"]
ways["pft"] = [*csd, "--dg", "prob", "--act", "data/5tt.nii.gz", "--pft"]
ways["pve"] = [*csd, "--dg", "det", "--act", "data/5tt.nii.gz", "--act-rule", "pve"]
ways["msmt"] = ["--model", "msmt", "--sh-order", "4", "--normalise"]
words_of = {"csa": ["until 40 were accepted", "1 at random in each voxel"], "tensordet": ["in a sphere", "Runge and Kutta", "1 include"],
            "fact": ["noise of 0.1 voxels", "within 0.1 mm"], "map": ["stop map was at or below 0.12"], "pft": ["continuous map criterion", "particle filtering"],
            "act": ["anatomically-constrained", "back-tracking", "interface of grey and white matter"], "pve": ["thresholds of tissue fractions"],
            "msmt": ["estimated from the series", "log domain", "30 of b = 1000"], "cutoff": ["below 0.02"], "bedpost": ["probtrackx2"]}
for name, how in ways.items():
    given = series if name in ("msmt", "act", "tensordet") else images
    seeds = [] if "--seeds-per-voxel" in how else ["--nseeds", "40"]
    run("track", "--device", "llvmpipe", *given, *seeds, *how, *([] if "--dg" in how or name == "msmt" else ["--dg", name]), "-o", f"{name}.tck", "-q")
    try:
        check(name, *words_of.get(name, []))
    except FileNotFoundError as fault:
        faults.append(f"{name}: {fault}")
for preset in track["preset"]["choices"]:
    given = ["--sh", "fod_sh.nii.gz", "--roi", "data/roi.nii.gz", "--fa", "fod_fa.nii.gz"] if preset != "gpustreamlines" else images
    run("track", "--device", "llvmpipe", *given, "--preset", preset, "--nseeds", "40", *([] if preset in ("tckgen", "qsirecon") else ["--dg", "ptt"]), "--min-length", "6", "-o", f"preset_{preset}.tck", "-q")
    check(f"preset_{preset}", *([] if preset == "default" else [f"preset {preset}"]))

# results of track, and the commands on its outputs: each paragraph continues those before
labels = "data/roi.nii.gz"
run("track", "--device", "llvmpipe", "--sh", "fod_sh.nii.gz", "--roi", "data/roi.nii.gz", "--nseeds", "300", "--dg", "ifod2", "--weights", "--density", "tdi.nii",
    "--connectome", f"{labels}:net.csv", "--min-length", "6", "-o", "all.tck", "-q")
text = read_methods("all.tck")
faults.extend(f"all: no {w}" for w in ("SIFT2", "A connectome", "density", "constrained spherical deconvolution", "spherical harmonics of order 4") if w not in text)
run("track", "--device", "llvmpipe", *images, "--nseeds", "100", "--weights", "commit", "-o", "signal.tck", "-q")
if "by COMMIT" not in read_methods("signal.tck"):
    faults.append("signal: no COMMIT")
run("edit", "all.tck", "long.tck", "--min-length", "12", "-q")
run("connectome", "long.tck", labels, "-o", "long.csv", "--scale", "invlength", "-q")
text = read_methods("long.csv")
faults.extend(f"chain: no {w}" for w in ("(iFOD2)", "were selected", "nearest to its ends", "scaled by length") if w not in text)
run("density", "all.tck", "--output", "again.nii", "--template", labels, "-q")
run("peaks", "fod_sh.nii.gz", "peaks.nii.gz", "-q")
run("fixels", "fod_sh.nii.gz", "fixels", "-q")
for name in ("again.nii", "peaks.nii.gz"):
    read_methods(name)
for method in "qb", "cci":
    run("clean", "all.tck", f"{method}.tck", "--method", method, "-q")
    if "stayed without" not in read_methods(f"{method}.tck"):
        faults.append(f"clean --method {method}")
# methods of commands that differ in one parameter
side = json.load(open("long.json"))
side["nonlinear"] = side["t1_to_template"] = {}
side["t1_to_series"] = {"boundary": {"taken": True}}
for command, values in (("permute", {"enhance": "nbs"}), ("permute", {"enhance": "tfnbs"}), ("weights", {"method": "linear"}), ("weights", {"method": "sift"}), ("weights", {"method": "commit", "lambda": 0.1, "kernel": "life"}), ("weights", {"method": "commit", "kernel": "cylinder"}), ("register", {}), ("anat", {}), ("profile", {}), ("profile", {"assign": "atlas"}), ("cluster", {"thresholds_mm": [30, 10]}), ("recognize", {}), ("recognize", {"method": "recobundles"}), *(("response", {"algorithm": a}) for a in
                        next(o["choices"] for c in help_json["commands"] if c["name"] == "response" for o in c["options"] if o["name"] == "algorithm"))):
    side.update(command_line=["glslines", command], parameters=values, inputs=[])
    json.dump(side, open("other.json", "w"))
    read_methods("other.json")

# every paper is cited by some run, and stands in the table of the manual
papers = run("cite").strip().split("\n")[1:]
keys = re.findall(r"^@\w+\{(\w+),$", run("cite", "--format", "bibtex"), re.M)
if len(set(keys)) != len(keys) or len(keys) != len(papers) + 1:
    faults.append(f"{len(keys)} keys, {len(papers)} papers")
faults.extend(f"of no run: {paper[:80]}" for paper in papers if paper not in cited)
table = run("cite", "--format", "markdown")
if table.count("\n") != len(papers) + 2 or any(f"| {paper} |" not in table for paper in papers) or "|  |" in table or "{" in table:
    faults.append("the table of papers")

print(f"{len(ways)} ways to track, {len(papers)} papers")
for fault in faults:
    print("FAIL:", fault)
sys.exit(len(faults) > 0)
END

# --- the output: an argument or --output, everywhere; both are refused ---
expect 0 convert all.tck -o copy.tck
expect 0 sample all.tck fod_fa.nii.gz means.tsv --reference fod_fa.nii.gz
expect 0 stats all.tck stats.tsv
expect 0 fit data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz --no-model -o alone
expect 0 report all.tck page.html
expect 0 render all.tck picture.png --tile 64x64
expect 2 convert all.tck one.tck -o two.tck
expect 2 peaks fod_sh.nii.gz one.nii -o two.nii
for file in copy.tck means.tsv stats.tsv alone_fa.nii.gz page.html picture.png; do [ -s "$file" ] || note "no $file"; done
finish "methods"
