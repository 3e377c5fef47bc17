"""Rows of suites.py: images, gradient tables, fits and responses of MRtrix3."""
import itertools

import suites_how as h
from suites_how import group


def mrconvert():
    """Checks that an image that mrconvert wrote is read where its voxels lie: by tcksample, and by us."""
    same = h.text(5e-6)
    sampled = ("mrconvert fa.nii v.{0} {{}} && tcksample lines.tck v.{0} theirs.txt -stat_tck mean", "glslines sample lines.tck v.{0} --like mrtrix -o mine.txt{{}}")
    cases = {suffix: [] for suffix in ("mif", "mih", "mif.gz", "nii", "nii.gz", "img", "mgh", "mgz")}
    for order in itertools.permutations((1, 2, 3)):
        signs = ((1, 1, 1), (-1, 1, 1), (1, -1, -1))[sum(order[:1]) % 3]
        strides = ",".join(str(o * s) for o, s in zip(order, signs))
        cases["mif"].append((f"strides {strides}", f"-strides {strides}", "", same))
        turned = ",".join(str(-o * s) for o, s in zip(order, signs))
        cases["nii"].append((f"strides {turned} in NIfTI", f"-strides {turned}", "", same))
    for kind in ("float32le", "float32be", "float64le", "float64be"):
        cases["mif"].append((f"type {kind}", f"-datatype {kind}", "", same))
    for kind in ("float32be", "float64le"):
        cases["nii"].append((f"type {kind} in NIfTI", f"-datatype {kind}", "", same))
    for suffix in ("mih", "mif.gz", "nii.gz", "img"):
        cases[suffix].append((f"suffix .{suffix}", "", "", same))
    for suffix in ("mgh", "mgz"):
        cases[suffix].append((f"suffix .{suffix}", "", "", h.we_refuse(f"v.{suffix}"), "mgh"))
    out = []
    for suffix, of in cases.items():
        out += group("mrconvert", *(text.format(suffix) for text in sampled), of)
    for name, kind, scale in (("int8", "int8", ""), ("uint16be", "uint16be", ""), ("int16le with scaling", "int16le", "-scaling 0.5,0.25"), ("int32be", "int32be", ""), ("uint64le", "uint64le", ""), ("bit", "bit", "")):
        image = "mask.nii" if kind == "bit" else "labels.nii"
        out += group("mrconvert", f"mrconvert {image} v.mif -datatype {kind} {scale} {{}} && tcksample lines.tck v.mif theirs.txt -stat_tck max -nointerp",
                     "glslines sample lines.tck v.mif --like mrtrix --interp nearest --stat-tck max -o mine.txt{}", [(f"type {name}", "", "", same)])
    return out + group("mrconvert", "mrconvert fa.nii c.mif -datatype cfloat32 {} && tcksample few.tck c.mif theirs.txt -stat_tck mean", "glslines sample few.tck c.mif -o mine.txt{}", [
        ("complex numbers", "", "", h.we_refuse("complex", code=(7,)), "complex")])


FIT = "glslines fit {} f --model csd --csd-rule mrtrix --response single.txt --csd-directions dirs.txt --sh-order 4"
FOD = "dwi2fod csd {} single.txt theirs.nii -mask mask.nii -directions dirs.txt -lmax 4"


def gradients():
    """Makes the series and tables from which both programs compute the same FODs."""
    same = h.image(2e-5, mine="f_sh", inside="mask.nii")
    rows = group("mrinfo -export_grad", FOD, FIT, [
        ("the table of the header", "shell.mif", "shell.mif - - mask.nii", same),
        ("the table that FSL has", "shell.mif", "shell.nii shell.bval shell.bvec mask.nii", same),
        ("the table that the header has, found by itself", "shell.mif", "shell.mif --mask mask.nii", same),
        ("the table beside the series, found by itself", "shell.mif", "shell.nii --mask mask.nii", same),
    ])
    for name, strides in (("-2,3,-1,4", "-2,3,-1,4"), ("2,3,4,1", "2,3,4,1"), ("-1,2,3,4", "-1,2,3,4"), ("3,-1,2,4", "3,-1,2,4")):
        made = f"mrconvert shell.mif s.mif -strides {strides}"
        fsl = f"mrconvert shell.mif s.nii -strides {strides.replace('2,3,4,1', '-3,2,1,4')} -export_grad_fsl s.bvec s.bval -export_grad_mrtrix s.b"
        rows += group("mrconvert", made + " && " + FOD, FIT, [(f"a series of strides {name}, its own table", "s.mif", "s.mif - - mask.nii", same)])
        rows += group("mrinfo -export_grad", fsl + " && " + FOD, FIT, [
            (f"strides {name}: FSL's table", "s.nii -fslgrad s.bvec s.bval", "s.nii s.bval s.bvec mask.nii", same),
            (f"strides {name}: MRtrix3's table", "s.nii -grad s.b", "s.nii s.b - mask.nii", same),
        ])
    turned = "mrtransform shell.nii -fslgrad shell.bvec shell.bval s.mif -linear turn.txt -reorient_fod no && mrtransform mask.nii -linear turn.txt m.nii"
    rows += group("mrtransform", turned + " && dwi2fod csd {} single.txt theirs.nii -mask m.nii -directions dirs.txt -lmax 4",
                  "glslines fit {} m.nii f --model csd --csd-rule mrtrix --response single.txt --csd-directions dirs.txt --sh-order 4", [
                      ("an oblique series and its own table", "s.mif", "s.mif - -", h.image(1e-4, mine="f_sh"))])
    return rows


def tensors():
    fit = "glslines fit dwi.mif - - mask.nii f --model csa -q && {}"
    return group("dwi2tensor", "dwi2tensor dwi.mif t.mif -mask mask.nii {}", fit, [
        ("FA of weighted least squares", "-ols -iter 2 && tensor2metric t.mif -fa theirs.nii -mask mask.nii", "true", h.image(1e-3, 0.5, mine="f_fa", inside="single.nii"), "tensor-fit"),
        ("FA of bundles, mean", "-ols -iter 2 && tensor2metric t.mif -fa t.nii -mask mask.nii && mrstats t.nii -mask single.nii -output mean > theirs.txt",
         "mrstats f_fa.nii.gz -mask single.nii -output mean > mine.txt", h.text(0.01)),
        ("first eigenvectors", "-ols -iter 2 && tensor2metric t.mif -vector theirs.nii -modulate none -mask mask.nii",
         "mrconvert f_tensor.nii.gz -coord 3 0,2,5,1,3,4 -axes 0,1,2,3 - | tensor2metric - -vector mine.nii -modulate none -mask mask.nii", h.directions(3, inside="single.nii")),
    ]) + group("tensor2metric", fit.format("mrconvert f_tensor.nii.gz -coord 3 0,2,5,1,3,4 t.mif && tensor2metric t.mif -mask mask.nii {}"), "{}", [
        ("FA of our tensor", "-fa theirs.nii", "cp f_fa.nii.gz mine.nii.gz", h.image(1e-5, inside="mask.nii")),
    ])


def responses():
    def first(names, bound, most=float("inf")):
        def how(trial):
            off = 0
            for mine, theirs in names:
                a, b = h.numbers(mine), h.numbers(theirs)
                if [len(row) for row in a] != [len(row) for row in b]:
                    return "fail", f"{mine}: {a} {b}"
                off = max(off, max(abs(x - y) for p, q in zip(a, b) for x, y in zip(p, q)) / abs(b[0][0]))
            return h.verdict(off, bound, most, f"{off:.1e} of the first coefficient")

        return how

    single, three = [("r_response.txt", "theirs.txt")], [(f"r_{t}.txt", f"t_{t}.txt") for t in ("wm", "gm", "csf")]
    files = "t_wm.txt t_gm.txt t_csf.txt"
    own = "mrtrix/bin/dwi2response {} -mask mask.nii -scratch ."
    ours = "glslines response dwi.mif - - mask.nii r --algorithm {}"
    rows = group("dwi2response", own, ours, [
        ("tournier", "tournier shell.mif theirs.txt", "tournier --csd-directions dirs.txt", first(single, 1e-5)),
        ("tournier of 100 voxels", "tournier shell.mif theirs.txt -number 100", "tournier --csd-directions dirs.txt --voxels 100", first(single, 1e-5)),
        ("fa", "fa dwi.mif theirs.txt -number 200", "fa --voxels 200 --erode 0", first(single, 1e-6)),
        ("fa above a threshold", "fa dwi.mif theirs.txt -threshold 0.6 -erode 0", "fa --fa-threshold 0.6 --erode 0", first(single, 1e-6)),
        ("fa of a mask by its default", "fa dwi.mif theirs.txt", "fa", first(single, 1e-6, 0.1), "erosion"),
        ("dhollander", f"dhollander dwi.mif {files}", "dhollander --csd-directions dirs.txt", first(three, 1e-5)),
        ("dhollander with other shares", f"dhollander dwi.mif {files} -erode 1 -fa 0.25 -sfwm 1 -gm 5 -csf 20", "dhollander --csd-directions dirs.txt --erode 1 --fa-threshold 0.25 --wm-percent 1 --gm-percent 5 --csf-percent 20", first(three, 1e-5)),
        ("msmt_5tt", f"msmt_5tt dwi.mif 5tt.nii {files} -wm_algo fa -pvf 0.5", "msmt_5tt --act 5tt.nii --wm-algorithm fa --pvf 0.5", first(three, 1e-5)),
        ("msmt_5tt by tournier", f"msmt_5tt dwi.mif 5tt.nii {files} -wm_algo tournier -pvf 0.5", "msmt_5tt --act 5tt.nii --wm-algorithm tournier --pvf 0.5 --csd-directions dirs.txt", first(three, 1e-5)),
        ("tournier by its own directions", "tournier shell.mif theirs.txt && dwi2response tournier shell.mif theirs.txt -mask mask.nii -scratch . -force", "tournier", first(single, 1e-6, 0.02), "directions"),
    ])
    return rows + group("dwi2response", "dwi2response {} -scratch .", "glslines response {}", [
        ("manual", "manual shell.mif single.nii theirs.txt -dirs v1.nii", "shell.mif - - single.nii r --algorithm manual", first(single, 0.05)),
        ("a method that there is not", "none dwi.mif theirs.txt", "dwi.mif - - mask.nii mine --algorithm none", h.both_refuse("none")),
        ("one shell for three tissues", "dhollander shell.mif a.txt b.txt c.txt -shells 3000", "shell.mif - - mask.nii mine --algorithm dhollander --shells 3000", h.both_refuse("3000")),
    ])


def fods():
    rows = group("dwi2fod", "dwi2fod csd {} -mask mask.nii", "glslines fit {} f --model csd --csd-rule mrtrix", [
        *[(f"csd of order {order}", f"shell.mif single.txt theirs.nii -directions dirs.txt -lmax {order}",
           f"--response single.txt --csd-directions dirs.txt --sh-order {order} shell.mif - - mask.nii", h.image(1e-4, mine="f_sh", inside="mask.nii")) for order in (4, 6, 8, 10)],
        ("csd by the order of the response", "shell.mif single.txt theirs.nii -directions dirs.txt", "--response single.txt --csd-directions dirs.txt shell.mif - - mask.nii", h.image(1e-4, mine="f_sh", inside="mask.nii")),
        ("csd of a shell of several", "shell.mif single.txt theirs.nii -directions dirs.txt", "--response single.txt --csd-directions dirs.txt --shells 2000 dwi.mif - - mask.nii", h.image(1e-4, mine="f_sh", inside="mask.nii")),
        ("csd by its own directions", "shell.mif single.txt theirs.nii -lmax 8", "--response single.txt shell.mif - - mask.nii", h.image(1e-4, 0.5, mine="f_sh", inside="mask.nii"), "directions"),
    ])
    tissue = "--response-wm wm.txt --response-gm gm.txt --response-csf csf.txt"
    many = "wm.txt theirs.nii gm.txt t_gm.nii csf.txt t_csf.nii"
    raw = "--no-normalise dwi.mif - - mask.nii"
    # in a voxel of thousands, the two solvers stop at different places
    at = lambda bound, mine="f_wm", theirs="theirs": h.image(bound, mine=mine, theirs=theirs, inside="mask.nii", rare=2)
    rows += group("dwi2fod", "dwi2fod msmt_csd dwi.mif {} -mask mask.nii -directions dirs.txt", "glslines fit --model msmt --csd-directions dirs.txt {} f", [
        ("msmt_csd", many, f"{tissue} {raw}", h.held(at(1e-4), at(1e-4, "f_gm", "t_gm"), at(1e-4, "f_csf", "t_csf"))),
        ("msmt_csd of order 6", many + " -lmax 6,0,0", f"{tissue} --sh-order 6 {raw}", at(1e-4)),
        ("msmt_csd of order 4", many + " -lmax 4,0,0", f"{tissue} --sh-order 4 {raw}", at(1e-4)),
        ("msmt_csd of two tissues", "wm.txt theirs.nii csf.txt t_csf.nii", f"--response-wm wm.txt --response-csf csf.txt {raw}", h.held(at(1e-4), at(1e-4, "f_csf", "t_csf"))),
        ("no response of white matter", "none.txt theirs.nii csf.txt t.nii", f"--response-wm none.txt --response-csf csf.txt {raw}", h.both_refuse("none.txt")),
    ])
    rows += group("mtnormalise", "dwi2fod msmt_csd dwi.mif wm.txt w.mif gm.txt g.mif csf.txt c.mif -mask mask.nii -directions dirs.txt && mtnormalise w.mif theirs.nii g.mif t_gm.nii c.mif t_csf.nii -mask mask.nii {}",
                  "glslines fit --model msmt --csd-directions dirs.txt --normalise dwi.mif - - mask.nii f {}", [
                      ("three tissues", "", tissue, h.held(at(2e-3), at(2e-3, "f_csf", "t_csf")))])
    return rows + group("dwi2mask", "dwi2mask {} theirs.nii", "glslines fit {} f --model msmt --response-wm wm.txt --response-csf csf.txt --no-normalise", [
        ("legacy", "dwi.mif", "dwi.mif - -", h.overlap(0.995, mine="f_mask")),
        ("legacy of one shell and table of FSL", "dwi.nii -fslgrad dwi.bvec dwi.bval", "dwi.nii dwi.bval dwi.bvec", h.overlap(0.995, mine="f_mask")),
    ])


def tissues():
    """Rows of images that are no image of five tissues."""
    track = "glslines track --sh fod.nii --dg ifod2 --mask mask.nii --roi seed.nii --nseeds 10 -o mine.tck --act {}"
    rows = group("5ttcheck", "mrconvert 5tt.nii a5.nii -coord 3 0:3 && 5ttcheck {}", track, [("four volumes", "a5.nii", "a5.nii", h.both_refuse("a5.nii"))])
    rows += group("5ttcheck", "5ttcheck {}", track, [("one volume", "fa.nii", "fa.nii", h.both_refuse("fa.nii"))])
    rows += group("5ttcheck", "mrcalc 5tt.nii 100 -mult a5.nii && 5ttcheck {}", track, [("percent", "a5.nii", "a5.nii", h.both_refuse("a5.nii"))])
    return rows + group("labelconvert", "labelconvert high.nii lut_in.txt lut_out.txt l.nii && tck2connectome lines.tck l.nii theirs.csv {}", "glslines connectome lines.tck high.nii mine.csv {}", [
        ("labels numbered anew", "", "", h.text(0)),
        ("labels numbered anew, all voxels", "-assignment_all_voxels", "--assign all --roi-test vertex", h.text(0)),
    ])


def rows():
    return [*mrconvert(), *gradients(), *tensors(), *responses(), *fods(), *tissues()]
