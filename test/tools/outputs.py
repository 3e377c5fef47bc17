#!/usr/bin/env python3
"""Every output of every command under every name that it must not have, with --force: the names of its inputs, also by
a symbolic and a hard link, those of the other outputs, a FIFO, a device node, a link that leads nowhere, a folder.

Each has to be refused in one line with exit code 4 (or 2 and 3, where the name itself is wrong), and everything has to
stay as it was; only a sidecar may take its other name. The rows of the options say which of them name outputs: those that
stand in no line below are added to the first line of their command. By hand: some minutes.

Usage: outputs.py GLSLINES WORK_FOLDER [COMMAND]      Standard library only; as root, for the device node
"""
import concurrent.futures
import gzip
import hashlib
import itertools
import json
import os
import re
import shutil
import stat
import subprocess
import sys

program, work = (os.path.abspath(name) for name in sys.argv[1:3])
only = sys.argv[3] if len(sys.argv) > 3 else None
inputs_made = f"{work}/in"

# A command: words of its command line. <name> is a file of the folder in/, {name} an output; {} alone stands where the
# attacked name comes, and @@ stands for braces of the command line. An output that only an option brings has that option's words, with the inputs that it brings.
DWI = "<dwi.nii.gz> <dwi.bval> <dwi.bvec> <mask.nii.gz> <roi.nii.gz>"
TRACK = f"track {DWI} --nseeds 30 --sphere small --device llvmpipe"
COMMANDS = {
    "track": (f"{TRACK} --model csd --dg prob --response <response.txt> --include <labels.nii.gz>:1,2 --exclude <far.nii.gz> --act <5tt.nii.gz>", "-o {o.trx} --sidecar {o.json}",
              ["--write-mask {m.nii.gz}", "--density {d.nii.gz}", "--connectome <labels.nii.gz>:{c.csv}", "--report={r.html}", "--picture={p.png}",
               "--profile <bundles.tsv>:{f.csv}", "--profile <bundles.tsv>:<image.nii.gz>:{f2.csv}", "--output-seeds {s.txt}",
               "--trace {z.json}", "--dec {e.nii.gz}", "--sample <image.nii.gz>:{v.tsv}", "--segment <bundles.tsv>:{b.tsv}"]),
    "track_more": ("track <dwi.nii.gz> <dwi.bval> <dwi.bvec> <mask.nii.gz> --model msmt --dg prob --response-wm <wm.txt> --response-gm <gm.txt> --response-csf <csf.txt> --seeds <seeds.txt> --sphere <sphere.txt> --device llvmpipe",
                   "-o {o.tck} --sidecar {o.json}", ["--weights --density {d.nii.gz}"]),
    "track_sh": ("track --sh <s_wm.nii.gz> --fa <image.nii.gz> --mask <mask.nii.gz> --seed-rejection <roi.nii.gz> --nseeds 30 --dg ifod2 --device llvmpipe", "-o {o.trx} --sidecar {o.json}", []),
    "merge": ("merge <a_shard-1of2.trx> <a_shard-2of2.trx>", "-o {o.trx} --sidecar {o.json}", []),
    "score": ("score <t.trx> --against <t2.tck> --reference <mask.nii.gz>", "--json={o.json}", []),
    "info": ("info <t.trx> <t.tck>", "--json={o.json}", []),
    "convert": ("convert <t.tck> --reference <mask.nii.gz> --weights <w.txt> --tsf <v.tsf>=v", "{o.trx}", []),
    "convert_tck": ("convert <t.trx> --reference <mask.nii.gz>", "{o.tck}", []),
    "edit": ("edit <t.trx> --include <labels.nii.gz>:1,2 --exclude <far.nii.gz> --ids <ids.txt> --minus <t2.tck> --reference <mask.nii.gz>", "{o.trx}", []),
    "edit_crop": ("edit <t.trx> --crop <roi.nii.gz> --ids <ids.txt>", "{o.trx}", []),
    "sample": ("sample <t.trx> <image.nii.gz>", "-o {o.tsv}", ["--trx {x.trx}"]),
    "sample_tsf": ("sample <t.tck> <image.nii.gz>", "--tsf {x.tsf}", []),
    "stats": ("stats <t.tck> --weights <w.txt>", "-o {o.tsv}", ["--histogram {h.tsv}", "--dump {l.txt}"]),
    "segment": ("segment <t.trx> <bundles.tsv>", "-o {o.trx}", ["--table {t.tsv} --weights <w.txt>", "--counts {c.csv}", "--each e-@@.trx"]),
    "profile": ("profile <t.trx> <image.nii.gz> --bundles <bundles.tsv>", "-o {o.csv}", []),
    "density": ("density <t.tck> --template <mask.nii.gz> --weights <w.txt>", "{o.nii.gz}", ["--mask-out {m.nii.gz}"]),
    "connectome": ("connectome <t.tck> <labels.nii.gz> --weights <w.txt> --lut <lut.txt>", "{o.csv}", ["--nodes {n.tsv}", "--edges {e.tsv}", "--trx {x.trx} --assignments dps:node --reference <mask.nii.gz>"]),
    "connectome_assign": ("connectome <t.tck> <labels.nii.gz>", "{o.csv}", ["--assignments {a.txt}"]),
    "weights": ("weights <t.tck> <s_wm.nii.gz> --proc-mask <proc.nii.gz> --device llvmpipe", "-o {o.txt}", ["--mu {mu.txt}", "--csv {v.csv}"]),
    "weights_in_place": ("weights <t.trx> <s_wm.nii.gz> --in-place --device llvmpipe", "", []),
    "weights_sift": ("weights <t.trx> <s_wm.nii.gz> --method sift --device llvmpipe", "-o {o.trx}", ["--selection {x.txt}", "--fixels fix"]),
    "render": ("render <t.tck> --reference <mask.nii.gz> --image <image.nii.gz> --tile 64x64 --device llvmpipe", "-o {o.png}", []),
    "report": ("report <t.trx> --image <image.nii.gz> --device llvmpipe", "-o {o.html}", ["--versions {v.yml}", "--mqc mq"]),
    "fit": (f"fit {DWI.rsplit(' ', 1)[0]} p --model csd", "", []),
    "fit_msmt": ("fit <dwi.nii.gz> <dwi.bval> <dwi.bvec> p --model msmt --response-wm <wm.txt> --response-gm <gm.txt> --response-csf <csf.txt>", "", []),
    "response": (f"response {DWI.rsplit(' ', 1)[0]} p", "", []),
    "response_5tt": ("response <dwi.nii.gz> <dwi.bval> <dwi.bvec> p --algorithm msmt_5tt --act <5tt.nii.gz> --pvf 0.6", "", []),
    "fixels": ("fixels <s_wm.nii.gz> dir --proc-mask <proc.nii.gz>", "", []),
    "weights_commit": ("weights <t.tck> <dwi.nii.gz> --method commit --bval <dwi.bval> --bvec <dwi.bvec> --mask <mask.nii.gz> --device cpu", "-o {o.txt}", ["--maps maps"]),
    "cluster": ("cluster <t.trx> --threshold 8", "-o {o.trx}", []),
    "clean": ("clean <t.trx> --method cci", "{o.trx}", []),
    "search": ("search <t.trx> <t2.tck> --radius 2", "-o {o.tsv}", []),
    "recognize": ("recognize <t.trx> <atlas.trx> --no-local", "-o {o.trx}", ["--each e-@@.trx"]),
    "similarity": ("similarity <t.trx> <t2.tck> --template <mask.nii.gz>", "-o {o.tsv}", []),
    "atlas": ("atlas <atlas.trx> <atlas2.trx>", "-o {o.trx}", []),
    "peaks": ("peaks <s_wm.nii.gz>", "-o {o.nii.gz}", []),
    "transform": ("transform <image.nii.gz> --transform <move.txt> --template <mask.nii.gz>", "-o {o.nii.gz}", []),
    "register": ("register <image.nii.gz> <c_fa.nii.gz> -o p --type rigid --levels 4 --init header --search none --device cpu", "", []),
}
# outputs whose names follow from others
FOLLOWING = {"track": ["o.trx.resume"], "track_more": ["o_weights.txt"], "merge": [], "convert": ["o.json"], "convert_tck": ["o_dps.tsv"], "edit": ["o.json"], "segment": ["e-A.trx"], "sample": ["o.json"], "stats": ["o.json"],
             "profile": ["o.json"], "density": ["o.nii.json"], "connectome": ["o.json", "o_nodes.tsv"], "weights": ["o.json"], "weights_in_place": ["t_weights.json"],
             "weights_sift": ["fix/index.nii", "fix/fd.nii"], "fit": ["p_fa.nii.gz", "p_tensor.nii.gz", "p_sh.nii.gz", "p_response.txt", "p.json"],
             "fit_msmt": ["p_wm.nii.gz", "p_gm.nii.gz", "p_csf.nii.gz", "p_vf.nii.gz", "p_mask.nii.gz", "p.json"],
             "response_5tt": ["p_wm.txt", "p_gm.txt", "p_csf.txt", "p_voxels.nii.gz", "p.json"],
             "response": ["p_wm.txt", "p_gm.txt", "p_csf.txt", "p_voxels.nii.gz", "p.json"], "report": ["mq/t_glslines_general_mqc.json", "mq/t_glslines_tractogram_mqc.png"], "fixels": ["dir/index.nii", "dir/directions.nii", "dir/fd.nii", "dir/fixels.json"],
             "weights_commit": ["maps_ic.nii.gz"], "recognize": ["e-A.trx"], "register": ["p_affine.txt", "p.json"]}
# options that name outputs and are not attacked here, and why
LEFT_OUT = {"progress-file": "a file that grows while the program runs: cli/progress", "directory": "of help, which reads no file",
            "output-prefix": "the beginning of the name of --output"}
# commands that are not attacked: they take minutes, or read no file
LEFT_OUT_COMMANDS = ("anat", "bids", "phantom", "view", "devices", "bench", "cite", "help")
SUFFIXES = {"text": ".tsv", "image": ".nii.gz", "tractogram": ".trx", "scalars": ".tsf", "picture": ".png", "page": ".html"}
# what stands before the colon of an option that names an input and an output
BEFORE = {"LABELS": "<labels.nii.gz>", "MASK": "<mask.nii.gz>", "MM": "8", "ATLAS": "<atlas.trx>"}
# options that the output of another option needs
NEEDED = {"fdt-lengths": "--fdt-paths paths.nii.gz", "json": "--dry-run"}


def option_words(option):
    """Returns the words that give an option an output {NAME}."""
    name = option["name"]
    place = "{%s%s}" % (name, ".json" if name == "json" else SUFFIXES[option["writes"][0]])
    before = re.match(r"([A-Z]+)\[?:", option["metavar"])
    value = BEFORE[before.group(1)] + ":" + place if before else place
    return f"--{name}={value}" if option["metavar"].startswith("[") else f"--{name} {value}"


def complete():
    """Adds the outputs of the rows to COMMANDS. Returns what cannot be added."""
    lost = []
    for command in json.loads(run(["help", "--format", "json"], "/").stdout)["commands"]:
        own = [key for key, (base, _, _) in COMMANDS.items() if base.split()[0] == command["name"]]
        lines = " ".join(" ".join([base, outputs, *options]) for key in own for base, outputs, options in [COMMANDS[key]])
        for option in command["options"]:
            name = option["name"]
            if not option["writes"] or command["name"] in LEFT_OUT_COMMANDS or name in LEFT_OUT or re.search(rf"--{name}[= ]", lines) or own and name == "output":
                continue
            if not own or option["writes"] == ["several"] or option["type"] not in ("string", "strings"):
                lost.append(f"{command['name']} --{name} {option['metavar']}: is an output: add a line to this script")
            else:
                COMMANDS[own[0]][2].append(f"{option_words(option)} {NEEDED.get(name, '')}".strip())
    return lost


def run(words, where, timeout=120):
    return subprocess.run([program, *words], cwd=where, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout)


def must(words, where):
    done = run(words.split(), where)
    if done.returncode != 0:
        sys.exit(f"{words}: {done.returncode}: {done.stderr}")


def prepare():
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    must("phantom in --shape 18 20 18 --directions 30 --bvals 1000,2500 -q", work)
    shutil.rmtree(f"{inputs_made}/bundles")
    must("fit dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz s --model msmt -q", inputs_made)
    must("fit dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz c --model csd -q", inputs_made)
    os.rename(f"{inputs_made}/c_response.txt", f"{inputs_made}/response.txt")
    for tissue in ("wm", "gm", "csf"):
        os.rename(f"{inputs_made}/s_{tissue}.txt", f"{inputs_made}/{tissue}.txt")
    track = "track --sh s_wm.nii.gz --fa c_fa.nii.gz --mask mask.nii.gz --roi roi.nii.gz --nseeds 200 --dg prob --device llvmpipe -q"
    must(f"{track} -o t.trx --sidecar none", inputs_made)
    must(f"{track} -o a.trx --shard 1/2", inputs_made)
    must(f"{track} -o a.trx --shard 2/2", inputs_made)
    must("convert t.trx t.tck --fields none -q", inputs_made)
    # a file of scalars belongs to its tractogram by the time stamp
    data = open(f"{inputs_made}/t.tck", "rb").read()
    start = int(data[data.index(b"file: . ") + 8:].split()[0])
    head = b"mrtrix tracks\ntimestamp: 1700000000.5\ndatatype: Float32LE\nfile: . 128\nEND\n"
    with open(f"{inputs_made}/t.tck", "wb") as file:
        file.write(head.ljust(128, b"\0") + data[start:])
    must("edit t.tck t2.tck --number 3 --reference mask.nii.gz -q", inputs_made)
    must("sample t.tck c_fa.nii.gz --tsf v.tsf -q", inputs_made)
    for name, source in (("image", "c_fa"), ("proc", "mask")):
        shutil.copy(f"{inputs_made}/{source}.nii.gz", f"{inputs_made}/{name}.nii.gz")
    with gzip.open(f"{inputs_made}/mask.nii.gz") as file: # a region of one voxel, which leaves the streamlines unchanged
        mask = file.read()
    with gzip.open(f"{inputs_made}/labels.nii.gz", "wb") as file:
        file.write(mask[:352] + bytes(v * (1 + i % 2) for i, v in enumerate(mask[352:])))
    first = mask.index(1, 352)
    with gzip.open(f"{inputs_made}/far.nii.gz", "wb") as file:
        file.write(mask[:352] + bytes(i == first for i in range(352, len(mask))))
    count = sum(1 for line in open(f"{inputs_made}/v.tsf", "rb") if line.startswith(b"count"))
    n = int(re.search(r"(\d+) streamlines", run(["info", "t.trx", "--count"], inputs_made).stdout + " 0 streamlines").group(1)) if count else 0
    texts = {"w.txt": "1\n" * n, "ids.txt": "0\n1\n2\n", "seeds.txt": "9 10 9\n9 9 9\n", "lut.txt": "1 one 255 0 0 0\n", "move.txt": "1 0 0 1\n0 1 0 0\n0 0 1 0\n0 0 0 1\n",
             "bundles.tsv": "bundle\tinclude\nA\tlabels.nii.gz:1\n",
             "sphere.txt": open(f"{inputs_made}/dwi.bvec").read() and "\n".join(f"{x} {y} {z}" for x, y, z in
                 [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, -1, 0), (1, 0, -1), (0, 1, -1), (1, 1, 1), (1, -1, 1), (1, 1, -1), (-1, 1, 1)]) + "\n"}
    for name, text in texts.items():
        with open(f"{inputs_made}/{name}", "w") as file:
            file.write(text)
    must("segment t.trx bundles.tsv -o atlas.trx -q", inputs_made)
    shutil.copy(f"{inputs_made}/atlas.trx", f"{inputs_made}/atlas2.trx")
    must("phantom ph --shape 18 20 18 --directions 6 -q", work)


def print_of(folder):
    """Returns names, kinds and contents of everything in a folder."""
    seen = {}
    for place, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(place, name)
            mode = os.lstat(path).st_mode
            what = os.readlink(path) if stat.S_ISLNK(mode) else hashlib.md5(open(path, "rb").read()).hexdigest() if stat.S_ISREG(mode) else ""
            seen[os.path.relpath(path, folder)] = (stat.S_IFMT(mode), what)
    return seen


def beside(needed):
    """Returns the files that inputs name, or that lie beside them."""
    return [f"a_shard-{i}of2.json" for i in (1, 2) if "a_shard-1of2.trx" in needed] + (["labels.nii.gz"] if "bundles.tsv" in needed else [])


def attack(number, told, words, needed, target, kind, following=False):
    folder = f"{work}/run/{number}"
    os.makedirs(folder)
    for name in needed:
        shutil.copy(f"{inputs_made}/{name}", f"{folder}/{name}")
    for name in beside(needed):
        shutil.copy(f"{inputs_made}/{name}", folder)
    name = target
    suffix = re.search(r"\.[a-z0-9.]+$", words[1]).group(0) if "." in words[1] else ""
    fixed = words[1] if following else None
    if fixed and "/" in fixed:
        os.makedirs(os.path.dirname(f"{folder}/{fixed}"))
    if kind == "symbolic link":
        name = fixed or f"link{suffix}"
        os.symlink(os.path.relpath(f"{folder}/{target}", os.path.dirname(f"{folder}/{name}")), f"{folder}/{name}")
    elif kind == "hard link":
        name = fixed or f"link{suffix}"
        os.link(f"{folder}/{target}", f"{folder}/{name}")
    elif kind == "other way":
        name = f"../{number}/{target}"
    elif kind == "fifo":
        name = fixed or f"node{suffix}"
        os.mkfifo(f"{folder}/{name}")
    elif kind == "device":
        name = fixed or f"node{suffix}"
        os.mknod(f"{folder}/{name}", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    elif kind == "nowhere":
        name = fixed or f"node{suffix}"
        os.symlink("absent", f"{folder}/{name}")
    elif kind == "folder":
        name = fixed or f"node{suffix}"
        os.mkdir(f"{folder}/{name}")
    before = print_of(folder)
    line = words[0] if kind == "nothing" else [word.replace("{}", name).replace("@@", "{}") for word in words[0]]
    try:
        done = run([*line, "--force", "-q"], folder, 60)
    except subprocess.TimeoutExpired:
        return f"FAIL: {told}, {kind} {target}: hangs"
    after = print_of(folder)
    lines = [text for text in done.stderr.splitlines() if not text.startswith("glslines: warning: ")]
    problem = ""
    # a file that is no sidecar stays under the name of a sidecar, and the sidecar takes its other name
    other_name = fixed and fixed.endswith(".json") and done.returncode == 0
    if other_name and all(after.get(name) == was for name, was in before.items()):
        lines = [f"the sidecar has another name than {fixed}"]
    elif kind == "nothing":
        problem = "" if done.returncode == 0 else "does not run as it is"
    elif after != before:
        problem = "changed: " + ", ".join(sorted(k for k in {**before, **after} if before.get(k) != after.get(k)))
    elif done.returncode not in (2, 3, 4):
        problem = "taken"
    elif len(lines) != 1:
        problem = f"{len(lines)} lines"
    shutil.rmtree(folder)
    return f"{'FAIL' if problem else 'ok'}: {told}, {kind} {target}: {problem} ({done.returncode}: {' '.join(lines)[:160]})"


def attacks():
    number = 0
    for command, (base, outputs, options) in COMMANDS.items():
        if only and command != only:
            continue
        for extra in [""] + options:
            words = f"{base} {outputs} {extra}".split()
            number += 1
            yield number, f"{command} {extra or outputs}", ([re.sub(r"[<>{}]", "", word).replace("@@", "{}") for word in words], ""), sorted(set(re.findall(r"<([^>]+)>", " ".join(words)))), "", "nothing"
            if extra and "{" not in extra:
                continue
            places = re.findall(r"\{([^}]+)\}", " ".join(words) if not extra else extra)
            all_inputs = re.findall(r"<([^>]+)>", " ".join(words))
            needed = sorted(set(all_inputs))
            others = [name for name in re.findall(r"\{([^}]+)\}", " ".join(words))]
            for place in places:
                line = [re.sub(r"[<>]", "", re.sub(r"\{([^}]+)\}", lambda m: "{}" if m.group(1) == place else m.group(1), word)) for word in words]
                targets = [(name, kind) for name in needed for kind in ("itself", "symbolic link", "hard link")]
                targets += [(needed[0], "other way")]
                targets += [(name, "another output") for name in others if name != place]
                targets += [("", kind) for kind in ("fifo", "device", "nowhere", "folder")]
                for target, kind in targets:
                    number += 1
                    yield number, f"{command} {extra or outputs} ({place})", (line, place), needed, target, kind


def following():
    number = 10**6
    for command, names in FOLLOWING.items():
        if only and command != only:
            continue
        base, outputs, options = COMMANDS[command]
        for name in names:
            extra = "--resume" if name.endswith(".resume") else "--weights" if name.endswith("_weights.txt") else "--fixels fix" if name.startswith("fix/") else "--mqc mq" if name.startswith("mq/") else "--each e-@@.trx" if name == "e-A.trx" else "--maps maps" if name.startswith("maps") else ""
            words = f"{base} {outputs} {extra}".split()
            needed = sorted(set(re.findall(r"<([^>]+)>", " ".join(words))))
            line = [re.sub(r"[<>{}]", "", word) for word in words]
            for target, kind in [(one, kind) for one in needed for kind in ("symbolic link", "hard link")] + [("", kind) for kind in ("fifo", "device", "nowhere", "folder")]:
                number += 1
                yield number, f"{command} ({name})", (line, name), needed, target, kind, True


def main():
    lost = complete()
    print(*lost, sep="\n", end="\n" if lost else "")
    prepare()
    bad, total = len(lost), 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for text in pool.map(lambda one: attack(*one), itertools.chain(following(), attacks())):
            total += 1
            bad += text.startswith("FAIL")
            if text.startswith("FAIL") or os.environ.get("VERBOSE"):
                print(text, flush=True)
    print(f"{total} names of outputs, {bad} failures")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
