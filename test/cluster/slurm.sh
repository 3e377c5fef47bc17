#!/bin/sh
# The Slurm job of the manual, run by Debian's Slurm on this machine: a controller, a node and their authentication in a folder of their own, without root, systemd
# or cgroups. Usage: sh test/cluster/slurm.sh GLSLINES WORK_FOLDER
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/test/cluster/common.sh"
PATH=$PATH:/usr/sbin:/sbin
for tool in munged slurmctld slurmd srun sbatch sinfo; do command -v $tool > /dev/null 2>&1 || fail "$tool is not installed"; done
prepare "$@"

state=$(mktemp -d /tmp/glslines_slurm.XXXXXX) || exit 1 # short: names of sockets may not be longer than 107 characters
daemons=
leave() {
    for id in $daemons; do kill "$id" 2> /dev/null; done
    for id in $daemons; do wait "$id" 2> /dev/null; done
    rm -rf "$state"
}
trap leave EXIT
trap 'exit 1' INT TERM

# start NAME COMMAND...: starts a daemon in the foreground of a job of this shell
start() {
    name=$1
    shift
    "$@" > "$state/$name.out" 2>&1 &
    daemons="$! $daemons"
}
show() { for file in "$state"/*.out "$work"/subject/slurm-*.out; do [ -s "$file" ] && echo "--- $file" && tail -n 20 "$file"; done >&2; }

host=$(hostname -s)
user=$(id -un)
port=$((20000 + $$ % 10000 * 2))
mkdir "$state/save" "$state/spool"
head -c 1024 /dev/urandom > "$state/key" && chmod 400 "$state/key"
cat > "$state/slurm.conf" << CONF
ClusterName=glslines
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$state/munge
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmctldPidFile=$state/slurmctld.pid
SlurmdPidFile=$state/slurmd.pid
StateSaveLocation=$state/save
SlurmdSpoolDir=$state/spool
SlurmctldLogFile=$state/slurmctld.log
SlurmdLogFile=$state/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1
NodeName=$host NodeAddr=127.0.0.1 CPUs=4
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF="$state/slurm.conf"
start munged munged --foreground --force --key-file="$state/key" --socket="$state/munge" --pid-file="$state/munge.pid" --seed-file="$state/seed"
tries=0
until [ -S "$state/munge" ]; do
    tries=$((tries + 1))
    [ $tries -lt 100 ] || { show; fail "munged does not answer"; }
    sleep 0.1
done
start slurmctld slurmctld -D
start slurmd slurmd -D
tries=0
until timeout 5 sinfo -h -o %T 2> /dev/null | grep -qx idle; do
    tries=$((tries + 1))
    [ $tries -lt 60 ] || { show; fail "Slurm does not come up: $(timeout 5 sinfo -h -o %T 2>&1)"; }
    sleep 0.5
done

# the job of the manual, with fewer tasks and seeds
manual_block "Slurm job" | sed "s/--nseeds [0-9]*/--nseeds $SEEDS/" > job.sh
grep -q "^srun .*--nseeds $SEEDS --shard auto" job.sh || fail "no Slurm job in the manual"
timeout -k 5 200 sbatch --wait --ntasks=3 job.sh > sbatch.out 2>&1 || { cat sbatch.out >&2; show; fail "the Slurm job"; }
ls tracks_shard-1of3.trx tracks_shard-2of3.json tracks_shard-3of3.trx > /dev/null || fail "not three shards"
same tracks.trx

# without a job script; a single task is a shard as well
timeout -k 5 200 srun -n 2 glslines track $input --nseeds $SEEDS --shard auto -o two.trx -q || { show; fail "srun -n 2"; }
glslines merge two_shard-*of2.trx -o two.trx -q && same two.trx
timeout -k 5 200 srun -n 1 glslines track $input --nseeds $SEEDS --shard auto -o one.trx -q && glslines merge one_shard-1of1.trx -o one.trx -q && cmp single.trx one.trx || fail "srun -n 1"

# Open MPI inside a job: its tasks also see Slurm's variables, those of the script
with=
if command -v mpirun > /dev/null 2>&1; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    printf '#!/bin/sh\nmpirun -n 3 glslines track %s --nseeds %s --shard auto -o mpi.trx && glslines merge mpi_shard-*of3.trx -o mpi.trx\n' "$input" $SEEDS > mpi.sh
    timeout -k 5 200 sbatch --wait --ntasks=3 mpi.sh > sbatch.out 2>&1 || { cat sbatch.out >&2; show; fail "mpirun in a Slurm job"; }
    same mpi.trx
    with=", and 3 of Open MPI in a job"
fi

# the script of a job is not one of its tasks
printf '#!/bin/sh\nglslines track %s --nseeds %s --shard auto -o wrong.trx\n' "$input" $SEEDS > wrong.sh
timeout -k 5 100 sbatch --wait --ntasks=3 -o wrong.out wrong.sh > /dev/null 2>&1 && fail "a job script that forgot srun succeeded"
grep -q 'start glslines with srun' wrong.out || { cat wrong.out >&2; fail "a job script that forgot srun is not told so"; }
echo "ok   Slurm: $(srun --version), 1, 2 and 3 tasks$with give the bytes of one run"
