#!/bin/sh
# A program that sets a locale gets from the library what one without gets: locale.sh TOOL WORK_DIR TOOL_WITH_LOCALE, the last one the tool linked with locale.c.
# Needs the locales de_DE.UTF-8 (commas in numbers) and tr_TR.UTF-8 (the capital of i is not I), a device (a software renderer will do) and python3.
with_locale=$(cd "$(dirname "$3")" && pwd)/$(basename "$3")
. "$(dirname "$0")/common.sh"
plain=$tool
for name in de_DE.UTF-8 tr_TR.UTF-8; do
    GLS_TEST_LOCALE=$name "$with_locale" --version > /dev/null && continue
    [ "${GLS_TEST_REQUIRE_LOCALE:-0}" = 0 ] || note "the locale $name is not here"
    [ "$failures" -eq 0 ] && exit 77
    exit 1
done

# commands that write numbers as text, and commands that read them
commands() {
    expect 0 phantom data --shape 18 20 18 --voxel-size 4.5 --directions 30 -q
    set -- data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz
    expect 0 response "$@" single --algorithm fa -q
    expect 0 fit "$@" fit --model csd --sh-order 6 -q
    expect 0 track "$@" data/roi.nii.gz --nseeds 300 --model csd --dg prob --step-size 1.25mm --max-angle 33.5 --device llvmpipe -o t.tck -q
    expect 0 track "$@" data/roi.nii.gz --nseeds 300 --model opdt --dg ptt --fa-threshold 0.15 --device llvmpipe -o t.trx -q
    expect 0 convert t.trx t.vtk -q
    expect 0 convert t.trx t.trk -q
    printf '# vtk DataFile Version 3.0\nlines SPACE=RAS\nASCII\nDATASET POLYDATA\nPOINTS 3 float\n0.5 1.25 -2.5 1.5 1.25 -2.5 2.5e0 1.75 0\nLINES 1 4\n3 0 1 2\n' > a.vtk
    expect 0 convert a.vtk a.tck -q
    expect 0 info t.tck t.trx t.vtk a.vtk --json info.json -q
    expect 0 stats t.tck -o stats.csv -q
    expect 0 sample t.tck fit_fa.nii.gz -o sample.tsv --stat-tck mean -q
    expect 0 density t.tck density.nii.gz --template data/mask.nii.gz -q
    expect 0 weights t.tck fit_sh.nii.gz -o weights.txt -q
    expect 0 connectome t.tck data/roi.nii.gz matrix.csv --weights weights.txt -q
    expect 0 profile t.tck fit_fa.nii.gz -o profile.csv -q
    expect 0 render t.tck -o t.png --device llvmpipe -q
    expect 0 report t.tck -o t.html --device llvmpipe -q
}

mkdir c de tr
cd c && commands
cd ../de || exit 1
tool=$with_locale
export GLS_TEST_LOCALE=de_DE.UTF-8
commands
cd ..
python3 - << 'END' || note "files with a locale are others"
import json, os, re, sys

def plain(value):  # leave out what differs from run to run
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items() if k not in ("seconds", "run", "command_line", "absolute_path", "rates")}
    return [plain(v) for v in value] if isinstance(value, list) else value

bad = []
names = sorted(os.path.relpath(os.path.join(d, f), "c") for d, _, files in os.walk("c") for f in files)
assert names == sorted(os.path.relpath(os.path.join(d, f), "de") for d, _, files in os.walk("de") for f in files), names
for name in names:
    a, b = (open(f"{d}/{name}", "rb").read() for d in ("c", "de"))
    if name in ("stdout", "stderr") or a == b:
        continue
    if name.endswith(".json") and plain(json.loads(a)) == plain(json.loads(b)):
        continue
    if name.endswith(".html"):  # times differ
        a, b = (re.sub("/[^ \"]*/(glslines|locale_tool)|/(c|de)/", "", text.decode()) for text in (a, b))
        a, b = (re.sub("[0-9.]+(e-?[0-9]+)?", "0", text) for text in (a, b))
        if a == b:
            continue
    bad.append(name)
for name in bad:
    print(name)
sys.exit(bool(bad))
END

# names that are compared without regard to case
export GLS_TEST_LOCALE=tr_TR.UTF-8
cd tr || exit 1
cp ../c/data/dwi.nii.gz DWI.NII.GZ
gzip -dc ../c/data/mask.nii.gz > MASK.NII
cp ../c/t.vtk T.VTK
expect 0 fit DWI.NII.GZ ../c/data/dwi.bval ../c/data/dwi.bvec MASK.NII fit --model csd -q
expect 0 convert T.VTK T.TRK --reference MASK.NII -q
expect 0 density T.TRK D.NII.GZ --template MASK.NII -q
cmp -s fit_fa.nii.gz ../c/fit_fa.nii.gz || note "FA of files with names in capitals"
[ "$(head -c 2 D.NII.GZ | od -An -tx1)" = " 1f 8b" ] || note "D.NII.GZ is not compressed"
cd ..
finish locale
