#!/bin/sh
# Tests of permutation tests: permute.sh TOOL WORK_DIR. Needs python3.
. "$(dirname "$0")/common.sh"

python3 - << 'END'
import random
random.seed(5)
n, nodes = 12, 6
values = []
for s in range(n):
    m = [[0.0] * nodes for _ in range(nodes)]
    for i in range(nodes):
        for k in range(i, nodes):
            m[i][k] = m[k][i] = round(random.gauss(10, 2) + (9 if s % 2 and i < 2 and k < 3 else 0), 4)
    values.append(m)
    names = "abcdef"
    with open(f"s{s}.csv", "w") as f:
        f.writelines(",".join(str(v if k >= i else 0) for k, v in enumerate(row)) + "\n" for i, row in enumerate(m))
    with open(f"s{s}_relmat.tsv", "w") as f:
        f.write("\t" + "\t".join(names) + "\n")
        f.writelines(names[i] + "\t" + "\t".join(map(str, row)) + "\n" for i, row in enumerate(m))
    with open(f"v{s}.txt", "w") as f:
        f.writelines(f"{v}\n" for row in m for v in row)
for name, form in (("plain", "s%d.csv"), ("named", "s%d_relmat.tsv"), ("vectors", "v%d.txt")):
    with open(name + ".txt", "w") as f:
        f.write("# the subjects\n" + "".join(form % s + "\n" for s in range(n)))
open("design.txt", "w").writelines(f"1 {s % 2} {s}\n" for s in range(n))
open("twice.txt", "w").writelines(f"1 {s % 2} {s % 2}\n" for s in range(n))
open("contrast.txt", "w").write("0 1 0\n0 -1 0\n")
open("ftests.txt", "w").write("1 1\n")
open("both.txt", "w").write("0 1 0\n0 0 1\n")
shuffles = [random.sample(range(1, n + 1), n) for _ in range(30)]
open("shuffles.txt", "w").writelines(" ".join(str(s[i]) for s in shuffles) + "\n" for i in range(n))
open("wrong.txt", "w").writelines(" ".join(str(s[i] if i else 3) for s in shuffles) + "\n" for i in range(n))
END
expect 0 permute plain.txt design.txt contrast.txt -o a --enhance tfnbs --nshuffles 400
says "12 subjects, 21 edges, 2 hypotheses,"
for name in tvalue_t1 Zstat_t2 enhanced_t1 fwe_1mpvalue_t1 uncorrected_pvalue_t2 null_contributions_t1 beta_2 std_dev abs_effect_t1 std_effect_t2; do
    [ "$(wc -l < a_$name.csv)" -eq 6 ] || note "$name has not a row for each region"
done
[ "$(wc -l < a_null_dist_t1.txt)" -eq 400 ] || note "not a line for each shuffle"
expect 0 permute named.txt design.txt contrast.txt -o b --enhance tfnbs --nshuffles 400
for name in a_*.*; do
    [ "$name" = a_null_dist_t1.txt ] || [ "$name" != "${name#a_*.json}" ] || cmp "$name" "b${name#a}" || note "matrices with names: $name"
done
OMP_NUM_THREADS=1 "$tool" permute plain.txt design.txt contrast.txt -o one --enhance tfnbs --nshuffles 400 -q
cmp a_null_dist_t1.txt one_null_dist_t1.txt && cmp a_fwe_1mpvalue_t2.csv one_fwe_1mpvalue_t2.csv || note "one thread and several"
expect 0 permute plain.txt design.txt contrast.txt -o seed --enhance tfnbs --nshuffles 400 --rng-seed 1
cmp -s a_null_dist_t1.txt seed_null_dist_t1.txt && note "another seed gives the same shuffles"
expect 4 permute plain.txt design.txt contrast.txt -o a --nshuffles 400
expect 0 permute plain.txt design.txt both.txt -o f --ftests ftests.txt --fonly --strong --permutations shuffles.txt
[ -s f_Fvalue_F1.csv ] && [ -s f_null_dist.txt ] && [ ! -e f_tvalue_t1.csv ] || note "F-tests alone"
expect 0 permute vectors.txt design.txt contrast.txt -o v --type vector --notest
[ "$(wc -l < v_tvalue_t1.csv)" -eq 36 ] && [ ! -e v_fwe_1mpvalue_t1.csv ] || note "--notest"
expect 0 permute plain.txt design.txt contrast.txt -o n --enhance nbs --threshold 2 --nshuffles 10
says "shuffles differ: no p-value can be below 0.1"
for n in 1 20; do
    expect 0 permute plain.txt design.txt contrast.txt -o one$n --nshuffles $n
    says "2 hypotheses, 0 with a corrected p below 0.05"
done
[ -s a.json ] && contains a.json '"corrected_p_below_0.05"' || note "no sidecar"

# elements that are the same in all subjects, that another column explains, or that the model explains wholly
python3 - << 'END'
import random
random.seed(2)
with open("flat.txt", "w") as files:
    for s in range(12):
        files.write(f"flat{s}.txt\n")
        old = 1960 + 3 * s
        with open(f"flat{s}.txt", "w") as f:
            f.writelines(f"{v!r}\n" for v in (0.1, 1e6 / 3, 0, old / 7, 0.3 - old * 1.1, 2.5 * (s % 2) + 0.1 * old, random.gauss(0, 1), random.gauss(5, 1)))
open("years.txt", "w").writelines(f"1 {s % 2} {1960 + 3 * s}\n" for s in range(12))
END
for words in "contrast.txt" "both.txt" "both.txt --ftests ftests.txt --fonly"; do
    # shellcheck disable=SC2086
    expect 0 permute flat.txt years.txt $words -o flat --type vector --nshuffles 200
    python3 - "$words" << 'END' || note "noise as data: $words"
import glob, sys
def read(name):
    return [float(v) for v in open(name)]
for name in glob.glob("flat_*_t*.csv") + glob.glob("flat_*_F*.csv"):
    # t2 and F1 of both.txt ask for the year
    noise = [0, 1, 2] if "both" in sys.argv[1] and not name.endswith("t1.csv") else [0, 1, 2, 3, 4]
    what = name.split("_")[1]
    if what == "tvalue" and noise[-1] == 4:
        assert abs(read(name)[5]) > 1e8, (name, read(name))
    if what in ("tvalue", "Fvalue", "Zstat", "null"):
        assert all(read(name)[k] == 0 for k in noise), (name, read(name))
        assert read(name)[6] != 0 or read(name)[7] != 0, name
    if what == "null":
        assert sum(read(name)) == 200, name
assert read("flat_std_dev.csv")[:6] == [0] * 6 and all(read("flat_std_dev.csv")[6:]), read("flat_std_dev.csv")
END
    rm -f flat_* flat.json
done
printf 'constant0.txt\n%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 > constant.txt
echo 0.1 > constant0.txt
expect 0 permute constant.txt years.txt contrast.txt -o constant --type vector --nshuffles 50
[ "$(sort -u constant_null_dist_t1.txt)" = 0 ] && [ "$(cat constant_null_contributions_t1.csv)" = 0 ] || note "constants in the maximum"

# data are kept however small their differences are beside their mean; an effect without residuals has a huge t
python3 - << 'END'
import random
random.seed(3)
with open("near.txt", "w") as files:
    for s in range(12):
        files.write(f"near{s}.txt\n")
        near = 1e6 + random.gauss(2e-4 * (s % 2), 1e-4)
        with open(f"near{s}.txt", "w") as f:
            f.writelines(f"{v!r}\n" for v in (near, near - 1e6, s % 2, 5 - 2.1 * (s % 2), random.gauss(0, 1)))
open("group.txt", "w").writelines(f"1 {s % 2}\n" for s in range(12))
open("second.txt", "w").write("0 1\n")
open("three.txt", "w").write("1 0\n0 1\n1 1\n")
open("all_rows.txt", "w").write("1 1 1\n")
open("two_rows.txt", "w").write("1 1 0\n")
END
expect 0 permute near.txt group.txt second.txt -o near --type vector --nshuffles 2000
python3 - << 'END' || note "differences beside a large mean, or effects without residuals"
from statistics import mean, variance
def read(name):
    return [float(v) for v in open(name)]
data = [read(f"near{s}.txt")[1] for s in range(12)]
a, b = data[::2], data[1::2]
t = (mean(b) - mean(a)) / ((variance(a) + variance(b)) / 2 / 3) ** 0.5
found, p = read("near_tvalue_t1.csv"), read("near_fwe_1mpvalue_t1.csv")
assert t > 2 and abs(found[0] - t) < 1e-4 * t and abs(found[1] - t) < 1e-9 * t, (found, t)
assert 1e10 < found[2] < 1e20 and -1e20 < found[3] < -1e10 and abs(found[4]) < 10, found
assert p[2] > 0.99 and p[3] == 0, p
# one shuffle of 462 keeps the groups or exchanges them
assert 0 < sum(v > 20 for v in read("near_null_dist_t1.txt")) < 20, "effects without residuals in shuffles"
effect, deviation = read("near_std_effect_t1.csv"), read("near_std_dev.csv")
assert deviation[2] == deviation[3] == 0 and 1e10 < effect[2] < 1e20 and -1e20 < effect[3] < -1e10, (deviation, effect)
END
# a row that follows from the others is refused, also where they ask for all that the columns span
expect 0 permute near.txt group.txt three.txt -o rows --type vector --notest --ftests two_rows.txt --fonly
expect 3 permute near.txt group.txt three.txt -o e --type vector --notest --ftests all_rows.txt --fonly
says "follows from the others of its F-test"

# a signal ends a long test, which shows its progress
"$tool" permute plain.txt design.txt contrast.txt -o long --enhance tfnbs --nshuffles 1000000 --tfce-dh 0.001 --progress json > events 2>&1 &
i=0
while ! grep -q '"progress".*"test"' events && [ $i -lt 300 ]; do
    sleep 0.1
    i=$((i + 1))
done
kill -TERM $!
wait $!
[ $? -eq 143 ] || note "a signal while shuffles run"
grep -q '"progress".*"test"' events || note "no progress of shuffles"
find . -name 'long*' | grep . && note "files of a test that was interrupted"

# outputs are checked before subjects are read and shuffled
mv s3.csv away.csv
expect 4 permute plain.txt design.txt contrast.txt -o a
says "exists"
expect 4 permute plain.txt design.txt contrast.txt -o missing/a
expect 3 permute plain.txt design.txt contrast.txt -o e
mv away.csv s3.csv

expect 2 permute plain.txt design.txt contrast.txt
expect 2 permute plain.txt design.txt -o e
expect 2 permute plain.txt design.txt contrast.txt -o e --enhance nbs
expect 2 permute plain.txt design.txt contrast.txt -o e --threshold 2
expect 2 permute vectors.txt design.txt contrast.txt -o e --type vector --enhance tfnbs
expect 2 permute plain.txt design.txt contrast.txt -o e --fonly
for words in "--tfce-dh 0.2" "--tfce-e 1" "--enhance nbs --threshold 2 --tfce-h 2" "--enhance tfnbs --threshold 2" "--nshuffles 9 --notest" \
    "--rng-seed 0 --notest" "--permutations shuffles.txt --notest" "--strong --notest" "--nshuffles 5000 --permutations shuffles.txt" \
    "--rng-seed 0 --permutations shuffles.txt"; do
    # shellcheck disable=SC2086
    expect 2 permute plain.txt design.txt contrast.txt -o e $words
done
says "--rng-seed: has no effect with --permutations"
expect 3 permute plain.txt twice.txt contrast.txt -o e
says "rank-deficient"
echo "0 0 0" > zero.txt
expect 3 permute plain.txt design.txt zero.txt -o e
says "a row of the contrasts is zero"
expect 3 permute plain.txt design.txt contrast.txt -o e --ftests ftests.txt
says "follows from the others of its F-test"
for value in nan inf; do
    sed "2s/1 1 1/1 $value 1/" design.txt > bad.txt
    expect 3 permute plain.txt bad.txt contrast.txt -o e
    says "bad.txt: column 2 of row 2 is not finite"
    echo "0 $value 0" > bad.txt
    expect 3 permute plain.txt design.txt bad.txt -o e
    says "bad.txt: column 2 of row 1 is not finite"
done
echo "0 1" > narrow.txt
expect 3 permute plain.txt design.txt narrow.txt -o e
says "has 2 columns, but the design has 3"
head -n 11 design.txt > short.txt
expect 3 permute plain.txt short.txt contrast.txt -o e
says "has 11 rows, but plain.txt names 12 subjects"
expect 3 permute plain.txt design.txt contrast.txt -o e --permutations wrong.txt
says "has not each of 12 subjects once"
expect 3 permute plain.txt design.txt contrast.txt -o e --permutations design.txt
expect 3 permute vectors.txt design.txt contrast.txt -o e
says "has 36 rows and 1 columns, but a connectome is square"
cp s3.csv kept.csv
sed 's/^0,/7,/' kept.csv > s3.csv
expect 3 permute plain.txt design.txt contrast.txt -o e
says "has directions"
sed '1s/^[0-9.]*/nan/' kept.csv > s3.csv
expect 3 permute plain.txt design.txt contrast.txt -o e
says "not finite"
head -n 5 kept.csv | cut -d , -f 1-5 > s3.csv
expect 3 permute plain.txt design.txt contrast.txt -o e
says "unlike s0.csv"
rm s3.csv
expect 3 permute plain.txt design.txt contrast.txt -o e
: > empty.txt
expect 3 permute empty.txt design.txt contrast.txt -o e
head -n 4 plain.txt > few.txt
head -n 3 design.txt > three.txt
mv kept.csv s3.csv
expect 3 permute few.txt three.txt contrast.txt -o e
says "3 subjects are too few for a design of 3 columns"
finish "permutation tests"
