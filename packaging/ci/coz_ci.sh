#!/bin/sh
# coz_ci.sh profile THRESHOLD -- PROGRAM [ARGUMENTS]: profiles a program, and fails where a threshold is exceeded.
# coz_ci.sh compare CONDITION -- A [ARGUMENTS] --- vs B [ARGUMENTS]: compares two builds, and fails on a condition.
#
# THRESHOLD is one of coz report --fail-if, CONDITION one of coz compare --gate; empty: only report. Writes
# coz-report.md, for profile also coz-report.sarif and profile.coz, into COZ_CI_OUTPUT (default: the current folder).
# On GitHub the Markdown also goes to the job's summary. COZ_CI_OPTIONS has more options for coz run or coz compare,
# separated by spaces. Status: 0; 1 if the threshold is exceeded; 3 if the program or coz run failed, after a report
# of what was measured; else that of what went wrong.
set -eu
mode=$1 condition=$2
shift 3
out=${COZ_CI_OUTPUT:-.}
coz=${COZ:-coz}
mkdir -p "$out"
rm -f "$out/coz-report.md"
status=0

# write FILE COMMAND...: the command's output, or no file.
write() {
  file=$1
  shift
  if "$@" >"$file.part"; then mv -f "$file.part" "$file"; else
    failed=$?
    rm -f "$file.part"
    return "$failed"
  fi
}

case $mode in
  profile)
    rm -f "$out/profile.coz" "$out/coz-report.sarif"
    # shellcheck disable=SC2086 # options are separated by spaces
    $coz run -o "$out/profile.coz" ${COZ_CI_OPTIONS:-} --- "$@" || {
      echo "coz_ci.sh: the program, or coz run, ended with status $?" >&2
      status=3
      [ -s "$out/profile.coz" ] || exit "$status"
    }
    write "$out/coz-report.md" $coz report --markdown "$out/profile.coz"
    write "$out/coz-report.sarif" $coz report --sarif "$out/profile.coz"
    if [ -n "$condition" ]; then
      $coz report --no-source --fail-if "$condition" "$out/profile.coz" || status=$?
    fi
    ;;
  compare)
    # shellcheck disable=SC2086
    $coz compare ${COZ_CI_OPTIONS:-} --markdown ${condition:+--gate "$condition"} "$@" >"$out/coz-report.md" || status=$?
    cat "$out/coz-report.md"
    ;;
  *)
    echo "coz_ci.sh: profile or compare is wanted, not $mode" >&2
    exit 2
    ;;
esac
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then cat "$out/coz-report.md" >>"$GITHUB_STEP_SUMMARY"; fi
exit "$status"
