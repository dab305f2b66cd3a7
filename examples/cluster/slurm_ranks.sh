#!/bin/sh
#SBATCH --job-name=coz
#SBATCH --ntasks=2
# sbatch slurm_ranks.sh PROGRAM ARGUMENTS: a profile of each task, and a report of all of them.
# Send yourself a signal before the time limit (sbatch --signal=TERM@60) if the program ends at it. Even without,
# what was measured until some seconds before the end is kept.
srun coz run -o profile.%j.%r --- "$@"
status=$?
coz merge -o "job.$SLURM_JOB_ID.coz" profile."$SLURM_JOB_ID".* && coz report "job.$SLURM_JOB_ID.coz"
exit $status
