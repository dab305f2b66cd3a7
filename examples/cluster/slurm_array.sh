#!/bin/sh
#SBATCH --job-name=coz
#SBATCH --array=1-8
#SBATCH --exclusive
# sbatch slurm_array.sh PROGRAM ARGUMENTS: eight runs of the same program, each in a task of its own, for more
# precise effects. When all have ended: coz report profile.JOB.*
exec coz run -o "profile.%e{SLURM_ARRAY_JOB_ID}.%e{SLURM_ARRAY_TASK_ID}" --- "$@"
