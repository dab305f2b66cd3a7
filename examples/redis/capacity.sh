#!/bin/sh
# How many requests redis-server answers, and after how long, as they come faster: really, and as load amplification
# predicts it.
#
#   capacity.sh BUILD_FOLDER
#
# Both are measured in turns, and both add to what earlier calls left in BUILD_FOLDER/redis; remove that to begin
# anew.
# INTERVAL_US, SCRIPT or MEMBERS (requests.cpp), PAUSES, LEVELS, SECONDS_EACH, ROUNDS, PORT: variables with defaults,
# below. With PAUSES= paused threads sleep.
# Choose INTERVAL_US so that the server is busy for about a quarter of the time at load 0.
set -eu
build=$1
port=${PORT:-7701} interval=${INTERVAL_US:-2000} seconds=${SECONDS_EACH:-4}
script=${SCRIPT:-40000} members=${MEMBERS:-0} pauses=${PAUSES---busy-pauses}
levels=${LEVELS:-0 20 40 60 80}
folder=$build/redis/$interval-$script-$members$pauses
mkdir -p "$folder"

server=$(command -v redis-server) || {
  echo "redis-server is missing. On Debian: apt-get install redis-server" >&2
  exit 1
}
# Nothing is written to disk; the module shuts the server down.
set -- "$server" --port "$port" --bind 127.0.0.1 --save '' --loglevel warning \
  --loadmodule "$(realpath "$build/examples/redis_requests.so")" \
  "port=$port" "interval_us=$interval" "script=$script" "members=$members" "seconds=$seconds"

round=1
while [ "$round" -le "${ROUNDS:-2}" ]; do
  for load in $levels; do
    "$@" "load=$load" 2>/dev/null | sed -n "s/^came/$load &/p" | tee -a "$folder/real.txt"
    "$build/bin/coz" run -o "$folder/predicted.coz" --granularity function --fixed-speedup 0 $pauses \
      --arrival-speedup $((interval * 10 * load))ns --- "$@" >"$folder/last.txt" 2>&1 || {
      cat "$folder/last.txt" >&2
      exit 1
    }
  done
  round=$((round + 1))
done

# LOAD came RATE a second, answered RATE, p50 N us, p90 N us, p99 N us
echo "Really, medians of the runs, with lowest and highest:"
median() {
  awk -v load="$1" -v name="$2" '$1 == load { for (i = 1; i < NF; i++) if ($i == name) print $(i + 1) + 0 }' \
    "$folder/real.txt" | sort -n | awk '{ v[NR] = $1 } END { if (NR) printf "  %9.1f (%.0f to %.0f)",
      (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2, v[1], v[NR] }'
}
echo "load   answered a second         p50 us         p90 us         p99 us"
for load in $levels; do
  printf '%3d %%%s%s%s%s\n' "$load" "$(median "$load" answered)" "$(median "$load" p50)" \
    "$(median "$load" p90)" "$(median "$load" p99)"
done
exec "$build/bin/coz" report "$folder/predicted.coz"
