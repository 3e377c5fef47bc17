#!/bin/sh
# Tests of maps of density that the device counts: visits.sh TOOL WORK_DIR. A software renderer stands for the GPU; each
# map must have the bytes of the host's.
. "$(dirname "$0")/common.sh"
few="--device auto --mapping group --dg det --sphere small --force -vv"
seeds="--nseeds 80"
input="--phantom --model opdt"

# run NAME OPTIONS...: runs under $inject, and counts on $map
run() {
    name=$1
    shift
    # shellcheck disable=SC2086
    GLSLINES_FORCE_LIMITS=software=0 GLSLINES_INJECT=${inject:-} GLSLINES_IN_FLIGHT=${flight:-1} \
        GLSLINES_MAP=${map:-device} "$tool" track $input $few $seeds "$@" --density "$name.nii.gz" > stdout 2> stderr
    got=$?
    [ $got -eq "${code:-0}" ] || note "$*: exit code $got, not ${code:-0}"
}
# counted N: checks that at least N batches came with counts of the device; 0: none
counted() {
    n=$(grep -c 'were counted on the device' stderr)
    if [ "$1" -eq 0 ]; then
        [ "$n" -eq 0 ] || note "$n parcels were counted on the device"
    else
        [ "$n" -ge "$1" ] || note "$n parcels were counted on the device, not $1"
    fi
}

# whole N: checks that N batches had no room for the points of streamlines that are left to the host
whole() {
    n=$(grep -c 'all points are sent to the host' stderr)
    [ "$n" -eq "$1" ] || note "all points came of $n parcels, not $1"
}

expect 0 phantom data
python3 - << 'END'
import gzip, struct
image = bytearray(gzip.open("data/mask.nii.gz").read())
start, nx = int(struct.unpack_from("<f", image, 108)[0]), struct.unpack_from("<h", image, 42)[0]
assert image[70] == 2, "bytes are expected"
for i in range(start, len(image)):
    image[i] = image[i] and 1 + (i - start) % nx // 5
gzip.open("labels.nii.gz", "wb", 1).write(image)
# a map of another program, on a grid that is equal to rounding
image = bytearray(gzip.open("data/mask.nii.gz").read())
x = struct.unpack_from("<i", image, 292)[0]
struct.pack_into("<i", image, 292, x + 1)
gzip.open("nearly.nii.gz", "wb", 1).write(image)
END
map=host run host -o host.trx
counted 0
flight=0 run alone -o none --chunk-size 30
counted 3
same alone.nii.gz host.nii.gz
whole 0
# the ends are counted, too
map=host run hostjoined -o none --connectome labels.nii.gz:hostjoined.csv
run joined -o none --connectome labels.nii.gz:joined.csv --chunk-size 30
counted 3
same joined.nii.gz host.nii.gz
same joined.csv hostjoined.csv
# seeds on faces of voxels are left to the host: too many for the room, so that from then on all points come at once
awk 'BEGIN { for (x = 4; x < 36; x += 2) for (y = 6; y < 46; y += 2) print x + 0.5, y, 19 }' > faces.txt
seeds="--seeds faces.txt"
map=host run hostfaces -o none --connectome labels.nii.gz:hostfaces.csv
run faces -o none --connectome labels.nii.gz:faces.csv --chunk-size 200
seeds="--nseeds 80"
whole 1
counted 2
same faces.nii.gz hostfaces.nii.gz
same faces.csv hostfaces.csv
# only the host knows what becomes of the streamlines
map=host run hostfew -o none --select 40
run few -o none --chunk-size 30 --select 40
same few.nii.gz hostfew.nii.gz
# counts on another grid cannot be used
input="data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz data/roi.nii.gz --fa nearly.nii.gz --model opdt"
map=host run hostrounded -o none
run rounded -o none
same rounded.nii.gz hostrounded.nii.gz
input="--phantom --model opdt"
run thin -o none --chunk-size 60 --compress 0.1
counted 0
# parts of a run
for part in 1/2 2/2; do run part -o none --shard $part --chunk-size 40; done
expect 0 merge part_shard-*.nii.gz -o merged.nii.gz
same merged.nii.gz host.nii.gz
# a device that is lost, and one without memory for the counts
inject=reset:100 run lost -o none --chunk-size 15
same lost.nii.gz host.nii.gz
says "on a new context"
inject=readback:6 run smaller -o none --chunk-size 15
same smaller.nii.gz host.nii.gz
# batches of the journal were not counted on the device of this run
code=5 inject=dispatch:7 run broken -o broken.trx --chunk-size 20 --resume
run broken -o broken.trx --chunk-size 20 --resume
same broken.nii.gz host.nii.gz
same broken.trx host.trx
finish "maps that the device counts"
