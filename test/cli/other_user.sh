#!/bin/sh
# Every command that writes, as a user who is not root: folders and inputs that are not his, names that are folders, a full disk, a folder that is gone. Each gives one line, a documented exit code, and leaves all files as they were. other_user.sh TOOL WORK_DIR. Needs a device (a software renderer will do) and python3; root runs it as another user through setpriv.
. "$(dirname "$0")/common.sh"

# another user may not enter the folders above the build folder
place=$(mktemp -d) && trap 'rm -rf "$place"' EXIT
as=
if [ "$(id -u)" -eq 0 ]; then
    command -v setpriv > /dev/null || { echo "left out: all of it: root needs setpriv to be another user"; exit 77; }
    as="setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=$place/home XDG_CACHE_HOME=$place/home"
fi
mkdir "$place/bin" "$place/in" "$place/home"
cp "$tool" "$place/bin/"
cp -L "$(dirname "$tool")"/libglslines_blas.so* "$place/bin/" 2> stderr || :
cp "$here/trx.py" "$place/"
cd "$place" || exit 1
tool=$place/bin/glslines
work=$place
: > stdout
: > stderr
make() { "$tool" "$@" -q 2> stderr || note "$*: exit code $?"; }

make phantom in/ph --shape 18 20 18 --directions 30
make phantom in/bids --shape 18 20 18 --directions 30 --bids 01
cd in || exit 1
mv ph/dwi.nii.gz ph/dwi.bval ph/dwi.bvec ph/mask.nii.gz ph/roi.nii.gz .
make fit dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz f --model csd
track="track --sh f_sh.nii.gz --fa f_fa.nii.gz --mask mask.nii.gz --roi roi.nii.gz --dg prob --nseeds 100"
make $track -o t.trx
for i in 1 2; do make $track -o s.trx --shard $i/2; done
printf 'bundle\tinclude\nall\t0,0,0,100\n' > bundles.tsv
cd .. || exit 1
[ -z "$as" ] || { chmod 755 "$place" && chmod -R a+rX,go-w "$place"; chown 65534 home; }

cat > run.py << 'END'
"""run.py TOOL [WORDS THAT MAKE ANOTHER USER ...]: prints a line for each failure, and how many runs there were."""
import hashlib
import os
import re
import shutil
import stat
import subprocess
import sys

tool, user = os.path.abspath(sys.argv[1]), sys.argv[2:]
place = os.getcwd()
other = 65534 if user else os.getuid()
runs = 0
# {NAME} is an output, <NAME> an input; a name that ends in / is a folder, the others are files
SERIES = "<dwi.nii.gz> <dwi.bval> <dwi.bvec>"
COMMANDS = [
    "phantom {p/} --shape 18 20 18 --directions 30",
    "phantom {p/} --shape 18 20 18 --directions 30 --bids 01",
    "bids <bids/> {p/} participant -- --nseeds 20 --model opdt --sphere small",
    f"fit {SERIES} <mask.nii.gz> {{p}} --model opdt",
    f"response {SERIES} <mask.nii.gz> {{p}} --algorithm fa",
    f"track {SERIES} <mask.nii.gz> <roi.nii.gz> --model opdt --sphere small --nseeds 20 -o {{o.trx}}",
    "track --sh <f_sh.nii.gz> --fa <f_fa.nii.gz> --roi <roi.nii.gz> --dg prob --nseeds 20 -o o.trx --density {d.nii.gz}",
    "merge <s_shard-1of2.trx> <s_shard-2of2.trx> -o {o.trx}",
    "convert <t.trx> {o.tck}",
    "edit <t.trx> {o.trx}",
    "sample <t.trx> <f_fa.nii.gz> -o {o.tsv}",
    "stats <t.trx> -o {o.tsv}",
    "segment <t.trx> <bundles.tsv> -o {o.trx}",
    "profile <t.trx> <f_fa.nii.gz> -o {o.csv}",
    "density <t.trx> {o.nii.gz} --template <mask.nii.gz>",
    "connectome <t.trx> <mask.nii.gz> {o.csv}",
    "fixels <f_sh.nii.gz> {p/}",
    "peaks <f_sh.nii.gz> -o {o.nii.gz}",
    "weights <t.trx> <f_sh.nii.gz> -o {o.txt}",
    "render <t.trx> -o {o.png} --tile 64x64",
    "render --odf <f_sh.nii.gz> -o {o.png} --tile 64x64",
    "report <t.trx> -o {o.html} --no-view",
    "info <t.trx> --json={o.json}",
    "score <t.trx> --against <t.trx> --json={o.json}",
    "bench --shape 18x20x18 --nseeds 20 --repeat 1 --dg prob --json={o.json}",
]
# commands that work long before they make a file
SLOW = ("track", "response", "weights", "render", "report", "bench")


def files(folder):
    """Names, kinds and contents of all that is there."""
    found = {}
    for top, folders, names in os.walk(folder):
        for name in folders + names:
            path = os.path.join(top, name)
            kind = os.lstat(path)
            content = open(path, "rb").read() if stat.S_ISREG(kind.st_mode) else b""
            found[os.path.relpath(path, folder)] = kind.st_mode, hashlib.md5(content).hexdigest()
    return found


def words_of(command, folder, output=None):
    """The words, with inputs of the folder in and the output in another folder, or under a name of its own."""
    words = []
    for word in command.split():
        place_of = re.sub(r"\{(.*)\}$", lambda m: output or f"{folder}/{m[1].rstrip('/')}", word)
        words.append(re.sub(r"^<(.*)>$", lambda m: f"{place}/in/{m[1].rstrip('/')}", place_of))
    return words


def attempt(told, command, codes, folder, output=None, cwd=None, prefix=""):
    """A run that has to fail: with one of the codes, in one line, and nothing is another than before."""
    global runs
    runs += 1
    before = {} if prefix.startswith("rmdir") else files(folder)
    words = [*user, *(["sh", "-c", f'{prefix} exec "$@"', "sh"] if prefix else []), tool, *words_of(command, folder, output)]
    # -q and --force stand before the options that bids hands to track
    at = words.index("--") if "--" in words else len(words)
    words[at:at] = ["--force"] if command.startswith("info") else ["-q", "--force"]
    done = subprocess.run(words, cwd=cwd or folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=60)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("glslines: warning: ")]
    problems = []
    if done.returncode not in codes:
        problems.append(f"exit code {done.returncode}")
    if len(lines) != 1 or not lines[0].startswith("glslines: "):
        problems.append(f"{len(lines)} lines")
    if files(folder) != before:
        problems.append(f"other files than before: {sorted(set(files(folder)) ^ set(before))}")
    if problems:
        print(f"FAIL: {told}: {command}: {', '.join(problems)}: {done.stderr.strip()[-300:]}", flush=True)


def fresh(name, owner, mode):
    path = f"{place}/{name}"
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    os.chmod(path, mode)
    if user:
        os.chown(path, owner, owner)
    return path


inputs_before = files(f"{place}/in")
for command in COMMANDS:
    name = re.search(r"\{(.*?)\}", command)[1]
    inputs = re.findall(r"<(.*?)>", command)
    # a folder in which he may not write
    folder = fresh("closed", 0 if user else other, 0o555)
    attempt("a folder that is closed", command, (4,), folder)
    os.chmod(folder, 0o755)
    # an input that he may not read
    for one in inputs[:1]:
        path = f"{place}/in/{one.rstrip('/')}"
        mode = os.stat(path).st_mode
        os.chmod(path, 0)
        if user or os.getuid():
            attempt(f"{one} is closed", command, (3,), fresh("out", other, 0o755))
        os.chmod(path, mode)
    # a folder where a file is to be, a file where a folder is to be
    folder = fresh("out", other, 0o755)
    if name.endswith("/"):
        open(f"{folder}/p", "w").close()
    elif "." in name:
        os.mkdir(f"{folder}/{name}")
    else:
        os.mkdir(f"{folder}/{name}.json")
    attempt("a name of another kind", command, (4,), folder)
    # the folder of the output has been removed, which the run finds when it makes the first file
    gone = fresh("out", other, 0o755) + "/gone"
    os.mkdir(gone)
    if user:
        os.chown(gone, other, other)
    if not command.startswith(SLOW):
        attempt("a folder that is gone", command, (4,), f"{place}/out", output=name.rstrip("/"), cwd=gone, prefix=f"rmdir {gone};")
    if name.endswith(("nii.gz", "trx", "tsv", "csv", "txt", "json", "png", "html", "tck")):
        attempt("the device of a full disk", command, (2, 4), fresh("out", other, 0o755), output="/dev/full")
    # files that may not grow, as on a full disk
    attempt("files that may not grow", command, (4,), fresh("out", other, 0o755), prefix="ulimit -f 0;")
if files(f"{place}/in") != inputs_before:
    print("FAIL: inputs changed")
print(f"{runs} runs")
END
python3 run.py "$tool" $as > found 2>&1 || note "run.py: exit code $?"
grep '^FAIL\|Error' found && failures=$((failures + $(grep -c '^FAIL\|Error' found)))
tail -n 1 found
finish "another user"
