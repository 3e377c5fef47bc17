#!/bin/sh
# Tests of tracking along samples of bedpostX: bedpost.sh TOOL WORK_DIR. Scenes whose streamlines are counted by hand; each fault of a folder; batches, shards, resumption.
# Needs a device (a software renderer will do) and python3.
. "$(dirname "$0")/common.sh"

python3 "$here/bedpost.py" write || note "the scenes were not written"
track="track --device llvmpipe --seeds-per-voxel 200"
# counted SCENE SEED NAME OPTIONS...
counted() {
    from=$1 seed=$2 name=$3
    shift 3
    # shellcheck disable=SC2086
    expect 0 $track --bedpostx "$from" --roi "$seed" -o "$name.tck" "$@"
    python3 "$here/bedpost.py" check "$name" "$name.tck" || note "$name: other streamlines"
}
# shellcheck disable=SC2086
{
    counted row seed.nii row
    says "bedpost (goes with --bedpostx)"
    says "5 samples of 1 fibre"
    counted still seed.nii still
    counted long middle.nii long --max-length 1000
    counted long middle.nii cut
    counted oblique1 seed.nii oblique1
    counted oblique-1 seed-1.nii oblique-1
    counted crossing seed.nii crossing
    counted crossing seed.nii any --start-fibre any
    # the fraction of the second fibre is below the threshold of 0.01
    counted weak seed.nii weak
    counted row seed.nii ball --seed-radius 0.4

    # the same bytes whatever the batches and shards, and from images of several textures
    expect 0 $track --bedpostx crossing --roi seed.nii --start-fibre any -o whole.tck
    same any.tck whole.tck
    expect 0 $track --bedpostx crossing --roi seed.nii --start-fibre any -o whole.trx
    expect 0 $track --bedpostx crossing --roi seed.nii --start-fibre any --chunk-size 37 -o chunks.tck
    same any.tck chunks.tck
    for i in 1 2 3; do expect 0 $track --bedpostx crossing --roi seed.nii --start-fibre any --shard $i/3 -o part.trx; done
    expect 0 merge part_shard-*.trx -o merged.trx
    expect 0 convert merged.trx merged.tck
    expect 0 convert whole.trx again.tck
    same merged.tck again.tck
    expect 0 $track --bedpostx crossing --roi seed.nii --start-fibre any -o whole.trx --skip-existing
    says "nothing to do"
    # other files in the folder do no harm: links to nothing and to the folder, pipes, files without permission
    cp -r crossing odd
    mkdir odd/logs
    ln -s nowhere odd/logs/dangling
    ln -s .. odd/logs/up
    mkfifo odd/pipe odd/logs/pipe
    expect 0 $track --bedpostx odd --roi seed.nii --start-fibre any -o odd.tck
    same any.tck odd.tck
    expect 0 $track --bedpostx odd --roi seed.nii --start-fibre any -o odd.tck --skip-existing
    says "nothing to do"
    # another folder with other contents is another input, whatever its name
    cp -r crossing other
    expect 0 $track --bedpostx other --roi seed.nii --start-fibre any -o whole.trx --skip-existing
    says "nothing to do"
    cp weak/* other
    expect 4 $track --bedpostx other --roi seed.nii --start-fibre any -o whole.trx --skip-existing
    says "made with another bedpostx"
    cp crossing/* other
    expect 4 $track --bedpostx other --roi x18.nii --start-fibre any -o whole.trx --skip-existing
    says "made with another roi"
    expect 0 $track --bedpostx crossing --roi seed.nii --select 20 --resume -o some.tck
    expect 0 $track --bedpostx many --roi seed.nii --dry-run
    says "samples     many, 50 of 1 fibre(s)"
    expect 0 $track --bedpostx row --roi seed.nii --precision float -o float.tck
    same row.tck float.tck
    expect 0 $track --bedpostx row --roi seed.nii --include x18.nii --include x5.nii -o include.tck
    same row.tck include.tck
    # probtrackx2's rule of halves
    counted row seed.nii avoid --region-rule halves --exclude x18.nii
    counted row seed.nii waypoint --region-rule halves --include x18.nii
    for rule in halves halves-any; do
        expect 0 $track --bedpostx row --roi seed.nii --region-rule $rule --include x18.nii --include x5.nii -o $rule.tck
        same row.tck $rule.tck
    done
    expect 0 $track --bedpostx row --roi seed.nii --region-rule halves-any --include x18.nii --include far.nii -o way_any.tck
    same waypoint.tck way_any.tck
    # a half that meets the second waypoint first is rejected, if it is the first half
    expect 0 $track --bedpostx row --roi seed.nii --region-rule halves-ordered --include x18.nii --include x5.nii -o ordered.tck
    python3 "$here/bedpost.py" check waypoint ordered.tck || note "waypoints in order"
    same waypoint.tck ordered.tck
    expect 0 $track --bedpostx row --roi seed.nii --region-rule halves-ordered --include x5.nii --include x18.nii -o other_order.tck
    python3 "$here/bedpost.py" check backward other_order.tck || note "waypoints in the other order"
    expect 0 $track --bedpostx row --roi seed.nii --region-rule halves --include x18.nii --include far.nii -o nothing.tck
    says "streamlines  0"
    expect 2 $track --bedpostx row --roi seed.nii --region-rule halves --include x18.nii --stop -o y.tck
    says "--region-rule: must be streamline with --stop"
    # each half needs all waypoints by itself; the first half, which met some of them, waits for the second
    expect 0 $track --bedpostx row --roi seed.nii --region-rule halves-one-way --include x18.nii -o one_way.tck
    python3 "$here/bedpost.py" check one_way one_way.tck || note "waypoints one way"
    expect 0 $track --bedpostx row --roi seed.nii --region-rule halves-one-way --include x18.nii --include x5.nii -o nothing.tck --force
    says "streamlines  0"
    # halves end where they leave a region, but not the one of the seed: 1.5 to 18, and 4.5 to 18
    counted row seed.nii leaving --stop-leaving x18.nii
    counted row seed.nii leaving2 --stop-leaving x18.nii --stop-leaving x5.nii
    for more in "labels.nii:7,9" "x18.nii --stop-leaving labels.nii:7 --exclude 20,3,3,0.6"; do
        expect 0 $track --bedpostx row --roi seed.nii --stop-leaving $more -o same.tck --force
        same leaving.tck same.tck
    done
    expect 0 $track --bedpostx row --roi seed.nii --stop-leaving labels.nii:7 -o same.tck --force
    same row.tck same.tck
    # the point that is left out still counts for an avoid mask, but not for a waypoint
    for more in "--exclude 19,3,3,0.6" "--include 19,3,3,0.6"; do
        expect 0 $track --bedpostx row --roi seed.nii --stop-leaving x18.nii $more -o nothing.tck --force
        says "streamlines  0"
    done
    expect 2 $track --bedpostx row --roi seed.nii --act seed.nii --region-rule halves -o y.tck
    says "--region-rule: must be streamline with tissue"
    if grep -q "seeds" stdout stderr; then note "--region-rule is refused behind the line about seeds"; fi
    # the loop check leaves out the part behind the loop, and nothing else
    for sign in 1 -1; do
        expect 0 track --device llvmpipe --seeds-per-voxel 1000 --bedpostx turn$sign --roi low$sign.nii -o turn.tck --output-seeds turn.txt --force
        expect 0 track --device llvmpipe --seeds-per-voxel 1000 --bedpostx turn$sign --roi low$sign.nii -o checked.tck --loop-check --force
        python3 "$here/bedpost.py" loops turn.tck turn.txt checked.tck $sign || note "loops of the scene turn$sign"
    done
    expect 2 $track --peaks seed.nii --roi seed.nii --loop-check -o y.tck
    says "--loop-check: only --dg bedpost can use it"
    expect 2 $track --bedpostx row --roi seed.nii --act seed.nii --backtrack --loop-check -o y.tck
    says "--backtrack: cannot be used with --loop-check"
    # fractions end halves: none if they are 1; at the seed the fraction of the first fibre counts, whichever fibre starts
    counted even seed.nii even --stop-by-fraction
    counted even seed.nii even_chunks --stop-by-fraction --chunk-size 37
    same even.tck even_chunks.tck
    counted second seed.nii second --stop-by-fraction --start-fibre any
    expect 0 $track --bedpostx row --roi seed.nii --stop-by-fraction -o fraction.tck
    same row.tck fraction.tck
    expect 2 $track --peaks seed.nii --roi seed.nii --stop-by-fraction -o y.tck
    says "--stop-by-fraction: only --dg bedpost can use it"
    expect 0 cite row.tck
    says "Behrens"

    # faults of the folder
    expect 3 $track --bedpostx nowhere --roi seed.nii -o x.tck
    says "nowhere: cannot be read"
    mkdir empty
    expect 3 $track --bedpostx empty --roi seed.nii -o x.tck
    says "empty: has no merged_th1samples.nii.gz"
    cp -r crossing faulty && rm faulty/merged_ph2samples.nii
    expect 3 $track --bedpostx faulty --roi seed.nii -o x.tck
    says "faulty/merged_ph2samples.nii.gz: is missing"
    cp crossing/merged_ph2samples.nii faulty && rm faulty/merged_th2samples.nii
    expect 3 $track --bedpostx faulty --roi seed.nii -o x.tck
    says "faulty: has merged_th3samples, but no merged_th2samples"
    cp many/merged_th1samples.nii faulty/merged_th2samples.nii
    expect 3 $track --bedpostx faulty --roi seed.nii -o x.tck
    says "faulty/merged_th2samples.nii: has 50 samples, but faulty/merged_th1samples.nii has 5"
    cp oblique-1/merged_th1samples.nii faulty/merged_th2samples.nii
    expect 3 $track --bedpostx faulty --roi seed.nii -o x.tck
    says "faulty/merged_th2samples.nii"
    expect 3 $track --bedpostx gap --roi seed.nii -o x.tck
    says "gap/merged_ph1samples.nii: sample 1 (from 1) of voxel 12 3 3 (from 0), inside the mask, is nan: must be a finite angle in radians"
    expect 3 $track --bedpostx large --roi seed.nii -o x.tck
    says "large/merged_f1samples.nii: sample 1 (from 1) of voxel 12 3 3 (from 0), inside the mask, is 1.5: must be a fraction, 0 to 1"
    expect 3 $track --bedpostx none --roi seed.nii -o x.tck
    says "none/merged_f1samples.nii: has no fraction of a fibre: all values are 0 or not finite"
    expect 3 $track --bedpostx row/merged_f1samples.nii --roi seed.nii -o x.tck
    says "row/merged_f1samples.nii: is a file, not a folder"
    expect 0 $track --bedpostx degrees --roi seed.nii -o degrees.tck -q
    says "degrees/merged_th1samples.nii: may hold degrees"
    python3 - faulty/nodif_brain_mask.nii << 'END'
import sys
data = open(sys.argv[1], "rb").read()
open(sys.argv[1], "wb").write(data[:352] + bytes(len(data) - 352))
END
    expect 3 $track --bedpostx faulty --roi seed.nii -o x.tck
    says "faulty/nodif_brain_mask.nii: the mask is empty"
    python3 - row/nodif_brain_mask.nii apart.nii << 'END'
import sys
data = open(sys.argv[1], "rb").read()
values = data[352:]
open(sys.argv[2], "wb").write(data[:352] + b"".join(b"\0" * 4 if any(values[i:i + 4]) else b"\0\0\x80?" for i in range(0, len(values), 4)))
END
    expect 3 $track --bedpostx row --roi apart.nii -o x.tck
    says "apart.nii: no voxel of this seed mask lies in the mask (row): give masks that overlap"
    rm crossing/nodif_brain_mask.nii
    expect 3 $track --bedpostx crossing --roi seed.nii -o x.tck
    says "crossing: has no nodif_brain_mask.nii.gz: give the file of a mask (--mask FILE)"
    expect 0 $track --bedpostx crossing --mask row/nodif_brain_mask.nii --roi seed.nii --start-fibre any -o masked.tck
    same any.tck masked.tck
    expect 2 $track --bedpostx row --roi seed.nii --dg fact -o x.tck
    says "--dg fact: cannot use --bedpostx: take --dg bedpost"
    expect 2 $track --peaks seed.nii --roi seed.nii --start-fibre any -o x.tck
    says "--start-fibre: only --dg bedpost can use it"
    expect 2 $track --bedpostx row -o x.tck
    says "--bedpostx: needs seeds"
}
finish "bedpost"
