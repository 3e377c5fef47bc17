#!/bin/sh
# Draws the pictures of the manual into .readme, from the built-in phantom, by the commands that the pages give. The tutorial's are made by its test,
# those of reports and of the window need chromium and are left as they are without it.
# Usage: sh test/tools/pictures.sh GLSLINES [NAME...]      NAME: of pictures without .png; all without one
set -eu
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
pictures=$(cd "$(dirname "$0")/../../.readme" && pwd)
reports=$(cd "$(dirname "$0")/../report" && pwd)
shift
wanted=${*:-"phantom getters seeds stopping models slabs regions editing bundles recognition atlas values weights density-maps report connectome view view-select view-paint view-review"}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

glslines() { "$program" "$@" -q; }
# draw NAME INPUT OPTIONS...: a picture of 256 colours
draw() {
    picture=$1
    shift
    glslines render "$@" --palette --force -o "$pictures/$picture.png"
}
wants() { case " $wanted " in *" $1 "*) ;; *) return 1 ;; esac; }

glslines phantom data
glslines fit data/dwi.nii.gz data/dwi.bval data/dwi.bvec --mask data/mask.nii.gz --model csd maps
glslines track --sh maps_sh.nii.gz --fa maps_fa.nii.gz --mask data/mask.nii.gz --roi data/roi.nii.gz --dg prob --min-length 20 --nseeds 6000 -o tracks.trx

# getting-started: the phantom from three sides
wants phantom && draw phantom tracks.trx --max-streamlines 2500 --tile 260x290 --views superior,posterior,left --fit streamlines --radius 0.35
# getters: three getters from one place of seeds
if wants getters; then
    for getter in det prob ptt; do
        glslines track --sh maps_sh.nii.gz --fa maps_fa.nii.gz --mask data/mask.nii.gz --seed-sphere 12,-8,12,3 --dg $getter --min-length 20 --nseeds 400 -o $getter.trx
    done
    for getter in det prob ptt; do glslines edit $getter.trx $getter-shown.trx --number 250; done
    draw getters det-shown.trx prob-shown.trx ptt-shown.trx --outline data/mask.nii.gz --views superior,posterior,left --tile 260x300 --radius 0.4
fi
# seeds, stopping, editing: the pictures show one variant on each side of the brain
around() { # OUT OPTIONS...
    out=$1
    shift
    glslines track --sh maps_sh.nii.gz --fa maps_fa.nii.gz --mask data/mask.nii.gz --dg prob --nseeds 300 "$@" -o "$out"
}
if wants seeds; then
    around every.trx --seed-sphere=-12,-8,12,3
    around up.trx --seed-sphere 12,-8,12,3 --seed-direction 0,0,1
    draw seeds every.trx up.trx --outline data/mask.nii.gz --views superior,posterior,left --tile 260x300 --radius 0.4
fi
if wants stopping; then
    around at-0.05.trx --seed-sphere=-14,-8,12,6 --fa-threshold 0.05
    around at-0.3.trx --seed-sphere 14,-8,12,6 --fa-threshold 0.3
    draw stopping at-0.05.trx at-0.3.trx --image maps_fa.nii.gz --views superior,posterior --planes=0,-8,12 --tile 390x400 --radius 0.3
fi
if wants editing; then
    around both.trx --seed-sphere=-12,-8,12,4
    glslines edit both.trx kept.trx --exclude 0,-8,14,6
    glslines edit both.trx dropped.trx --exclude 0,-8,14,6 --inverse
    draw editing kept.trx dropped.trx --outline data/mask.nii.gz --views superior,posterior,left --tile 260x300 --radius 0.4
fi
# recognition: bundles of one phantom, found in another one with other noise, by six models; an atlas of three such phantoms
if wants recognition || wants atlas; then
    {
        printf 'bundle\tstart\tend\tall\tall_fraction\n'
        for name in arcuate_left corpus_callosum_body corticospinal_right forceps_major forceps_minor inferior_fronto_occipital_left; do
            printf '%s\t%s_end0.nii.gz\t%s_end1.nii.gz\t%s.nii.gz\t0.9\n' $name $name $name $name
        done
    } > models.tsv
    models() { # FOLDER SEED: of a phantom with noise of its own
        mkdir "$1"
        glslines phantom "of-$1" --rng-seed "$2"
        glslines track "of-$1/dwi.nii.gz" "of-$1/dwi.bval" "of-$1/dwi.bvec" "of-$1/mask.nii.gz" "of-$1/roi.nii.gz" --dg prob --min-length 20 --nseeds 6000 -o "of-$1.trx"
        glslines segment "of-$1.trx" models.tsv --folder "of-$1/bundles" --each "$1/{}.trx"
    }
    models models 1
fi
if wants atlas; then
    models second 2
    models third 3
    glslines atlas models second third -o atlas.trx --reference data/mask.nii.gz --type rigid
    draw atlas atlas.trx --color groups --views superior,posterior,left --tile 260x300 --fit streamlines --radius 0.35
fi
if wants recognition; then
    glslines recognize tracks.trx models -o recognized.trx --threshold 3
    draw recognition recognized.trx --color groups --views superior,posterior,left --tile 260x300 --fit streamlines --radius 0.35 --max-streamlines 4000
fi
# density-maps: the map as an image
if wants density-maps; then
    glslines density tracks.trx density.nii.gz
    draw density-maps --image density.nii.gz --views slab --slab axial:4 --tile 195x230
fi
# models and pictures: ODFs where bundles cross; slices in three axes
wants models && draw models --odf maps_sh.nii.gz --image maps_fa.nii.gz --views coronal --planes=0,-4,0 --crop=-30,30,-6,-2,-10,40 --tile 480x420
wants slabs && draw slabs tracks.trx --image maps_fa.nii.gz --views slab --slab axial:4,coronal:4,sagittal:4 --tile 180x200
# regions: streamlines through one sphere, and of these those that also meet another
if wants regions; then
    glslines edit tracks.trx through.trx --include=0,-6,20,8
    draw regions through.trx --outline data/mask.nii.gz --views superior,posterior,left --tile 260x300 --radius 0.4
fi
# bundles: each with its colour and its number of streamlines
if wants bundles || wants values; then
    for region in data/bundles/*_end0.nii.gz; do
        name=$(basename "$region" _end0.nii.gz)
        printf '%s\t%s\t%s\n' "$name" "$region" "data/bundles/${name}_end1.nii.gz"
    done | sed '1i bundle\tstart\tend' > bundles.tsv
    glslines segment tracks.trx bundles.tsv -o bundles.trx
fi
wants bundles && draw bundles bundles.trx --color groups --outline data/mask.nii.gz --views superior,left --tile 390x420 --radius 0.4
if wants values; then
    glslines sample bundles.trx maps_fa.nii.gz --to-dpv fa --trx with_fa.trx
    draw values with_fa.trx --color dpv:fa --views superior,posterior,left --tile 260x300 --max-streamlines 1500 --radius 0.4
fi
if wants weights; then
    glslines weights tracks.trx maps_sh.nii.gz -o weights.txt
    glslines convert tracks.trx weighted.trx --weights weights.txt
    draw weights weighted.trx --color dps:weights --views superior,posterior,left --tile 260x300 --max-streamlines 2500 --radius 0.35
fi

# --- parts of reports, as a browser shows them ---
command -v chromium > /dev/null || exit 0
# part NAME REPORT STYLE SIZE: a picture of what the style leaves of the page
part() {
    sed "s|</head>|<style>header, section { display: none } body { margin: 0; padding: 0; max-width: none } $3</style></head>|" "$2" > part.html
    chromium --headless --no-sandbox --use-angle=swiftshader --enable-unsafe-swiftshader --hide-scrollbars --virtual-time-budget=20000 \
        --user-data-dir=profile --window-size="$4" --screenshot="$pictures/$1.png" "file://$PWD/part.html" 2> chromium.log
}
if wants report; then
    glslines report tracks.trx --image maps_fa.nii.gz --max-streamlines 3000 -o report.html
    part report report.html 'section.screen { display: block; padding: 0 .8rem } #stage canvas { height: 21rem }' 700,690
fi
if wants connectome || wants view-select; then
    python3 - << 'END'
import gzip, struct
raw = bytearray(gzip.open("data/mask.nii.gz").read())
dim, kind, start = struct.unpack("<3h", raw[42:48]), struct.unpack("<h", raw[70:72])[0], int(struct.unpack("<f", raw[108:112])[0])
assert kind == 2, kind
for i in range(dim[0] * dim[1] * dim[2]):
    x, y, z = i % dim[0], i // dim[0] % dim[1], i // (dim[0] * dim[1])
    if raw[start + i]:
        raw[start + i] = 1 + (x * 2 // dim[0]) * 15 + (y * 5 // dim[1]) * 3 + z * 3 // dim[2]
gzip.open("parcels.nii.gz", "wb").write(raw)
place = lambda k: ("right ", "left ")[k // 15] + ("back ", "rear ", "middle ", "fore ", "front ")[k // 3 % 5] + ("low", "mid", "top")[k % 3]
open("names.txt", "w").write("".join("%d %s 0 0 0\n" % (k + 1, place(k).replace(" ", "-")) for k in range(30)))
END
fi
if wants connectome; then
    glslines connectome tracks.trx parcels.nii.gz connectome.csv --lut names.txt
    glslines report connectome.csv --no-view
    part connectome connectome.html '[aria-labelledby=connectome] { display: block; padding: 0 .8rem } [aria-labelledby=connectome] > :not(figure) { display: none } section figure { display: inline-block; width: 46%; margin: .4rem 1%; vertical-align: middle } figcaption { display: none }' 900,430
fi

# --- the window ---
windows=
for name in view view-select view-paint view-review; do if wants $name; then windows="$windows $name"; fi; done
if wants view-review; then
    mkdir -p set/sub-01/figures set/sub-02/figures set/sub-03/figures
    glslines render tracks.trx --max-streamlines 2500 --tile 260x290 --views superior,posterior,left -o set/sub-01/figures/views.png
    glslines render --image maps_fa.nii.gz --views slab --slab axial:4 --tile 195x230 -o set/sub-02/figures/fa.png
    glslines render tracks.trx --views left -o set/sub-03/figures/left.png
fi
# shellcheck disable=SC2086
[ -z "$windows" ] || python3 "$reports/manual.py" "$program" "$pictures" $windows
