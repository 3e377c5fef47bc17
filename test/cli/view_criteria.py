"""Criteria of a running `glslines view` against `glslines edit`, and glyphs: view_criteria.py ADDRESS TOOL [TRACKS.trx SAVED]. Prints what fails.

The tractogram has the columns of streamlines `mark`, `odd name`, `holes` with values that are not finite, and `three`
of three values, and the groups `low`, `upper half` and `none`. Each selection is the one of the
command line beside it; the recipe of a save makes the same files again. At the end the tractogram is replaced. Without TRACKS.trx a selection alone is looked at."""

import os
import shlex
import shutil
import struct
import subprocess
import sys
import zipfile

from view import Server, ask, check, decode, failures, farthest, open_page, read_trx

address, tool, *files = sys.argv[1:]


def sphere(*numbers, role="include"):
    return {"role": role, "sphere": list(numbers)}


def select(page, regions, **criteria):
    """Selects, compares with the command line, and returns the number of streamlines."""
    said = ask(page, "select", shown=100000, regions=regions, criteria=criteria)
    if "error" in said:
        check(False, "criteria", criteria, said)
        return -1
    lines, scale = decode(page.receive()[12:])
    words = shlex.split(said["command"])
    subprocess.run([tool, *["again.trx" if w == "selected.trx" else w for w in words[1:]], "--force", "-q"], check=True)
    wanted = [[a[0], a[-1]] for a in read_trx("again.trx")]
    same = len(lines) == len(wanted) == said["selected"]
    check(same and farthest([[a[0], a[-1]] for a in lines], wanted) <= scale / 2 + 1e-4, "the command line selects others:", said, len(wanted))
    return said["selected"]


def remake(name, *ends):
    """Runs the recipe of a save without these files of it: it makes the same again."""
    kept = {f"{saved}/{name}{end}": open(f"{saved}/{name}{end}", "rb").read() for end in (*ends, ".tsv")}
    for end in ends:
        os.remove(f"{saved}/{name}{end}")
    subprocess.run(["sh", f"{saved}/{name}.sh", "--quiet", "--force"], check=True, env={**os.environ, "PATH": os.path.dirname(os.path.abspath(tool)) + ":" + os.environ["PATH"]})
    for file, data in kept.items():
        check(open(file, "rb").read() == data, "the recipe makes another", file)


if not files:
    with open_page(Server(address)) as page:
        check(select(page, [sphere(0, 0, 0, 9)], length=[5, None]) > 0, "a selection from all files")
    sys.exit(len(failures) > 0)
tracks, saved = files
whole = len(read_trx(tracks))
with open_page(Server(address)) as page:
    counts = [
        select(page, [], length=[12, None]), select(page, [], length=[None, 25.5]), select(page, [sphere(0, 0, 0, 9)], length=[10, 30]),
        select(page, [], column="mark", values=[3, 11.5]), select(page, [], column="odd name", values=[None, 0.25]),
        select(page, [], groups=["low"]), select(page, [], not_groups=["low"]), select(page, [], groups=["low", "upper half"]),
        select(page, [sphere(-4, 0, 0, 12)], groups=["upper half"], not_groups=["low"], length=[8, None], column="mark", values=[0, 400]),
        select(page, [], groups=["none"]), select(page, [], column="mark", values=[None, None]),
        select(page, [sphere(0, -10, 0, 12, role="both-ends")]), select(page, [sphere(0, -10, 0, 12, role="both-ends"), sphere(0, 10, 0, 12, role="both-ends")]),
        select(page, [sphere(0, -10, 0, 12, role="no-end")]), select(page, [sphere(0, -10, 0, 12, role="no-end"), sphere(0, 8, 0, 5)], length=[5, None]),
        select(page, [sphere(-5, 0, 0, 4)]), select(page, [sphere(6, 3, 0, 3)]), select(page, [sphere(-5, 0, 0, 4, role="any"), sphere(6, 3, 0, 3, role="any")]),
        select(page, [sphere(-5, 0, 0, 4, role="any"), sphere(6, 3, 0, 3, role="any"), sphere(0, 8, 0, 5)], length=[5, None])]
    # so that equal numbers are no chance
    check(len(set(counts)) >= 11 and counts[5] + counts[6] == whole and counts[9] == 0 and counts[10] == whole and counts[11] < counts[12] and max(counts[15:17]) < counts[17] <= counts[15] + counts[16] and 0 < counts[18] < counts[17], "numbers", counts, whole)
    check(select(page, [], column="holes", values=[None, None]) == whole, "a column without limits")
    for criteria, why in (({"column": "missing", "values": [0, 1]}, 'has no column "missing" with one value for each streamline; \'glslines info\' lists its columns'),
                          ({"column": "three", "values": [0, 1]}, 'has no column "three" with one value for each streamline; \'glslines info\' lists its columns'),
                          ({"not_groups": ["missing"]}, 'has no group "missing"; \'glslines info\' lists its groups')):
        said = ask(page, "select", shown=0, regions=[], criteria=criteria)
        check(said.get("error") == f"{tracks}: {why}", "wrong criteria", criteria, said)
    for criteria in ({"column": "missing", "values": [0, 1]}, {"groups": ["missing"]}, {"column": "mark"}, {"values": [0, 1]}, {"length": [5, 4]}, {"length": [-1, 4]}, {"length": 5},
                     {"length": [1, 2, 3]}, {"groups": "low"}, {"groups": 17 * ["low"]}, {"groups": ["a\nb"]}, {"groups": [""]}, {"groups": ["x" * 64]}, {"more": 1},
                     {"column": 5, "values": [0, 1]}, {"length": [None, 1e300]}, {"column": "mark", "values": ["a", None]}):
        check("error" in ask(page, "select", shown=0, regions=[], criteria=criteria), "wrong criteria are taken", criteria)
    check("error" in ask(page, "select", shown=0, regions=[]), "neither regions nor criteria")
    check("error" in ask(page, "select", shown=0, regions=[], criteria=[]), "criteria that are a list")

    # a save: the streamlines are those of the selection, and the recipe makes the same files again
    criteria = {"length": [9.25, None], "column": "odd name", "values": [0.1, None], "groups": ["upper half"]}
    regions = [sphere(0, 0, 0, 9), sphere(0, -14, 0, 3, role="exclude"), sphere(0, -12, 0, 4, role="no-end")]
    wanted = select(page, regions, **criteria)
    said = ask(page, "save", name="some", force=False, bundles=[{"name": "a", "regions": regions}], criteria=criteria)
    ends = ("_chosen.trx", "_chosen.json", ".tsv", ".trx", ".json", ".png", ".sh")
    check(said.get("files") == [f"{saved}/some{end}" for end in ends], "a save with criteria", said)
    with zipfile.ZipFile(f"{saved}/some.trx") as z:
        check(z.getinfo("groups/a.uint32").file_size // 4 == wanted > 0, "a group with criteria", z.namelist(), wanted)
    script = open(f"{saved}/some.sh").read()
    check("--min-length=9.25" in script and "'--weights=dps:odd name'" in script and "'--group=upper half'" in script and ".some.tsv" not in script, "recipe", script)
    check(len(os.listdir(saved)) == 7, "files", os.listdir(saved))
    remake("some", "_chosen.trx", ".trx", ".png")
    said = ask(page, "save", name="some", force=True, bundles=[{"name": "a", "regions": [sphere(0, 0, 0, 9)]}])
    check("files" in said and sorted(os.listdir(saved)) == sorted("some" + end for end in ends[2:]), "a save without criteria leaves files of before", said, os.listdir(saved))
    said = ask(page, "save", name="two", force=False, bundles=[{"name": "a", "regions": regions}, {"name": "b", "regions": regions}])
    check("is saved alone" in said.get("error", ""), "two bundles that the table cannot hold", said)
    # regions of which one is met: bundles beside others in one table
    either = [sphere(-5, 0, 0, 4, role="any"), sphere(6, 3, 0, 3, role="any"), sphere(0, -14, 0, 3, role="exclude")]
    wanted = select(page, either)
    said = ask(page, "save", name="either", force=False, bundles=[{"name": "a", "regions": either}, {"name": "b", "regions": [sphere(0, 8, 0, 5)]}])
    check(len(said.get("files", [])) == 5, "a save of regions of which one is met", said)
    table = open(f"{saved}/either.tsv").read().splitlines()
    check(table == ["bundle\tinclude\texclude\tinclude_any", "a\t\t0,-14,0,3\t-5,0,0,4;6,3,0,3", "b\t0,8,0,5\t\t"], "table", table)
    with zipfile.ZipFile(f"{saved}/either.trx") as z:
        check(z.getinfo("groups/a.uint32").file_size // 4 == wanted > 0, "a group of regions of which one is met", z.namelist(), wanted)
    remake("either", ".trx", ".png")

    # glyphs of ODFs: of the voxels that the part of the slice holds; every second one or fewer where there are too many
    sizes = []
    for low, high in (([-100, -100, -100], [100, 100, 100]), ([0, 0, 0], [8, 8, 0]), ([50, 50, 50], [40, 40, 40])):
        said = ask(page, "glyphs", axis=2, at=1, low=low, high=high)
        data = page.receive()
        n, (rings, meridians, length) = struct.unpack_from("<I", data, 8)[0], struct.unpack_from("<2Hf", data, 12)
        check(data[:2] == b"\1\4" and said["glyphs"] == n <= 1000 and len(data) == 20 + 16 * n + n * rings * meridians and length > 0, "glyphs", said, len(data), rings, meridians)
        centres = [struct.unpack_from("<3f", data, 20 + 16 * i) for i in range(n)]
        check(all(a <= v <= b for c in centres for v, a, b in zip(c[:2], low, high)) and {c[2] for c in centres} <= {1.0}, "places of glyphs", centres[:4])
        check(all(max(data[20 + 16 * n + i * rings * meridians :][: rings * meridians]) == 255 for i in range(n)), "the largest radius of each glyph")
        sizes.append(n)
    check(sizes[0] > sizes[1] > 0 == sizes[2], "numbers of glyphs", sizes)

    # points come from the file that was opened, measures and saves from that of its name: both have to be one
    def refused(why, what):
        for said in (ask(page, "select", shown=0, regions=[], criteria={"length": [9, None]}), ask(page, "select", shown=0, regions=[sphere(0, 0, 0, 9)]), ask(page, "save", name="late", force=False, bundles=[{"name": "a", "regions": regions}])):
            check(said.get("error") == f"{tracks}: {why}", what, said)

    shutil.copy(tracks, "again.trx")
    os.rename(tracks, "away.trx")
    refused("is no longer there: give it back its name, or start 'glslines view' again", "a tractogram that has gone")
    os.rename("away.trx", tracks)
    check(select(page, [], length=[9, None]) > 0, "a tractogram that is there again")
    os.replace("again.trx", tracks)
    refused("has changed since it was opened: start 'glslines view' again", "a tractogram that was replaced")
sys.exit(len(failures) > 0)
