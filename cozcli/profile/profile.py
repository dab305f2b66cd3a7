"""One or several files, as runs with their experiments and sample counts."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path

from cozcli.errors import CozError, Problem, reason_of
from cozcli.profile import messages
from cozcli.profile.reader import ReadProblems, read_records
from cozcli.profile.records import (
    DEFAULT_DOSE,
    DEFAULT_PERIOD,
    VERSION,
    ExitRecord,
    ExperimentRecord,
    JobRecord,
    LoadRecord,
    Record,
    ReferenceRecord,
    RunRecord,
    SamplesRecord,
    TargetRecord,
)

#: What another run's record does not tell.
OF_ONE_RUN = ("time", "fixed_speedup", "fixed", "speedups", "arrival_speedup")
#: What records of this tool begin with.
_RECORD = b'{"type":'


# No dataclasses here: `coz run` would wait for their import.
class Run:
    """One run of a program. `samples` is the last record of cumulative counts, if there is one.

    `targets`: what companions' numbers mean. `unknown`: windows left out, as theirs mean nothing.
    `has_lost_start`: the record of its start is damaged or missing; `record` is another run's, or defaults.
    """

    def __init__(
        self,
        record: RunRecord,
        source: str,
        experiments: Iterable[ExperimentRecord] = (),
        samples: SamplesRecord | None = None,
    ) -> None:
        self.record = record
        self.source = source
        self.experiments = list(experiments)
        self.references: list[ReferenceRecord] = []
        self.load: LoadRecord | None = None
        self.samples = samples
        self.job: JobRecord | None = None
        self.exit: ExitRecord | None = None
        self.targets: dict[int, TargetRecord] = {}
        self.unknown = 0
        self.has_lost_start = False

    def restore_start(self, others: Iterable[Run]) -> None:
        """Instead of the damaged or missing record of its start take another run's, or else the defaults."""
        self.has_lost_start = True
        has_companions = any(e.companions for e in self.experiments)
        default = RunRecord(period=DEFAULT_PERIOD, companion_dose=DEFAULT_DOSE if has_companions else 0.0)
        known = (run.record for run in others if run.record.period > 0 and not run.record.classic)
        alike = next((record for record in known if (record.companion_dose > 0) == has_companions), default)
        own = self.record._asdict()
        self.record = alike._replace(**{name: own[name] for name in OF_ONE_RUN})

    def leave_out_unknown(self) -> None:
        """Windows whose companions' records are lost, with a damaged line: nobody knows what was sped up."""
        known = [e for e in self.experiments if all(each.number in self.targets for each in e.companions)]
        self.unknown += len(self.experiments) - len(known)
        self.experiments = known

    @property
    def identity(self) -> Hashable | None:
        """The same for copies of a run; None where nothing was measured that could count twice."""
        if not self.experiments:
            return None
        first = self.experiments[0]
        # Not the whole record: its flows have no hash.
        return self.record, first.location, first.speedup, first.start, first.effective_duration, first.points

    @property
    def arrival_speedup(self) -> int:
        """By how much each arrival was sped up, ns; 0 where load was not amplified."""
        for record in self.experiments:
            return record.arrivals.speedup if record.arrivals else 0
        return self.load.arrival_speedup if self.load else self.record.arrival_speedup or 0

    @property
    def effective_time(self) -> int:
        """Effective nanoseconds from the start to the latest record that tells."""
        latest = max((e.run_time for e in self.experiments), default=0)
        return max(latest, self.samples.run_time if self.samples else 0, 0)

    @property
    def real_time(self) -> int:
        """Real nanoseconds from the start to the latest record that tells."""
        latest = max((e.start + e.duration for e in self.experiments), default=0)
        return max(latest, self.samples.duration if self.samples else 0, self.effective_time)


class Profile:
    """Everything read, with what had to be left out: `rejected` names each impossible record, `cut` the files
    that break off, and where, `repeated` the files of each run that was read twice: it stands for one.
    """

    def __init__(self, runs: Sequence[Run] = (), sources: Sequence[str] = ()) -> None:
        self.runs = list(runs)
        self.sources = list(sources)
        self.warnings: list[Problem] = []
        self.rejected: list[str] = []
        self.cut: list[str] = []
        self.repeated: list[tuple[str, str]] = []

    @property
    def experiments(self) -> int:
        """Number of windows in all runs."""
        return sum(len(run.experiments) for run in self.runs)


def load_profile(paths: Sequence[str]) -> Profile:
    """Read files and pool their runs, each once.

    Raises:
        CozError: a file is missing, unreadable, empty, or holds no profile.
    """
    profile = Profile()
    for path in paths:
        profile.sources.append(path)
        problems = ReadProblems()
        try:
            mode = os.stat(path).st_mode
            if stat.S_ISDIR(mode):
                raise CozError(messages.profile_is_directory(path))
            if stat.S_ISFIFO(mode) and _is_on_disk(path):
                raise CozError(messages.profile_not_a_file(path))
            with open(path, "rb") as stream:
                runs = collect_runs(read_records(stream, problems), path)
        except FileNotFoundError:
            raise CozError(messages.profile_missing(path)) from None
        except (OSError, ValueError) as error:
            raise CozError(messages.profile_unreadable(path, reason_of(error))) from None
        if problems.recognized == 0:
            if not (problems.garbage or problems.truncated) and _is_empty(path):
                raise CozError(messages.profile_empty(path))
            if problems.truncated == 1 and _begins_like_a_record(path):
                raise CozError(messages.first_record_cut(path))
            raise CozError(messages.not_a_profile(path))
        profile.runs += runs
        profile.warnings += _describe(problems, path)
        if starts := sum(run.has_lost_start for run in runs):
            profile.warnings.append(messages.run_starts_lost(path, starts))
        if lost := sum(run.unknown for run in runs):
            profile.warnings.append(messages.companions_unknown(path, lost))
        if problems.truncated:
            profile.cut.append(f"{path} breaks off in line {problems.truncated}")
        profile.rejected += [f"{path}, line {number}: {reason}" for number, reason in problems.rejected]
    _leave_out_repeated(profile)
    profile.warnings += _describe_runs(profile.runs)
    return profile


def _leave_out_repeated(profile: Profile) -> None:
    """Of copies of a run, one may be of a time when it went on: the one with more windows counts."""
    at: dict[object, int] = {}
    different: list[Run] = []
    for run in profile.runs:
        if run.identity is None or run.identity not in at:
            at[run.identity] = len(different)
            different.append(run)
            continue
        kept = different[at[run.identity]]
        if _extent(run) > _extent(kept):
            different[at[run.identity]] = run
            kept, run = run, kept
        profile.repeated.append((kept.source, run.source))
    profile.runs = different
    for first, second in dict.fromkeys(profile.repeated):
        profile.warnings.append(messages.run_left_out(first, second))


def _extent(run: Run) -> tuple[int, int, bool]:
    return len(run.experiments), len(run.references), run.samples is not None


def collect_runs(records: Iterable[Record], source: str) -> list[Run]:
    """Divide records into runs; those without a `run` record of their own get another's (`restore_start`)."""
    runs: list[Run] = []
    since: list[Record] = []  # the latest experiment
    for record in records:
        if isinstance(record, RunRecord):
            _add(runs, since, source)
            runs.append(Run(record, source))
            since = []
        elif isinstance(record, ExperimentRecord):
            if runs and _is_of_next_run(record, runs[-1], since):
                before = runs[-1].experiments
                ended = _end_of_run(since, before[-1].run_time if before else -1)
                _add(runs, since[:ended], source)
                runs.append(Run(RunRecord(), source))
                since = since[ended:]
            _add(runs, [*since, record], source)
            since = []
        else:
            since.append(record)
    _add(runs, since, source)
    for at, run in enumerate(runs):
        run.leave_out_unknown()
        if run.record == RunRecord() and (run.experiments or run.samples):
            run.restore_start([*reversed(runs[:at]), *runs[at + 1 :]])
    return runs


def _is_of_next_run(record: ExperimentRecord, run: Run, since: Sequence[Record]) -> bool:
    """Has another run begun, whose `run` record is lost? Then this one has ended, or both times begin anew;
    if only one does, it may be damaged. since: the records after the run's last experiment.
    """
    if any(isinstance(each, ExitRecord) for each in since):
        return True
    before = run.experiments[-1] if run.experiments else None
    return before is not None and record.start < before.start and 0 <= record.run_time < before.run_time


def _end_of_run(records: Sequence[Record], run_time: int) -> int:
    """How many of these, which stand between the experiments of two runs, are the first run's. run_time: its
    effective time up to there.
    """
    end = 0
    for at, record in enumerate(records, start=1):
        if isinstance(record, ExitRecord):
            return at
        if isinstance(record, SamplesRecord):
            if record.run_time < run_time:
                break
            end = at
    return end


def _add(runs: list[Run], records: Sequence[Record], source: str) -> None:
    """To the latest run, or to one without metadata."""
    if records and not runs:
        runs.append(Run(RunRecord(), source))
    for record in records:
        run = runs[-1]
        match record:
            case TargetRecord():
                run.targets[record.number] = record
            case ExperimentRecord():
                run.experiments.append(record)
            case ReferenceRecord():
                run.references.append(record)
            case LoadRecord():
                run.load = record
            case SamplesRecord():
                run.samples = record
            case JobRecord():
                run.job = record
            case ExitRecord():
                run.exit = record


def _is_on_disk(path: str) -> bool:
    """Not a shell's `<(...)`, whose link leads to no other name. For a named pipe we might wait for ever."""
    return os.path.exists(os.path.realpath(path))


def _is_empty(path: str) -> bool:
    with contextlib.suppress(OSError):
        return Path(path).stat().st_size == 0
    return False


def _begins_like_a_record(path: str) -> bool:
    with contextlib.suppress(OSError), open(path, "rb") as stream:
        return stream.read(len(_RECORD)).startswith(_RECORD)
    return False


def _describe(problems: ReadProblems, path: str) -> list[Problem]:
    found = []
    if problems.garbage:
        found.append(messages.lines_skipped(path, problems.garbage))
    if problems.rejected:
        found.append(messages.records_rejected(path, problems.rejected))
    if problems.truncated:
        found.append(messages.last_line_truncated(path, problems.truncated))
    return found


def _describe_runs(runs: Sequence[Run]) -> list[Problem]:
    found = []
    newer = max((run.record.version for run in runs), default=VERSION)
    if newer > VERSION:
        found.append(messages.newer_format(newer))
    programs = sorted({run.record.program for run in runs if run.record.program})
    if len(programs) > 1:
        found.append(messages.several_programs(programs))
    elif len({run.record.build_id for run in runs if run.record.build_id}) > 1:
        found.append(messages.several_builds(programs[0] if programs else "the program"))
    return found
