#!/bin/sh
# How many requests redis-server answers as they come faster: really, and as load amplification predicts it.
#
#   capacity.sh BUILD_FOLDER
#
# Both are measured in turns, and both add to what earlier calls left in BUILD_FOLDER/redis; remove that to begin anew.
# INTERVAL_US, MEMBERS, LEVELS, SECONDS_EACH, ROUNDS, PORT: variables with defaults, below. Choose MEMBERS so that the
# server needs 1 ms or so for a request (redis-cli --latency is no measure of it: see what is answered at the highest
# load), and INTERVAL_US so that it is busy for about half of the time at load 0.
set -eu
build=$1
port=${PORT:-7701} interval=${INTERVAL_US:-2000} members=${MEMBERS:-12000} seconds=${SECONDS_EACH:-4}
levels=${LEVELS:-0 20 40 60 80}
folder=$build/redis
mkdir -p "$folder"

server=$(command -v redis-server) || {
  echo "redis-server is missing. On Debian: apt-get install redis-server" >&2
  exit 1
}
# Nothing is written to disk; the module shuts the server down.
set -- "$server" --port "$port" --bind 127.0.0.1 --save '' --loglevel warning \
  --loadmodule "$(realpath "$build/examples/redis_requests.so")" \
  "port=$port" "interval_us=$interval" "members=$members" "seconds=$seconds"

round=1
while [ "$round" -le "${ROUNDS:-2}" ]; do
  for load in $levels; do
    "$@" "load=$load" 2>/dev/null | sed -n "s/^came/$load &/p" | tee -a "$folder/real.txt"
    "$build/bin/coz" run -o "$folder/predicted.coz" --granularity function --fixed-speedup 0 \
      --arrival-speedup $((interval * 10 * load))ns --- "$@" >"$folder/last.txt" 2>&1 || {
      cat "$folder/last.txt" >&2
      exit 1
    }
  done
  round=$((round + 1))
done

echo "Really answered a second, lowest and highest of the runs, and their median:"
for load in $levels; do
  # LOAD came RATE a second, answered RATE
  awk -v load="$load" '$1 == load { print $NF }' "$folder/real.txt" | sort -n |
    awk -v load="$load" '{ v[NR] = $1 } END { if (NR) printf "%4d %%  %7.1f to %7.1f, %7.1f\n", load, v[1], v[NR],
      (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
done
exec "$build/bin/coz" report "$folder/predicted.coz"
