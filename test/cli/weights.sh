#!/bin/sh
# Tests of the commands fixels and weights: weights.sh TOOL WORK_DIR. Needs a device (a software renderer will do) and python3.
. "$(dirname "$0")/common.sh"

# check WHAT PYTHON: checks that an expression is true; w(FILE): its numbers
check() {
    python3 -c "
import json, struct, sys
def w(path): return [float(x) for l in open(path) if l[0] != '#' for x in l.replace(',', ' ').split()]
def once(pairs):
    assert len(pairs) == len(dict(pairs)), 'a key twice'
    return dict(pairs)
def j(path): return json.load(open(path), object_pairs_hook=once)
sys.exit(not ($2))" || note "$1"
}

expect 0 phantom data --shape 18 20 18 --directions 30 -q
set -- data/dwi.nii.gz data/dwi.bval data/dwi.bvec data/mask.nii.gz
expect 0 fit "$@" fod --model csd --sh-order 6 -q
expect 0 track "$@" data/roi.nii.gz --sh fod_sh.nii.gz --nseeds 400 --dg prob --step-size 1mm --device llvmpipe -q -o t.tck
sh=fod_sh.nii.gz
# regions: eighths of the mask
python3 - << 'END'
import gzip
raw = bytearray(gzip.open("data/mask.nii.gz").read())
assert raw[70] == 2 # bytes
for i in range(352, len(raw)):
    v = i - 352
    if raw[i]: raw[i] = 1 + (v % 18 >= 9) + 2 * (v // 18 % 20 >= 10) + 4 * (v // 360 >= 9)
open("labels.nii", "wb").write(raw)
END

# --- fixels ---
expect 0 fixels $sh fixels -q
for file in index directions fd peak; do [ -s fixels/$file.nii ] || note "no fixels/$file.nii"; done
check "counts of fixels" "j('fixels/fixels.json')['fixels'] > j('fixels/fixels.json')['voxels'] > 500"
expect 4 fixels $sh fixels
says "exists"
expect 6 fixels $sh none --fixel-peak 1000
says "no fixels"
expect 3 fixels data/dwi.nii.gz none
says "SH coefficients"
expect 2 fixels $sh
says "takes IN and OUT, got 1 argument"
grep -q "arguments" stderr && note "one argument is called arguments"
# this option changes which fixel a streamline belongs to, not the fixels
expect 2 fixels $sh none --no-dilate
expect 3 fixels $sh none --act data/mask.nii.gz

# --- weights: the same bytes on the CPU, by kernels, by chunks of devices ---
n=$(grep -a '^count:' t.tck | tr -dc 0-9 | sed 's/^0*//')
expect 0 weights t.tck $sh -o w.txt --csv it.csv --mu mu.txt --fixels densities -q
check "weights" "len(w('w.txt')) == $n and min(w('w.txt')) >= 0 and 0.2 < sum(w('w.txt')) / $n < 5"
check "the sidecar" "j('w.json')['model']['cost_last'] < j('w.json')['model']['cost_first'] and
    abs(j('w.json')['model']['mu'] / w('mu.txt')[0] - 1) < 1e-8 and
    len(open('it.csv').readlines()) == j('w.json')['model']['iterations'] + 2"
[ -s densities/td.nii ] || note "no densities"
expect 0 weights t.tck $sh -o w2.txt --device llvmpipe -q
same w.txt w2.txt
expect 0 weights t.tck $sh -o w3.txt --device llvmpipe --ngpus 2 --api gles -q
same w.txt w3.txt
expect 2 weights t.tck data/mask.nii.gz -o w4.txt --device llvmpipe,,llvmpipe
says "has an empty name"
expect 5 weights t.tck $sh -o w4.txt --device llvmpipe,nobody
OMP_NUM_THREADS=1 expect 0 weights t.tck $sh -o w4.txt --device cpu -q
same w.txt w4.txt
# as a column, of this file and of another format; TRX has no step in its header
expect 0 convert t.tck t.trx --reference data/mask.nii.gz -q
expect 0 weights t.trx $sh -o weighted.trx --coeffs -q --step-size 1
expect 0 info weighted.trx
says "sift2_weights: 1 x float32"
check "mu and options within the file" "(lambda d: d['parameters']['reg_tv'] == 0.1 and d['model']['mu'] > 0)(
    json.loads(__import__('zipfile').ZipFile('weighted.trx').read('dps/sift2_weights.json')))"
says "sift2_coefficients: 1 x float32"
expect 0 connectome t.tck labels.nii c1.csv --weights w.txt -q
expect 0 connectome weighted.trx labels.nii c2.csv --weights dps:sift2_weights -q
check "a connectome of a column" "max(abs(a - b) for a, b in zip(w('c1.csv'), w('c2.csv'))) < 1e-4 * max(w('c1.csv'))"
expect 2 weights t.tck $sh -o coeffs.txt --coeffs
says "coeffs.txt: a text file holds no --coeffs"
# bases and axes of the harmonics
expect 0 fit "$@" dipy --model csd --sh-order 6 --sh-basis descoteaux07 -q
expect 0 weights t.tck dipy_sh.nii.gz --sh-basis descoteaux07 -o w5.txt -q
check "another basis" "sum(abs(a - b) for a, b in zip(w('w.txt'), w('w5.txt'))) < 0.01 * sum(w('w.txt'))"
# units
expect 0 weights t.tck $sh -o area.txt --units area -q
check "an area" "abs(w('area.txt')[7] / w('w.txt')[7] / w('mu.txt')[0] / 8 - 1) < 1e-5"

# --- other methods ---
expect 6 weights t.tck $sh -o none.txt --fd-threshold 1000 -q
says "no streamline passes through a fixel above --fd-threshold: lower it"
expect 0 track "$@" data/roi.nii.gz --sh $sh --nseeds 400 --select 1 --dg det --device llvmpipe -q -o one.tck
expect 6 weights one.tck $sh -o none.txt -q
says "with --force the streamlines in these fixels get weights of 1"
expect 6 weights one.tck $sh -o none.tck --method sift -q
says "with --force the streamlines in these fixels are kept"
expect 0 weights one.tck $sh -o none.tck --method sift --force -q
expect 0 info none.tck
says "1 streamline"
expect 0 weights t.tck $sh -o linear.txt --method linear -q
check "linear weights" "len(w('linear.txt')) == $n"
# an option of another method is refused, also with its default
for given in "sift --reg-tv 0.1" "sift --reg-tv 0.2" "linear --min-factor 0.5" "sift --max-factor 2" "linear --unmapped 1" "sift --units factor"; do
    expect 2 weights t.tck $sh -o x.tck --method $given -q
    says "only --method sift2"
done
expect 2 weights t.tck $sh -o x.tck --term-ratio 0
says "--term-ratio: only --method sift can use it"
expect 0 weights t.tck $sh -o sift.tck --method sift --term-number 400 --selection sel.txt -q
check "a selection" "len(w('sel.txt')) == $n and sum(w('sel.txt')) == 400"
expect 0 info sift.tck
says "400 streamlines"
expect 0 weights t.tck $sh -o few.tck --method sift --term-number 10
says "ended before"

for given in "--ngpus 2" "--device-memory 100" "--ngpus 2 --method commit" "--device-memory 100 --method commit" "--api gl" "--api gles --method sift"; do
    expect 2 weights t.tck $sh -o x.txt --device cpu $given
    says "not with --device cpu"
done

# --- streamlines of fixels ---
expect 0 fixels $sh along -q
expect 0 fixels along along/n.nii --tracks t.tck -q
OMP_NUM_THREADS=1 expect 0 fixels along one_thread.nii --tracks t.tck -q
same along/n.nii one_thread.nii
check "streamlines of fixels" "(lambda b: 1000 < sum(struct.unpack('<%dI' % ((len(b) - 352) // 4), b[352:])) < 10**6)(open('along/n.nii', 'rb').read())"
expect 0 sample t.tck along/fd.nii --fixels --tsf fd.tsf -q
expect 0 sample t.tck along/fd.nii --fixels --to-dpv fd --trx fd.trx --reference $sh -q
expect 0 info fd.trx --count
says "fd"
for words in "" --all-fixels "--tracks-all t.tck"; do
    # shellcheck disable=SC2086
    expect 0 fixels $sh afd.txt --tracks t.tck --afd $words -q --force
    check "density along streamlines $words" "len(w('afd.txt')) == 1 and 0 < w('afd.txt')[0] < 1e6"
done
expect 3 fixels $sh x.nii --tracks t.tck
says "give a fixel directory"
expect 2 fixels along x.txt --tracks t.tck
expect 3 fixels along x.nii --tracks missing.tck
expect 2 fixels along x.nii --tracks t.tck --angle 0
expect 2 fixels along x.nii --tracks t.tck --all-fixels
expect 2 fixels along x.nii --tracks t.tck --act data/5tt.nii.gz
expect 2 fixels $sh x.txt --afd
says "--afd: needs --tracks"
expect 2 fixels $sh x.txt --tracks t.tck --afd --all-fixels --tracks-all t.tck
expect 3 sample t.tck data/mask.nii.gz --fixels --tsf x.tsf
says "give a fixel directory"
cp data/mask.nii.gz along/other.nii.gz
expect 3 sample t.tck along/other.nii.gz --fixels --tsf x.tsf
says "but the directory has"
expect 2 sample t.tck along/fd.nii --fixels
expect 2 sample t.tck along/fd.nii along/peak.nii --fixels --tsf x.tsf
expect 2 sample t.tck along/fd.nii --fixels --tsf x.tsf --by voxel
expect 4 fixels along along/fd.nii --tracks t.tck

# --- while tracking ---
expect 0 track "$@" data/roi.nii.gz --sh $sh --nseeds 400 --dg prob --step-size 1mm --device llvmpipe -q -o r.tck \
    --weights --connectome labels.nii:c3.csv
expect 0 weights r.tck $sh -o r.txt -q
same r.txt r_weights.txt
expect 0 connectome r.tck labels.nii c4.csv --weights r.txt -q
check "a weighted connectome" "max(abs(a - b) for a, b in zip(w('c3.csv'), w('c4.csv'))) < 1e-5 * max(w('c3.csv'))"
expect 0 track "$@" data/roi.nii.gz --model csd --nseeds 200 --dg det --device llvmpipe -q -o r.trx --weights
expect 0 info r.trx
says "sift2_weights"
check "the sidecar of track" "j('r.json')['weights']['counts']['streamlines'] > 100"
# by the signal: of any direction getter, the bytes of the command on the file
expect 0 track "$@" data/roi.nii.gz --nseeds 300 --dg eudx --device llvmpipe -q -o s.tck --weights commit --connectome labels.nii:s.csv
expect 0 weights s.tck data/dwi.nii.gz --method commit -o s.txt -q
same s.txt s_weights.txt
expect 0 connectome s.tck labels.nii s2.csv --weights s.txt -q
check "a connectome of weights by the signal" "max(abs(a - b) for a, b in zip(w('s.csv'), w('s2.csv'))) < 1e-5 * max(w('s.csv')) > 0"
expect 0 track "$@" data/roi.nii.gz --nseeds 300 --dg eudx --device llvmpipe,llvmpipe --chunk-size 50 -q -o s.trx --weights=commit
expect 0 weights s.trx data/dwi.nii.gz --method commit -o s3.txt -q
same s.txt s3.txt
expect 0 info s.trx
says "commit_weights"
# maps: the bytes of the command on the file, also without a tractogram
expect 0 track "$@" data/roi.nii.gz --nseeds 300 --dg eudx --device llvmpipe -q -o s4.tck --weights commit --weights-maps tracked --report s4.html
expect 0 weights s4.tck data/dwi.nii.gz --method commit -o s5.txt --maps apart --csv apart.csv -q
expect 0 track "$@" data/roi.nii.gz --nseeds 300 --dg eudx --device llvmpipe -q -o none --weights commit --weights-maps alone
for map in ic ec iso rmse nrmse; do
    same tracked_$map.nii.gz apart_$map.nii.gz
    same alone_$map.nii.gz apart_$map.nii.gz
done
check "the maps in the sidecar" "j('s4.json')['weights']['model']['curve'] == j('s5.json')['model']['curve'] and [
    o['file'] for k, o in j('s4.json')['outputs'].items() if k.startswith('weights_maps')] == ['tracked_%s.nii.gz' % k for k in ('ic', 'ec', 'iso', 'rmse', 'nrmse')]"
expect 0 track "$@" data/roi.nii.gz --nseeds 300 --dg eudx --device llvmpipe -o s4.tck --weights commit --weights-maps tracked --skip-existing
says "nothing to do"
grep -q '<section aria-labelledby="weights">' s4.html && grep -q 'Slices of the maps of error' s4.html || note "the report of track has no weights"
expect 2 track "$@" data/roi.nii.gz --nseeds 10 --weights --model csd -o no.trx --weights-maps x
says "--weights-maps: needs --weights commit"
expect 2 track "$@" data/roi.nii.gz --nseeds 10 -o no.trx --weights-maps x
says "--weights-maps: needs --weights commit"
check "the sidecar of weights by the signal" "j('s.json')['weights']['model']['objective'] > 0 and j('s.json')['parameters']['weights'] == 'commit'"
expect 2 track --sh $sh --mask data/mask.nii.gz --roi data/roi.nii.gz --dg ifod2 --nseeds 10 --device llvmpipe -o no.trx --weights commit
says "--weights commit: needs the series DWI"
expect 2 track --phantom --nseeds 10 -o no.trx --weights commit
says "--weights commit: not with --phantom"
expect 2 track "$@" data/roi.nii.gz --nseeds 10 -o no.trx --shard 1/2 --weights commit
says "--weights: not with --shard"
expect 2 track "$@" data/roi.nii.gz --nseeds 10 -o no.trx --weights=linear
says "known are: none, sift2, commit"
for words in "--weights none" "--weights commit"; do
    # shellcheck disable=SC2086
    expect 0 track "$@" data/roi.nii.gz --nseeds 1000000 --dg eudx --device llvmpipe $words --dry-run --json -q
    cp stdout "plan_${words#--weights }.json"
done
# some 3.3 entries of 12 bytes for each 2 mm of 80 mm
check "memory of weights by the signal" "1500 < j('plan_commit.json')['memory']['request_mib'] - j('plan_none.json')['memory']['request_mib'] < 2500"
# a result that fails while the FODs are segmented
head -c 2000 data/dwi.nii.gz > cut.nii.gz
expect 3 track "$@" data/roi.nii.gz --sh $sh --dg det --nseeds 10 --device llvmpipe -q -o no.trx --weights --sample cut.nii.gz:no.csv
says "cut.nii.gz"
[ ! -e no.trx ] || note "no.trx after a failure"
expect 2 track "$@" data/roi.nii.gz --model opdt --nseeds 10 --weights -o no.trx
says "needs fibre orientation distributions: give --model msmt or csd, or --sh FILE"

# --- bad input ---
expect 2 weights t.tck $sh
expect 2 weights t.tck $sh -o w.tck
expect 4 weights t.tck $sh -o w.txt
expect 2 weights t.tck $sh -o x.txt --max-coeff-step 0
expect 2 weights t.tck $sh -o x.txt --min-coeff -1 --min-factor 0.1
says "exclude each other"
expect 2 weights t.tck $sh -o x.txt --selection s.txt
expect 2 weights t.tck $sh -o x.txt --method sift --reg-tv 1
expect 2 weights t.tck $sh -o x.txt --fd-scale-gm
says "needs --act"
expect 2 weights t.tck $sh -o x.txt --method sift --term-number 99999999
expect 3 weights t.tck $sh -o x.txt --act $sh
says "must have 5"
expect 3 weights t.tck $sh -o x.txt --proc-mask nothing.nii
expect 5 weights t.tck $sh -o x.txt --device nonsense
expect 3 weights nothing.tck $sh -o x.txt
expect 3 weights t.tck data/dwi.nii.gz -o x.txt
python3 - << 'END'
import struct
head = b"mrtrix tracks\ndatatype: Float32LE\ncount: %d\nfile: . 100\nEND\n"
def write(name, points, n=1):
    body = b"".join(struct.pack("<3f", *p) for p in points)
    open(name, "wb").write((head % n).ljust(100, b"\n") + body + struct.pack("<3f", *[float("inf")] * 3))
nan = [float("nan")] * 3
write("far.tck", [(900, 900, 900), (901, 900, 900), nan])
write("none.tck", [], 0)
write("wild.tck", [(0, 0, 0), (float("inf"), 1, 0), nan])
END
expect 6 weights far.tck $sh -o x.txt
says "do not overlap: the points span 900 900 900 to 901 900 900 mm, the FODs "
expect 2 weights t.tck $sh -o x.txt --device-memory 0
for memory in "" "--device-memory 1"; do
    # shellcheck disable=SC2086
    expect 0 weights t.tck $sh -o memory.txt --device llvmpipe $memory --force
    grep -v '^#' memory.txt > "memory.${memory##* }"
done
same memory. memory.1
expect 6 weights none.tck $sh -o x.txt

# --- no fixel at all: a message and exit code 6, whatever the method ---
python3 - << 'END'
import gzip, struct
raw = gzip.open("fod_sh.nii.gz").read()
for name, value in (("zero", 0), ("nan", float("nan")), ("negative", -1)):
    open(name + ".nii", "wb").write(raw[:352] + struct.pack("<f", value) * ((len(raw) - 352) // 4))
n = len(open("labels.nii", "rb").read()) - 352
open("small.nii", "wb").write(raw[:352] + struct.pack("<f", 0.001) * n + bytes(len(raw) - 352 - 4 * n))
raw = bytearray(open("labels.nii", "rb").read())
raw[352:] = bytes(len(raw) - 352)
raw[352] = 1
open("corner.nii", "wb").write(raw)
END
for method in sift2 sift linear; do
    for fods in zero.nii nan.nii negative.nii "$sh --fixel-peak 1000" "$sh --fixel-integral 1e9"; do
        # shellcheck disable=SC2086
        expect 6 weights t.tck $fods -o none.trx --method $method
        says "no fixels: no FOD has a lobe"
    done
    expect 6 weights t.tck $sh --proc-mask corner.nii -o none.trx --method $method
    says "no fixels inside the mask"
done
expect 6 fixels zero.nii none
says "no fixels"
expect 6 track "$@" data/roi.nii.gz --sh small.nii --dg ifod2 --nseeds 10 --device llvmpipe -o none.trx --weights
says "no fixels"

# --- seeds that follow densities: the same bytes for any batch, device and interruption; what excludes what ---
dyn="track --sh $sh --mask data/mask.nii.gz --dg ifod2 --select 300 --device llvmpipe --dynamic-batch 100"
expect 0 $dyn --seed-dynamic auto -o dyn.tck -q
expect 0 $dyn --seed-dynamic $sh -o dyn_file.tck -q --chunk-size 37
expect 0 $dyn --seed-dynamic auto -o dyn_two.tck -q --ngpus 2 --chunk-size 20
expect 0 $dyn --seed-dynamic auto -o dyn_resumed.tck -q --resume
same dyn.tck dyn_file.tck
same dyn.tck dyn_two.tck
same dyn.tck dyn_resumed.tck
check "rounds of seeds" "j('dyn.json')['dynamic_seeds']['rounds'] > 4 and j('dyn.json')['counts']['streamlines'] == 300 and
    j('dyn.json')['dynamic_seeds']['streamlines_in_grid'] == 300 and j('dyn.json')['parameters']['dynamic_batch'] == 100"
expect 0 $dyn --seed-dynamic auto -o dyn_random.tck -q --dynamic-direction random
cmp -s dyn.tck dyn_random.tck && note "the direction of a dynamic seed has no effect"
for dg in fact prob; do
    expect 0 track "$@" --sh $sh --dg $dg --select 50 --device llvmpipe -o "dyn_$dg.tck" -q --seed-dynamic $sh
done
expect 0 $dyn --seed-dynamic auto -o dyn_act.tck -q --act data/5tt.nii.gz
expect 2 $dyn --seed-dynamic auto -o x.tck --roi data/roi.nii.gz
says "exclude each other"
expect 2 $dyn --seed-dynamic auto -o x.tck --shard 1/2 --nseeds 1000
says "shard and --seed-dynamic exclude"
expect 2 $dyn --seed-dynamic auto -o x.tck --seed-direction 1,0,0
says "exclude each other"
expect 2 $dyn --seed-dynamic auto -o x.tck --seed-sphere 0,0,0,5
says "exclude each other"
expect 2 track --sh $sh --mask data/mask.nii.gz --dg ifod2 --seed-dynamic auto -o x.tck
says "needs --select"
expect 2 track --peaks data/peaks.nii.gz --select 10 --seed-dynamic auto -o x.tck
says "needs fibre orientation distributions"
for option in "--dynamic-batch 100" "--dynamic-direction random"; do
    # shellcheck disable=SC2086
    expect 2 track --sh $sh --mask data/mask.nii.gz --nseeds 5 $option -o x.tck
    says "needs --seed-dynamic"
done
# the plan of memory has the seeds of a round, 24 bytes each, and the fixels
for batch in 64 16777216; do
    # shellcheck disable=SC2086
    expect 0 $dyn --seed-dynamic auto --dynamic-batch $batch --dry-run --json -q
    cp stdout plan_$batch.json
done
check "memory of dynamic seeds" "350 < j('plan_16777216.json')['memory']['request_mib'] - j('plan_64.json')['memory']['request_mib'] < 550"
expect 2 $dyn --seed-dynamic auto --dynamic-batch 16777216 --memory-limit 400 -o x.tck
says "for dynamic seeds 40"
# the basis is that of the FODs of --seed-dynamic, where peaks are tracked: one that is wrong gives other seeds
expect 0 peaks $sh -o own_peaks.nii.gz -q
for basis in tournier07 descoteaux07; do
    expect 0 track --peaks own_peaks.nii.gz --mask data/mask.nii.gz --select 50 --device llvmpipe --seed-dynamic $sh --sh-basis $basis -o basis_$basis.tck -q
done
cmp -s basis_tournier07.tck basis_descoteaux07.tck && note "--sh-basis has no effect on --seed-dynamic"
expect 6 track "$@" --dg fact --model csd --select 10 --device llvmpipe --seed-dynamic zero.nii -o x.tck
says "no fixels"
expect 3 $dyn --seed-dynamic data/mask.nii.gz -o x.tck

# --- a warning comes once, though a file without step_size is read twice, and once more for its copy ---
python3 - << 'END'
data = open("t.tck", "rb").read()
end = data.index(b"END")
head = b"\n".join(b"count: 9999999999" if l.startswith(b"count") else l for l in data[:end].split(b"\n") if b"step_size" not in l)
start = int(data[:end].split(b"file: . ")[1].split()[0])
open("count.tck", "wb").write((head + b"END\n").ljust(start, b"\n")[:start] + data[start:])
END
expect 0 weights count.tck $sh -o count.trx
[ "$(grep -c "but its header says 9999999999" stderr)" = 1 ] || note "warnings of a file that is read three times"

# --- a cost that rises: the best iteration, in words and code; the same on a device ---
expect 8 weights t.tck $sh -o rose.txt --reg-tv 5 --min-iters 20
says "did not converge"
says "the cost rose in three iterations"
best=$(python3 -c "import json; print(json.load(open('rose.json'))['model']['iterations'])")
check "the best iteration" "j('rose.json')['model']['diverged'] and 0 < $best < 20"
expect 0 weights t.tck $sh -o best.txt --reg-tv 5 --min-iters 20 --max-iters "$best" -q
same rose.txt best.txt
expect 8 weights t.tck $sh -o rose2.txt --reg-tv 5 --min-iters 20 --csv rose2.csv --device llvmpipe
same rose.txt rose2.txt
[ "$(wc -l < rose2.csv)" = $((best + 2)) ] || note "iterations of a cost that rises"

# --- the column within the file itself ---
cp t.trx own.trx
expect 0 weights own.trx $sh --in-place --step-size 1 -q
expect 0 convert own.trx own.tck -q
expect 0 convert t.trx own2.tck -q
same own.tck own2.tck
expect 0 connectome own.trx labels.nii c7.csv --weights dps:sift2_weights -q
expect 0 connectome weighted.trx labels.nii c8.csv --weights dps:sift2_weights -q
same c7.csv c8.csv
[ -s own_weights.json ] || note "no own_weights.json"
expect 4 weights own.trx $sh --in-place --step-size 1
expect 0 weights own.trx $sh --in-place --step-size 1 --force -q
expect 2 weights t.tck $sh --in-place
expect 2 weights own.trx $sh --in-place -o own3.trx
expect 2 weights own.trx $sh --in-place --method sift
# data of groups are kept, and a message names what another format cannot hold
python3 - << 'END'
import struct, zipfile
with zipfile.ZipFile("own.trx", "a") as archive:
    archive.writestr("groups/some.uint32", struct.pack("<2I", 0, 1))
    archive.writestr("dpg/some/mean.float32", struct.pack("<f", 2.5))
END
expect 0 weights own.trx $sh -o own.trk --step-size 1
says "does not hold dpg some/mean"
expect 0 weights own.trx $sh --in-place --step-size 1 --force -q
python3 -c "
import struct, sys, zipfile
sys.exit(zipfile.ZipFile('own.trx').read('dpg/some/mean.float32') != struct.pack('<f', 2.5))" || note "data of a group after --in-place"

# --- units of a column ---
expect 0 weights t.tck $sh -o area.trx --units area -q
expect 0 connectome area.trx labels.nii c5.csv --weights dps:sift2_weights -q
expect 0 connectome t.tck labels.nii c6.csv --weights area.txt -q
check "areas in a column" "max(abs(x - y) for x, y in zip(w('c5.csv'), w('c6.csv'))) < 1e-4 * max(w('c6.csv'))"
expect 2 weights t.tck $sh -o x.tck --method sift --units area
says "--units: only --method sift2, linear and commit can use it"

# --- a directory of fixels appears whole or not at all, and replaces no input; so do weights in place ---
cp $sh own_sh.nii.gz
mkdir full
ln own_sh.nii.gz full/index.nii
expect 4 fixels own_sh.nii.gz full --force -q
says "is an input"
expect 4 weights t.tck own_sh.nii.gz -o n.txt --fixels full --force -q
says "is an input"
rm full/index.nii
mkdir full/index.nii
expect 4 fixels own_sh.nii.gz full --force -q
expect 4 weights t.tck own_sh.nii.gz -o n.txt --fixels full --force -q
ln -sf own_sh.nii.gz own_weights.json
expect 4 weights own.trx own_sh.nii.gz --in-place --step-size 1 --force -q
says "is an input"
rm own_weights.json

# --- an upload that fails: the same weights, or an error and no file ---
for n in 4 5 6; do
    rm -f inject.txt inject.json
    GLSLINES_INJECT=upload:$n "$tool" weights t.tck $sh -o inject.txt --device llvmpipe -q > stdout 2> stderr
    code=$?
    checks=$((checks + 1))
    if [ $code -eq 0 ]; then same inject.txt w2.txt; else [ $code -eq 5 ] && [ ! -e inject.txt ] || note "upload $n: exit code $code"; fi
done

# --- the tractogram is not lost if no weights can be computed ---
for suffix in trx tck; do
    expect 0 track "$@" data/roi.nii.gz --sh $sh --nseeds 40 --select 1 --dg det --device llvmpipe -q -o few1.$suffix --sidecar none --weights
    says "each streamline gets 1"
    expect 0 track "$@" data/roi.nii.gz --sh $sh --nseeds 4 --min-length 299 --max-length 300 --device llvmpipe --dg det -q -o none1.$suffix --sidecar none --weights
    [ -s none1.$suffix ] || note "no tractogram without streamlines"
done
contains few1_weights.txt 1

finish "fixels and weights"
