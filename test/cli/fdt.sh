#!/bin/sh
# Tests of the results of probtrackx2: fdt.sh TOOL WORK_DIR. Maps, numbers and matrices that are counted by hand, and counted again from the streamlines.
# Needs a device (a software renderer will do) and python3.
. "$(dirname "$0")/common.sh"

python3 "$here/bedpost.py" write || note "the scenes were not written"
track="track --device llvmpipe --seeds-per-voxel 200"
# shellcheck disable=SC2086
{
    # FSL's maps and numbers: the row of the mask is full, the rest is empty
    expect 0 $track --bedpostx row --roi seed.nii -o none --fdt-paths row_paths.nii --waytotal row_total --fdt-lengths mean.nii
    python3 "$here/bedpost.py" map row row_paths.nii row_total || note "the map of the row"
    python3 "$here/bedpost.py" map mean mean.nii row_total || note "the map of lengths"
    expect 0 $track --bedpostx row --roi seed.nii -o none --fdt-paths corrected.nii --distance-correction
    python3 "$here/bedpost.py" map corrected corrected.nii row_total || note "the map with the correction of distance"
    expect 0 $track --bedpostx row --roi seed.nii -o none --fdt-paths batch_paths.nii --chunk-size 37
    same row_paths.nii batch_paths.nii
    expect 0 $track --bedpostx still --roi seed.nii -o none --fdt-paths still_paths.nii --waytotal still_total
    python3 "$here/bedpost.py" map still still_paths.nii still_total || note "the map of single points"

    # FSL's matrices by hand, and counted again from the streamlines, with and without lengths
    # shellcheck disable=SC2317
    matrices() {
        mkdir "$1" && folder=$1 && shift
        expect 0 track --device llvmpipe --roi block.nii --seeds-per-voxel 20 --start-fibre any -o "$folder.tck" "$@" --output-seeds "$folder/seeds.txt" --fdt-network "labels.nii:$folder/fdt_network_matrix" \
            --waytotal "$folder/waytotal" --fdt-matrix1 "$folder/fdt_matrix1.dot" --fdt-matrix2 "four.nii:$folder/fdt_matrix2.dot" \
            --fdt-matrix3 "four.nii:$folder/fdt_matrix3.dot"
    }
    for fibres in row crossing; do
        for lengths in no yes; do
            [ "$lengths" = yes ] && more=--distance-correction || more=
            to=$fibres-$lengths
            matrices "$to" --bedpostx $fibres $more
            python3 "$here/bedpost.py" matrices "$to" "$to.tck" "$to/seeds.txt" "$lengths" || note "matrices of $to"
        done
    done
    matrices batches --bedpostx crossing --chunk-size 7
    for file in fdt_network_matrix waytotal fdt_matrix1.dot fdt_matrix2.dot fdt_matrix3.dot; do
        same crossing-no/$file batches/$file
    done
    mkdir hand
    expect 0 $track --bedpostx row --roi four.nii --seed-direction 1,0,0 -o none --fdt-matrix1 hand/fdt_matrix1.dot --distance-correction
    expect 0 $track --bedpostx row --roi seed.nii --seed-direction 1,0,0 -o none --fdt-matrix2 four.nii:hand/fdt_matrix2.dot \
        --fdt-matrix3 four.nii:hand/fdt_matrix3.dot --distance-correction
    # from x = 5 the faces of the regions at 8 and 18 lie 2.5 and 12.5 mm ahead
    expect 0 $track --bedpostx row --roi five.nii -o none --fdt-network labels.nii:hand/network --distance-correction
    [ "$(cat hand/network)" = "$(printf '0  500  2500\n0  0  0\n0  0  0')" ] || note "the network by hand"
    # seeds in all labels are accepted for a network
    expect 0 $track --bedpostx row --roi labels.nii --seeds-per-voxel 1 -o none --fdt-network labels.nii:hand/seeded
    ! grep -q "neither 0 nor 1" stderr || note "a warning of seeds in labels"
    python3 "$here/bedpost.py" four || note "matrices by hand"
    # seeds to targets, and matrix 3 whose columns have their own, coarser grid
    for lengths in no yes; do
        [ "$lengths" = yes ] && more=--distance-correction || more=
        expect 0 $track --bedpostx row --roi four.nii -o none --fdt-targets labels.nii:targets.nii $more --force
        python3 "$here/bedpost.py" targets targets.nii $lengths || note "seeds to targets, lengths: $lengths"
        expect 0 $track --bedpostx row --roi seed.nii -o none --seed-direction 1,0,0 --fdt-matrix3 four.nii:lr.dot --fdt-lrtarget3 coarse.nii $more --force
        python3 "$here/bedpost.py" columns lr.dot $lengths || note "columns of matrix 3, lengths: $lengths"
    done
    # results do not depend on batches; parts of a run add up
    expect 0 $track --bedpostx crossing --roi four.nii --start-fibre any -o none --fdt-targets labels.nii:targets.nii --fdt-paths paths.nii --force
    expect 0 $track --bedpostx crossing --roi four.nii --start-fibre any -o none --fdt-targets labels.nii:batch_targets.nii --chunk-size 37
    same targets.nii batch_targets.nii
    for i in 1 2; do expect 0 $track --bedpostx crossing --roi four.nii --start-fibre any -o part.trx --fdt-targets labels.nii:part_targets.nii --fdt-paths part_paths.nii --shard $i/2; done
    for map in targets paths; do
        expect 0 merge part_${map}_shard-*.nii -o whole_$map.nii
        same $map.nii whole_$map.nii
    done
    expect 0 $track --bedpostx row --roi four.nii --dry-run -o none --fdt-targets labels.nii:x.nii --fdt-matrix3 four.nii:x.dot --fdt-lrtarget3 coarse.nii
    expect 2 $track --bedpostx row --roi four.nii -o x.trx --fdt-targets labels.nii:x.nii --distance-correction --shard 1/2
    says "--fdt-targets: not with --shard"
    expect 2 $track --bedpostx row --roi seed.nii -o none --fdt-paths x.nii --fdt-lrtarget3 coarse.nii
    says "--fdt-lrtarget3: needs --fdt-matrix3"
    expect 2 $track --bedpostx row --roi seed.nii -o none --waytotal x --distance-correction
    says "--distance-correction: needs one of --fdt-network, --fdt-paths, --fdt-matrix1, --fdt-matrix2, --fdt-matrix3, --fdt-targets"
    expect 2 $track --bedpostx row --roi seed.nii -o none --fdt-matrix2 x.dot
    says "--fdt-matrix2: \"x.dot\": must be MASK:FILE"
    echo 12 3 3 >seeds.txt
    expect 2 track --device llvmpipe --bedpostx row --seeds seeds.txt -o none --fdt-matrix1 x.dot
    says "--fdt-matrix1: needs a seed mask"
    expect 3 $track --bedpostx row --roi seed.nii -o none --fdt-network four.nii:x.txt
    says "four.nii: has 1 label, but a network needs 2 to"
    for result in "--fdt-network mean.nii:x.txt" "--fdt-targets mean.nii:x.nii"; do
        expect 3 $track --bedpostx row --roi seed.nii -o none $result
        says "labels are whole numbers"
    done
    expect 2 $track --bedpostx row --roi seed.nii -o none --fdt-matrix1 x.dot --shard 1/2
    says "--fdt-matrix1: not with --shard"
    expect 2 $track --bedpostx row --roi seed.nii -o x.tck --fdt-paths x.nii --compress
    says "--fdt-paths: not with --compress"
    expect 2 $track --bedpostx row --roi seed.nii -o x.trx --fdt-paths x.nii --distance-correction --shard 1/2
    says "--fdt-paths: not with --shard"
    expect 2 $track --bedpostx row --roi seed.nii -o x.trx --waytotal x --shard 1/2
    says "--waytotal: not with --shard"
    expect 2 $track --bedpostx row --roi seed.nii -o x.trx --fdt-paths x.nii --select 10 --shard 1/2
    says "--fdt-paths: not with --select and --shard"
    # without --roi the fit makes the seed region
    expect 0 $track --bedpostx row --fa block.nii -o none --fdt-matrix1 made.dot
    test -s made.dot || note "matrix of a seed region that was made"
}
finish "fdt"
