# Features on which pipelines rely: runs that are skipped, a plan as JSON, threads, TCK keys, sidecars. Sourced by run.sh.
files="$dwi $bval $bvec $mask $roi --fa-threshold 0.1 --max-angle 60 --min-length 0 --max-length 500 --sphere small --model opdt --dg prob --device llvmpipe"
succeeds track $files --nseeds 200 -o a.tck -q
cp out/a.tck whole.tck
# a run that was made before changes nothing
touch -d 2001-01-01 out/a.tck
succeeds track $files --nseeds 200 -o a.tck --skip-existing
grep -q 'nothing to do' stderr || note "a run that is skipped says so"
[ "$(date -r out/a.tck +%Y)" = 2001 ] || note "a run that is skipped has written"
other() { # WHAT, OPTIONS: outputs of another run are an error
    what=$1
    shift
    run track $files "$@" -o a.tck --skip-existing -q
    [ $code -eq 4 ] || note "exit code $code, not 4: outputs of another $what"
    grep -q "made with another $what" stderr || note "no word of another $what"
}
other nseeds --nseeds 201
other rng_seed --nseeds 200 --rng-seed 1
cp in/roi.nii.gz kept.nii.gz
python3 - "$roi" << 'PYTHON'
import gzip, sys
data = bytearray(gzip.open(sys.argv[1]).read())
data[-1] ^= 1
gzip.open(sys.argv[1], "wb").write(bytes(data))
PYTHON
other roi --nseeds 200
cp kept.nii.gz in/roi.nii.gz
# images of regions, and files that maps read, are inputs, too
python3 - in/mask.nii.gz region.nii.gz 1 << 'PYTHON'
import gzip, sys
data = bytearray(gzip.open(sys.argv[1]).read())
data[352:] = bytes(len(data) - 352)
data[-int(sys.argv[3])] = 1
gzip.open(sys.argv[2], "wb").write(bytes(data))
PYTHON
cp region.nii.gz labels.nii.gz
extra="--nseeds 200 --exclude $work/region.nii.gz --connectome $work/labels.nii.gz:c.csv"
succeeds track $files $extra -o r.tck -q
run track $files $extra -o r.tck --skip-existing -q
[ $code -eq 0 ] || note "exit code $code, not 0: a region and labels that did not change"
for image in region labels; do
    cp $image.nii.gz kept.nii.gz
    python3 -c 'import gzip, sys; d = bytearray(gzip.open(sys.argv[1]).read()); d[-9] = 1; gzip.open(sys.argv[1], "wb").write(bytes(d))' $image.nii.gz
    run track $files $extra -o r.tck --skip-existing -q
    [ $code -eq 4 ] || note "exit code $code, not 4: another image: $image"
    grep -q "made with another region, tissue image or file for a result such as --connectome" stderr || note "no word of another $image"
    cp kept.nii.gz $image.nii.gz
done
rm out/r.* out/c.csv
printf x >> out/a.tck
run track $files --nseeds 200 -o a.tck --skip-existing -q
[ $code -eq 4 ] || note "exit code $code, not 4: a tractogram that was changed"
rm out/a.json
run track $files --nseeds 200 -o a.tck --skip-existing -q
[ $code -eq 4 ] || note "exit code $code, not 4: a tractogram without its sidecar"
clean
succeeds track $files --nseeds 200 -o a.tck --skip-existing -q
require cmp out/a.tck whole.tck

# one thread gives the same bytes, and the renderer takes one
succeeds track $files --nseeds 200 -o b.tck --nthreads 1 -q
require cmp out/b.tck whole.tck
clean
fails 2 --nthreads track $files --nthreads 0
# the limits of --nthreads apply to the variable, too; stacks that are too small are refused, or enlarged
for n in 4097 100000; do
    export OMP_NUM_THREADS=$n
    fails 2 "OMP_NUM_THREADS=$n: must be 1 to 4096 threads" track $files --dry-run
done
succeeds track $files --dry-run --nthreads 2
unset OMP_NUM_THREADS
for name in OMP_STACKSIZE GOMP_STACKSIZE; do
    export $name=64k
    fails 2 "$name=64k: threads need 1024 kB or more" track $files --dry-run
    unset $name
done
before=$(ulimit -S -s)
ulimit -S -s 128
succeeds track $files --nseeds 200 -o b.tck --density b.nii.gz
ulimit -S -s "$before"
(ulimit -s 128 && "$tool" track $files --dry-run > "$work/stdout" 2> "$work/stderr")
[ $? -eq 2 ] && grep -q 'the limit on the stack is below 1024 kB: raise it with ulimit -s 8192' "$work/stderr" || note "ulimit -s 128"
clean

succeeds track $files --nseeds 200 --dry-run --json -q
require python3 - stdout << 'PYTHON'
import json, sys
d = json.load(open(sys.argv[1]))
assert d["seeds"] == 200 and d["parameters"]["dg"] == "prob" and d["output"]["path"] == "tracks.trx"
m = d["memory"]
assert m["request_mib"] % 50 == 0 and m["request_mib"] * 2**20 > m["host_bytes"] > 1e7 and m["device_memory_is_the_hosts"]
PYTHON
fails 2 "--json" track $files --json

# keys of TCK files have the meaning that they have in MRtrix3; those of shards add up
clean
succeeds track $files --nseeds 200 --min-length 10 -o c.tck -q
for part in 1 2; do succeeds track $files --nseeds 200 --min-length 10 -o "$work/s.tck" --shard $part/2 -q; done
succeeds merge "$work/s_shard-1of2.tck" "$work/s_shard-2of2.tck" -o m.tck -q
require cmp out/c.tck out/m.tck
require python3 - out/c.tck out/c.json << 'PYTHON'
import json, sys
head = open(sys.argv[1], "rb").read(2000).split(b"END")[0].decode().splitlines()
keys = dict(line.split(": ", 1) for line in head if ": " in line)
d = json.load(open(sys.argv[2]))
assert int(keys["count"]) == d["counts"]["streamlines"] < int(keys["total_count"]) == d["counts"]["directions"]
assert float(keys["min_dist"]) == 10 and float(keys["step_size"]) == d["parameters"]["step_size_mm"]
assert "threshold" not in keys and float(keys["stop_map_threshold"]) == 0.1 and keys["max_num_seeds"] == "200"
# a short run has no buffers for the 25,000 seeds of a batch
assert d["run"]["batch_seeds"] <= 1000, d["run"]
# the sidecar: which files were read, and by which option
assert d["parameters"]["write_method"] == "tck" and d["parameters"]["mask"] and d["parameters"]["roi"]
assert d["inputs"]["dwi"]["absolute_path"].startswith("/") and d["inputs"]["dwi"]["xxh3_64"]
assert d["software"]["libraries"]["zlib"]
PYTHON
