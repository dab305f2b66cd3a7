# Completion of coz's commands and options in fish.
# Written by `make completions`: change the options in cozcli/, not this.


function _shtab_coz_scan
  set -g _shtab_coz_cmdpath ''
  set -g _shtab_coz_npos 0
  set -l tokens (commandline -opc)
  set -e tokens[1]
  set -l expect_value 0
  for t in $tokens
    if test $expect_value -eq 1
      set expect_value 0
      continue
    end
    switch "$t"
      case '--*=*'
        continue
      case '-*'
        if contains -- $t $_shtab_coz_opts_with_value
          set expect_value 1
        end
        continue
      case '*'
        if test $_shtab_coz_npos -eq 0
          set -l candidate $t
          if test -n "$_shtab_coz_cmdpath"
            set candidate "$_shtab_coz_cmdpath $t"
          end
          if contains -- $candidate $_shtab_coz_commands
            set -g _shtab_coz_cmdpath $candidate
            continue
          end
        end
        set -g _shtab_coz_npos (math $_shtab_coz_npos + 1)
    end
  end
end

function _shtab_coz_using
  _coz_behind_dashes; and return 1
  _shtab_coz_scan
  test "$_shtab_coz_cmdpath" = "$argv"
end

set -g _shtab_coz_commands run doctor amp compare bias layout 'layout check' 'layout replay' report plot view diff merge convert lines
set -g _shtab_coz_opts_with_value --arrival --arrival-rate --arrival-speedup --binary-scope --budget --companions --compare --counters --cpus --duration --end-after --fail-if --fixed-function --fixed-line --fixed-lines --fixed-lock --fixed-pairs --fixed-region --fixed-speedup --fixed-wait --forked --format --gate --granularity --heap --html --import-hyperfine --input --latency --launcher --layout --layout-seed --levels --line --live --margin --metric --min-points --output --pairs --period --plot --precision --profile --progress --progress-by --progress-point --progress-sampled --ranks --repeat --rerandomize --sampling --seed --seeds --source-exclude --source-scope --speedups --stack --stop-after --suite --theme --to --top --until --warm-up --warmup -b -i -l -n -o -p -s

complete -c coz -e
complete -c coz -f

complete -c coz -n _shtab_coz_using -s h -l help -d 'show this help message and exit'
complete -c coz -n _shtab_coz_using -l version -d 'show program'"'"'s version number and exit'
complete -c coz -n '_shtab_coz_using; and test $_shtab_coz_npos -eq 0' -a run -d 'profile a program'
complete -c coz -n '_shtab_coz_using run' -s h -l help -d 'show this help message and exit'
complete -c coz -n '_shtab_coz_using run' -s o -l output -xka "(__fish_complete_path (commandline -ct))" -d 'profile to write, or to add this run to; %r is the rank in a parallel job, %j the job, %h the host, %p the process id, %e{NAME} a variable, %% a % (default: profile.coz)'
complete -c coz -n '_shtab_coz_using run' -l format -xka "coz classic classic-json" -d 'write profiles that the viewer of the classic Coz reads, tab-separated or as JSON Lines; experiments then have one target each (default: coz)'
complete -c coz -n '_shtab_coz_using run' -l live -xka "auto on off" -d 'show how far it is, in the last row of the terminal; auto: if standard error is one; on: otherwise a line every 30 seconds (default: auto)'
complete -c coz -n '_shtab_coz_using run' -s q -l quiet -d 'say nothing but warnings and errors; no --live'
complete -c coz -n '_shtab_coz_using run' -s s -l source-scope -x -d 'source files whose lines may be selected (default: those of the program); repeatable. re:EXPRESSION is a regular expression'
complete -c coz -n '_shtab_coz_using run' -l source-exclude -x -d 'source files whose lines may not be selected, whatever else matches; repeatable'
complete -c coz -n '_shtab_coz_using run' -s b -l binary-scope -x -d 'binaries whose lines may be selected, also such as are loaded later; MAIN is the program (default: MAIN); repeatable'
complete -c coz -n '_shtab_coz_using run' -l debuginfod -d 'ask the servers in DEBUGINFOD_URLS for debug information that is not on this machine'
complete -c coz -n '_shtab_coz_using run' -l granularity -xka "line function callpath" -d 'what is sped up at a time: a line, a whole function, or a line under one caller (default: line)'
complete -c coz -n '_shtab_coz_using run' -l no-config -d 'do not use coz.toml, which has a project'"'"'s options and is looked for in the current folder and those above it, then in the program'"'"'s'
complete -c coz -n '_shtab_coz_using run' -l fixed-line -x -d 'select this line only; repeatable'
complete -c coz -n '_shtab_coz_using run' -l fixed-lines -xka "(__fish_complete_path (commandline -ct))" -d 'select only the lines that FILE lists, FILE:LINE, one a line (as coz lines prints them); repeatable'
complete -c coz -n '_shtab_coz_using run' -l fixed-function -x -d 'with --granularity function: select this function only; repeatable'
complete -c coz -n '_shtab_coz_using run' -l fixed-region -x -d 'select this region (COZ_REGION_BEGIN) only; repeatable'
complete -c coz -n '_shtab_coz_using run' -l waits -d 'speed up waits, too: each line that sleeps, does I/O, polls, or waits for a child or a lock'
complete -c coz -n '_shtab_coz_using run' -l wait-classes -d 'the same, but all waits of a class together: io, network, poll, sleep, child, lock'
complete -c coz -n '_shtab_coz_using run' -l fixed-wait -x -d 'select the waits at this line only; repeatable'
complete -c coz -n '_shtab_coz_using run' -l fixed-lock -x -d 'select the waits for a lock at this line only; repeatable'
complete -c coz -n '_shtab_coz_using run' -l fixed-speedup -x -d 'use this speedup only, in per cent (0 to 100)'
complete -c coz -n '_shtab_coz_using run' -l speedups -x -d 'use these speedups, in per cent, instead of 10,25,40,50,75,100; 0 is always among them'
complete -c coz -n '_shtab_coz_using run' -l companions -x -d 'in every experiment speed up other targets besides, at random, so that each experiment tells about all of them; together they save PERCENT of the time at most; not where targets or speedup are fixed, load is amplified, a run is one experiment, or threads live short (default: 5)'
complete -c coz -n '_shtab_coz_using run' -l one-at-a-time -d 'speed up one target in each experiment; the same as --companions 0'
complete -c coz -n '_shtab_coz_using run' -l end-to-end -d 'make the whole run one experiment'
complete -c coz -n '_shtab_coz_using run' -l warmup -x -d 'make no experiments in the first part of a run: 5s, 2m (a bare number is in seconds)'
complete -c coz -n '_shtab_coz_using run' -l stop-after -x -d 'end the profiling after this time: 60s, 5m; the program goes on without samples or delays'
complete -c coz -n '_shtab_coz_using run' -l seed -x -d 'repeat the random choices of a run'
complete -c coz -n '_shtab_coz_using run' -l period -x -d 'time between samples, 100us to 100ms, with its unit: ns, us, ms or s; a bare number is in nanoseconds (default: 1ms)'
complete -c coz -n '_shtab_coz_using run' -l sampling -xka "auto perf-trap perf-signal timer off" -d 'how to sample (default: auto); off: not at all, to see what the profiler itself costs'
complete -c coz -n '_shtab_coz_using run' -l tree -d 'profile the program, all processes that it forks, and programs that these execute and -b names, as one: workers of a server, a process for each request; they share experiments, delays and progress points'
complete -c coz -n '_shtab_coz_using run' -l forked -x -d 'profile not the program itself but a child that it forks (N is 1), or a child of a child (2): daemons, workers; one at a time, waiting for its end'
complete -c coz -n '_shtab_coz_using run' -s l -l launcher -x -d 'the command starts the program NAME, one of its words, by a launcher that is not profiled: coz run -l app -o prof.%r --- mpirun -n 4 ./app'
complete -c coz -n '_shtab_coz_using run' -l ranks -x -d 'in a parallel job, profile these ranks only, as in 0-3,8; the others run as without coz'
complete -c coz -n '_shtab_coz_using run' -l joint -d 'in a parallel job on one machine, profile all ranks as one program: experiments are on all of them, and rank 0'"'"'s progress points count'
complete -c coz -n '_shtab_coz_using run' -l repeat -x -d 'run the program N times'
complete -c coz -n '_shtab_coz_using run' -l duration -x -d 'run the program again until TIME has passed: 90s, 5m, 1h'
complete -c coz -n '_shtab_coz_using run' -l end-after -x -d 'send the program SIGTERM after TIME, for servers and others that do not end by themselves'
complete -c coz -n '_shtab_coz_using run' -l until -x -d 'run the program again until the five leading lines are in their order, and their effects at 50 % known to ± POINTS, as in 2%'
complete -c coz -n '_shtab_coz_using run' -s p -l progress -x -d 'a visit each time the line is reached, or the function is entered'
complete -c coz -n '_shtab_coz_using run' -l progress-sampled -x -d 'a visit for each sample in the line: for lines that are passed too often to be counted'
complete -c coz -n '_shtab_coz_using run' -l latency -x -d 'the time from one location to the other, which may be in another thread'
complete -c coz -n '_shtab_coz_using run' -l progress-by -xka "auto hardware breakpoint" -d 'what counts visits: the processor'"'"'s breakpoints, of which there are four, or breakpoint instructions written into the program'"'"'s code; auto: whichever suits the machine (default: auto)'
complete -c coz -n '_shtab_coz_using run' -l arrival-speedup -x -d 'make each request arrive this much earlier: 750us, 1ms, a bare number of nanoseconds, or 25% of the time between two of them in a thread, which is measured first'
complete -c coz -n '_shtab_coz_using run' -l arrival-rate -x -d 'have N requests a second arrive, as in 4000/s; how many do is measured first'
complete -c coz -n '_shtab_coz_using run' -l arrival -x -d 'requests arrive here: FILE:LINE or a function, as for --progress; repeatable'
complete -c coz -n '_shtab_coz_using run' -l busy-pauses -d 'paused threads keep their processor busy until another thread runs there, so that caches stay warm; for load alone, and not for programs that measure or limit their own processor time'
complete -c coz -n '_shtab_coz_using; and test $_shtab_coz_npos -eq 0' -a doctor -d 'say what stands in the way of a good profile'
complete -c coz -n '_shtab_coz_using doctor' -s h -l help -d 'show this help message and exit'
complete -c coz -n '_shtab_coz_using doctor' -s s -l source-scope -x -d 'source files whose lines may be selected (default: those of the program); repeatable. re:EXPRESSION is a regular expression'
complete -c coz -n '_shtab_coz_using doctor' -l source-exclude -x -d 'source files whose lines may not be selected, whatever else matches; repeatable'
complete -c coz -n '_shtab_coz_using doctor' -s b -l binary-scope -x -d 'binaries whose lines may be selected, also such as are loaded later; MAIN is the program (default: MAIN); repeatable'
complete -c coz -n '_shtab_coz_using doctor' -l debuginfod -d 'ask the servers in DEBUGINFOD_URLS for debug information that is not on this machine'
complete -c coz -n '_shtab_coz_using doctor' -l granularity -xka "line function" -d 'what is sped up at a time: a line, a whole function (default: line)'
complete -c coz -n '_shtab_coz_using doctor' -l no-config -d 'do not use coz.toml, which has a project'"'"'s options and is looked for in the current folder and those above it, then in the program'"'"'s'
complete -c coz -n '_shtab_coz_using doctor' -l json -d 'print JSON instead of text'
complete -c coz -n '_shtab_coz_using doctor; and test $_shtab_coz_npos -ge 0' -ka "(__fish_complete_path (commandline -ct))" -d 'as given to coz run; arguments are ignored'
complete -c coz -n '_shtab_coz_using; and test $_shtab_coz_npos -eq 0' -a amp -d 'measure how a program scales under more load'
complete -c coz -n '_shtab_coz_using amp' -s h -l help -d 'show this help message and exit'
complete -c coz -n '_shtab_coz_using amp' -s o -l output -xka "(__fish_complete_path (commandline -ct))" -d 'profile to write, or to add these runs to (default: amp.coz)'
complete -c coz -n '_shtab_coz_using amp' -l levels -x -d 'loads, in per cent of the time between two requests that is taken away, 0 to 99; 0 is always among them (default: 0 to 90 in ten steps)'
complete -c coz -n '_shtab_coz_using amp' -l budget -x -d 'begin no further run after this long: 90s, 5m, 1h (default: 10m)'
complete -c coz -n '_shtab_coz_using amp' -l lines -d 'experiment on lines as well, and show whose importance changes with load'
complete -c coz -n '_shtab_coz_using amp' -l live -xka "auto on off" -d 'show how far it is, in the last row of the terminal; auto: if standard error is one; on: otherwise a line every 30 seconds (default: auto)'
complete -c coz -n '_shtab_coz_using amp' -s q -l quiet -d 'say nothing but warnings and errors; no --live'
complete -c coz -n '_shtab_coz_using amp' -s s -l source-scope -x -d 'source files whose lines may be selected (default: those of the program); repeatable. re:EXPRESSION is a regular expression'
complete -c coz -n '_shtab_coz_using amp' -l source-exclude -x -d 'source files whose lines may not be selected, whatever else matches; repeatable'
complete -c coz -n '_shtab_coz_using amp' -s b -l binary-scope -x -d 'binaries whose lines may be selected, also such as are loaded later; MAIN is the program (default: MAIN); repeatable'
complete -c coz -n '_shtab_coz_using amp' -l debuginfod -d 'ask the servers in DEBUGINFOD_URLS for debug information that is not on this machine'
complete -c coz -n '_shtab_coz_using amp' -l granularity -xka "line function callpath" -d 'what is sped up at a time: a line, a whole function, or a line under one caller (default: line)'
complete -c coz -n '_shtab_coz_using amp' -l no-config -d 'do not use coz.toml, which has a project'"'"'s options and is looked for in the current folder and those above it, then in the program'"'"'s'
complete -c coz -n '_shtab_coz_using amp' -l fixed-line -x -d 'select this line only; repeatable'
complete -c coz -n '_shtab_coz_using amp' -l fixed-lines -xka "(__fish_complete_path (commandline -ct))" -d 'select only the lines that FILE lists, FILE:LINE, one a line (as coz lines prints them); repeatable'
complete -c coz -n '_shtab_coz_using amp' -l fixed-function -x -d 'with --granularity function: select this function only; repeatable'
complete -c coz -n '_shtab_coz_using amp' -l fixed-region -x -d 'select this region (COZ_REGION_BEGIN) only; repeatable'
complete -c coz -n '_shtab_coz_using amp' -l waits -d 'speed up waits, too: each line that sleeps, does I/O, polls, or waits for a child or a lock'
complete -c coz -n '_shtab_coz_using amp' -l wait-classes -d 'the same, but all waits of a class together: io, network, poll, sleep, child, lock'
complete -c coz -n '_shtab_coz_using amp' -l fixed-wait -x -d 'select the waits at this line only; repeatable'
complete -c coz -n '_shtab_coz_using amp' -l fixed-lock -x -d 'select the waits for a lock at this line only; repeatable'
complete -c coz -n '_shtab_coz_using amp' -l speedups -x -d 'use these speedups, in per cent, instead of 10,25,40,50,75,100; 0 is always among them'
complete -c coz -n '_shtab_coz_using amp' -l companions -x -d 'in every experiment speed up other targets besides, at random, so that each experiment tells about all of them; together they save PERCENT of the time at most; not where targets or speedup are fixed, load is amplified, a run is one experiment, or threads live short (default: 5)'
complete -c coz -n '_shtab_coz_using amp' -l one-at-a-time -d 'speed up one target in each experiment; the same as --companions 0'
complete -c coz -n '_shtab_coz_using amp' -l end-to-end -d 'make the whole run one experiment'
complete -c coz -n '_shtab_coz_using amp' -l warmup -x -d 'make no experiments in the first part of a run: 5s, 2m (a bare number is in seconds)'
complete -c coz -n '_shtab_coz_using amp' -l stop-after -x -d 'end the profiling after this time: 60s, 5m; the program goes on without samples or delays'
complete -c coz -n '_shtab_coz_using amp' -l seed -x -d 'repeat the random choices of a run'
complete -c coz -n '_shtab_coz_using amp' -l period -x -d 'time between samples, 100us to 100ms, with its unit: ns, us, ms or s; a bare number is in nanoseconds (default: 1ms)'
complete -c coz -n '_shtab_coz_using amp' -l sampling -xka "auto perf-trap perf-signal timer off" -d 'how to sample (default: auto); off: not at all, to see what the profiler itself costs'
complete -c coz -n '_shtab_coz_using amp' -l tree -d 'profile the program, all processes that it forks, and programs that these execute and -b names, as one: workers of a server, a process for each request; they share experiments, delays and progress points'
complete -c coz -n '_shtab_coz_using amp' -l forked -x -d 'profile not the program itself but a child that it forks (N is 1), or a child of a child (2): daemons, workers; one at a time, waiting for its end'
complete -c coz -n '_shtab_coz_using amp' -s l -l launcher -x -d 'the command starts the program NAME, one of its words, by a launcher that is not profiled: coz run -l app -o prof.%r --- mpirun -n 4 ./app'
complete -c coz -n '_shtab_coz_using amp' -l ranks -x -d 'in a parallel job, profile these ranks only, as in 0-3,8; the others run as without coz'
complete -c coz -n '_shtab_coz_using amp' -l joint -d 'in a parallel job on one machine, profile all ranks as one program: experiments are on all of them, and rank 0'"'"'s progress points count'
complete -c coz -n '_shtab_coz_using amp' -l repeat -x -d 'run the program N times'
complete -c coz -n '_shtab_coz_using amp' -l duration -x -d 'run the program again until TIME has passed: 90s, 5m, 1h'
complete -c coz -n '_shtab_coz_using amp' -l end-after -x -d 'send the program SIGTERM after TIME, for servers and others that do not end by themselves'
complete -c coz -n '_shtab_coz_using amp' -s p -l progress -x -d 'a visit each time the line is reached, or the function is entered'
complete -c coz -n '_shtab_coz_using amp' -l progress-sampled -x -d 'a visit for each sample in the line: for lines that are passed too often to be counted'
complete -c coz -n '_shtab_coz_using amp' -l latency -x -d 'the time from one location to the other, which may be in another thread'
complete -c coz -n '_shtab_coz_using amp' -l progress-by -xka "auto hardware breakpoint" -d 'what counts visits: the processor'"'"'s breakpoints, of which there are four, or breakpoint instructions written into the program'"'"'s code; auto: whichever suits the machine (default: auto)'
complete -c coz -n '_shtab_coz_using amp' -l arrival -x -d 'requests arrive here: FILE:LINE or a function, as for --progress; repeatable'
complete -c coz -n '_shtab_coz_using amp' -l busy-pauses -d 'paused threads keep their processor busy until another thread runs there, so that caches stay warm; for load alone, and not for programs that measure or limit their own processor time'
complete -c coz -n '_shtab_coz_using; and test $_shtab_coz_npos -eq 0' -a compare -d 'say whether one program is really faster than another'
complete -c coz -n '_shtab_coz_using compare' -s h -l help -d 'show this help message and exit'
complete -c coz -n '_shtab_coz_using compare' -l suite -xka "(__fish_complete_path (commandline -ct))" -d 'compare programs × treatments, as a TOML file lists them'
complete -c coz -n '_shtab_coz_using compare' -l metric -xka "cpu wall memory cycles instructions cache-misses branch-misses page-faults context-switches" -d 'cpu: processor time; wall; memory: peak resident; progress:NAME: visits of a progress point a second; latency:NAME: mean time from its begin to its end; instructions, cycles, cache-misses, branch-misses, page-faults, context-switches: as the kernel counts them; repeatable, the first decides (default: cpu)'
complete -c coz -n '_shtab_coz_using compare' -l profile -xka "(__fish_complete_path (commandline -ct))" -d 'a causal profile of A; with --line: what it predicts, beside it'
complete -c coz -n '_shtab_coz_using compare' -l line -x -d 'the line that B makes faster, as for coz report'
complete -c coz -n '_shtab_coz_using compare' -l import-hyperfine -xka "(__fish_complete_path (commandline -ct))" -d 'compare the runs in a file of hyperfine --export-json'
complete -c coz -n '_shtab_coz_using compare' -l input -xka "(__fish_complete_path (commandline -ct))" -d 'their standard input'
complete -c coz -n '_shtab_coz_using compare' -l check-output -d 'refuse if A and B print different things'
complete -c coz -n '_shtab_coz_using compare' -l cpus -xka "(__fish_complete_path (commandline -ct))" -d 'processors to run on, as 1,3 or 2-5'
complete -c coz -n '_shtab_coz_using compare' -s n -l pairs -x -d 'runs of each, at most (default: 30; of a suite 12; with --precision 200)'
complete -c coz -n '_shtab_coz_using compare' -l precision -x -d 'stop once half of the 95 % interval is this narrow, as 0.5%'
complete -c coz -n '_shtab_coz_using compare' -l warm-up -x -d 'runs of each before (default: 1)'
complete -c coz -n '_shtab_coz_using compare' -l control -d 'also compare A with itself, as a check'
complete -c coz -n '_shtab_coz_using compare' -l layout-seed -x -d 'repeat the order and layouts'
complete -c coz -n '_shtab_coz_using compare' -l layout -xka "auto runtime link none" -d 'runtime: each run has its functions in other places, moved at its start; link: another of the builds that {seed} stands for; auto: what is possible; each also with another environment size, which moves the stack; none: change nothing (default: auto)'
complete -c coz -n '_shtab_coz_using compare' -l rerandomize -x -d 'also move functions while a program runs, in such intervals, as 500ms: the time of a run of some seconds is then a mean over many layouts'
complete -c coz -n '_shtab_coz_using compare' -l fixed-pairs -x -d 'if functions are moved: pairs of runs without that, to say what the one layout that the linker chose would have said (default: 12; 0: none)'
complete -c coz -n '_shtab_coz_using compare' -l heap -x -d 'where blocks of the heap lie, anew in each run: shuffle (small ones; shuffle:N keeps N of each size, default 256), offset (big ones, within the page), zero (also zero them), several with commas, or system (default)'
complete -c coz -n '_shtab_coz_using compare' -l stack -xka "random system" -d 'random: stacks, of threads too, begin elsewhere within a page in each run (default: system)'
complete -c coz -n '_shtab_coz_using compare' -l margin -x -d 'smaller differences do not matter: A and B are equivalent (default: 1%)'
complete -c coz -n '_shtab_coz_using compare' -l t-test -d 'also print Student'"'"'s t-test, and tests of what it assumes'
complete -c coz -n '_shtab_coz_using compare' -l gate -x -d 'end with status 1 if '"'"'slower > 1%'"'"', '"'"'not faster'"'"', '"'"'inconclusive'"'"', …; repeatable'
complete -c coz -n '_shtab_coz_using compare' -l plot -xka "(__fish_complete_path (commandline -ct))" -d 'also draw the result: .png, .svg or .pdf (coz plot draws that of --json)'
complete -c coz -n '_shtab_coz_using compare' -l html -xka "(__fish_complete_path (commandline -ct))" -d 'also write a page for the browser, with figures'
complete -c coz -n '_shtab_coz_using compare' -l json -d 'print JSON'
complete -c coz -n '_shtab_coz_using compare' -l csv -d 'print CSV'
complete -c coz -n '_shtab_coz_using compare' -l markdown -d 'print a Markdown table'
complete -c coz -n '_shtab_coz_using compare; and test $_shtab_coz_npos -ge 0' -ka "(__fish_complete_path (commandline -ct))" -d 'a program and its arguments'
complete -c coz -n '_shtab_coz_using; and test $_shtab_coz_npos -eq 0' -a bias -d 'say whether a program'"'"'s time depends on where its memory happens to lie'
complete -c coz -n '_shtab_coz_using bias' -s h -l help -d 'show this help message and exit'
complete -c coz -n '_shtab_coz_using bias' -l duration -x -d 'about how long to measure, as 90s or 5m (default: 3m)'
complete -c coz -n '_shtab_coz_using bias' -l margin -x -d 'smaller differences do not matter (default: 1%)'
complete -c coz -n '_shtab_coz_using bias' -l input -xka "(__fish_complete_path (commandline -ct))" -d 'its standard input'
complete -c coz -n '_shtab_coz_using bias' -l layout-seed -x -d 'repeat order and layouts'
complete -c coz -n '_shtab_coz_using bias' -l no-names -d 'don'"'"'t find out what lies at slow places by single steps'
complete -c coz -n '_shtab_coz_using bias' -l counters -x -d 'also count hardware events at slow and other places, and rank them by their correlation with cycles: all, or names and raw codes as r0107, with commas'
complete -c coz -n '_shtab_coz_using bias' -l plot -xka "(__fish_complete_path (commandline -ct))" -d 'also draw it: .png, .svg or .pdf'
complete -c coz -n '_shtab_coz_using bias' -l json -d 'print JSON'
complete -c coz -n '_shtab_coz_using bias; and test $_shtab_coz_npos -ge 0' -ka "(__fish_complete_path (commandline -ct))" -d 'the program and its arguments'
complete -c coz -n '_shtab_coz_using; and test $_shtab_coz_npos -eq 0' -a layout -d 'check whether functions can be moved at start-up, or run one layout'
complete -c coz -n '_shtab_coz_using layout' -s h -l help -d 'show this help message and exit'
complete -c coz -n '_shtab_coz_using layout; and test $_shtab_coz_npos -eq 0' -a check -d 'Say which share of the program'"'"'s code can be moved, and why the rest cannot. Then run it once as it is and under several seeds: status and output have to be the same.'
complete -c coz -n '_shtab_coz_using layout check' -s h -l help -d 'show this help message and exit'
complete -c coz -n '_shtab_coz_using layout check' -l seeds -x -d 'runs in random layouts (default: 10; 0: none)'
complete -c coz -n '_shtab_coz_using layout check' -l layout-seed -x -d 'draw the seeds by this number'
complete -c coz -n '_shtab_coz_using layout check' -l input -xka "(__fish_complete_path (commandline -ct))" -d 'its standard input'
complete -c coz -n '_shtab_coz_using layout check' -l json -d 'print JSON'
complete -c coz -n '_shtab_coz_using layout check' -l rerandomize -x -d 'let calls lead to another layout in such intervals, as 500ms'
complete -c coz -n '_shtab_coz_using layout check; and test $_shtab_coz_npos -ge 0' -ka "(__fish_complete_path (commandline -ct))" -d 'and its arguments'
complete -c coz -n '_shtab_coz_using layout; and test $_shtab_coz_npos -eq 0' -a replay -d 'Run the program in the layout of a seed, in this terminal. Address space randomisation is switched off, so that addresses are the same each time.'
complete -c coz -n '_shtab_coz_using layout replay' -s h -l help -d 'show this help message and exit'
complete -c coz -n '_shtab_coz_using layout replay' -l seed -x -d 'as coz layout check told it; original: copies as the linker left the functions'
complete -c coz -n '_shtab_coz_using layout replay' -l explain -d 'run it again and again, and find the functions whose places make the layout slow or fast; without --seed, of the most different of twelve layouts'
complete -c coz -n '_shtab_coz_using layout replay' -l input -xka "(__fish_complete_path (commandline -ct))" -d 'with --explain: its standard input'
complete -c coz -n '_shtab_coz_using layout replay' -l json -d 'with --explain: print JSON'
complete -c coz -n '_shtab_coz_using layout replay' -l rerandomize -x -d 'let calls lead to another layout in such intervals, as 500ms'
complete -c coz -n '_shtab_coz_using layout replay; and test $_shtab_coz_npos -ge 0' -ka "(__fish_complete_path (commandline -ct))" -d 'and its arguments'
complete -c coz -n '_shtab_coz_using; and test $_shtab_coz_npos -eq 0' -a report -d 'print lines ranked by impact'
complete -c coz -n '_shtab_coz_using report' -s h -l help -d 'show this help message and exit'
complete -c coz -n '_shtab_coz_using report' -l line -x -d 'only this line: FILE:LINE, FILE, a function, or a pattern with % for any text'
complete -c coz -n '_shtab_coz_using report' -l progress-point -x -d 'only effects on this progress point'
complete -c coz -n '_shtab_coz_using report' -l min-points -x -d 'only lines measured at N or more different speedups above 0 (default: 1)'
complete -c coz -n '_shtab_coz_using report' -l json -d 'print JSON instead of a table'
complete -c coz -n '_shtab_coz_using report' -l csv -d 'print CSV, for spreadsheets and scripts'
complete -c coz -n '_shtab_coz_using report' -l markdown -d 'print a Markdown table, for reviews and notes'
complete -c coz -n '_shtab_coz_using report' -l annotate -d 'print FILE:LINE: note: ..., as compilers do, for editors and CI systems'
complete -c coz -n '_shtab_coz_using report' -l sarif -d 'print SARIF, which code hosts and editors show beside the lines'
complete -c coz -n '_shtab_coz_using report' -l no-source -d 'do not show the text of the leading lines'
complete -c coz -n '_shtab_coz_using report' -l fail-if -x -d 'end with status 1 if an effect is certainly beyond a limit, as in '"'"'sqlite3.c:28321 > 10% at 50% on inserts'"'"' (at and on may be left out); repeatable'
complete -c coz -n '_shtab_coz_using report' -l instances -d 'list also the functions that a line is part of, as of a template'"'"'s instances'
complete -c coz -n '_shtab_coz_using report; and test $_shtab_coz_npos -ge 0' -ka "(__fish_complete_path (commandline -ct))" -d 'profiles, pooled (default: profile.coz)'
complete -c coz -n '_shtab_coz_using; and test $_shtab_coz_npos -eq 0' -a plot -d 'draw the curve of each line'
complete -c coz -n '_shtab_coz_using plot' -s h -l help -d 'show this help message and exit'
complete -c coz -n '_shtab_coz_using plot' -l line -x -d 'only this line: FILE:LINE, FILE, a function, or a pattern with % for any text'
complete -c coz -n '_shtab_coz_using plot' -l progress-point -x -d 'only effects on this progress point'
complete -c coz -n '_shtab_coz_using plot' -l min-points -x -d 'only lines measured at N or more different speedups above 0 (default: 5; fewer for runs with --speedups or companions)'
complete -c coz -n '_shtab_coz_using plot' -s o -l output -xka "(__fish_complete_path (commandline -ct))" -d 'picture to write: .png, .svg or .pdf (default: profile.png)'
complete -c coz -n '_shtab_coz_using plot' -l top -x -d 'draw the N highest-ranking lines (default: up to 30 that may matter; lines of few data only where there are fewer than 12 others)'
complete -c coz -n '_shtab_coz_using plot' -l theme -xka "light dark print" -d 'light, dark, or for printing without colours (default: light)'
complete -c coz -n '_shtab_coz_using plot' -s i -l input -xka "(__fish_complete_path (commandline -ct))" -d 'the same as FILE, as with the classic Coz'
complete -c coz -n '_shtab_coz_using plot' -s t -l text -d 'print a table instead, as coz report does'
complete -c coz -n '_shtab_coz_using plot; and test $_shtab_coz_npos -ge 0' -ka "(__fish_complete_path (commandline -ct))" -d 'profiles, pooled (default: profile.coz)'
complete -c coz -n '_shtab_coz_using; and test $_shtab_coz_npos -eq 0' -a view -d 'explore the results in a browser'
complete -c coz -n '_shtab_coz_using view' -s h -l help -d 'show this help message and exit'
complete -c coz -n '_shtab_coz_using view' -l line -x -d 'only this line: FILE:LINE, FILE, a function, or a pattern with % for any text'
complete -c coz -n '_shtab_coz_using view' -l progress-point -x -d 'only effects on this progress point'
complete -c coz -n '_shtab_coz_using view' -l min-points -x -d 'only lines measured at N or more different speedups above 0 (default: 1)'
complete -c coz -n '_shtab_coz_using view' -l compare -xka "(__fish_complete_path (commandline -ct))" -d 'show this profile beside the first, as of the program after a change; repeatable, pooled'
complete -c coz -n '_shtab_coz_using view' -s o -l output -xka "(__fish_complete_path (commandline -ct))" -d 'page to write (default: profile.html)'
complete -c coz -n '_shtab_coz_using view' -l top -x -d 'only the N highest-ranking results'
complete -c coz -n '_shtab_coz_using view' -l no-source -d 'put no lines of source into the page'
complete -c coz -n '_shtab_coz_using view' -l no-open -d 'only write the page, do not open it'
complete -c coz -n '_shtab_coz_using view' -l force -d 'overwrite FILE even if it is not a page of coz view'
complete -c coz -n '_shtab_coz_using view; and test $_shtab_coz_npos -ge 0' -ka "(__fish_complete_path (commandline -ct))" -d 'profiles, pooled (default: profile.coz)'
complete -c coz -n '_shtab_coz_using; and test $_shtab_coz_npos -eq 0' -a diff -d 'say what changed between two profiles'
complete -c coz -n '_shtab_coz_using diff' -s h -l help -d 'show this help message and exit'
complete -c coz -n '_shtab_coz_using diff' -l line -x -d 'only this line: FILE:LINE, FILE, a function, or a pattern with % for any text'
complete -c coz -n '_shtab_coz_using diff' -l progress-point -x -d 'only effects on this progress point'
complete -c coz -n '_shtab_coz_using diff' -l json -d 'print JSON instead of a table'
complete -c coz -n '_shtab_coz_using diff' -l csv -d 'print CSV instead of a table'
complete -c coz -n '_shtab_coz_using diff' -l markdown -d 'print a Markdown table instead of a table'
complete -c coz -n '_shtab_coz_using diff; and test $_shtab_coz_npos -eq 0' -ka "(__fish_complete_path (commandline -ct))" -d 'the profile before'
complete -c coz -n '_shtab_coz_using diff; and test $_shtab_coz_npos -eq 1' -ka "(__fish_complete_path (commandline -ct))" -d 'the profile after'
complete -c coz -n '_shtab_coz_using; and test $_shtab_coz_npos -eq 0' -a merge -d 'put several profiles into one file'
complete -c coz -n '_shtab_coz_using merge' -s h -l help -d 'show this help message and exit'
complete -c coz -n '_shtab_coz_using merge' -s o -l output -xka "(__fish_complete_path (commandline -ct))" -d 'profile to write; not an input'
complete -c coz -n '_shtab_coz_using merge; and test $_shtab_coz_npos -ge 0' -ka "(__fish_complete_path (commandline -ct))" -d 'profiles to read'
complete -c coz -n '_shtab_coz_using; and test $_shtab_coz_npos -eq 0' -a convert -d 'write a profile for the viewer of the classic Coz'
complete -c coz -n '_shtab_coz_using convert' -s h -l help -d 'show this help message and exit'
complete -c coz -n '_shtab_coz_using convert' -s o -l output -xka "(__fish_complete_path (commandline -ct))" -d 'profile to write; not an input'
complete -c coz -n '_shtab_coz_using convert' -l to -xka "classic classic-json" -d 'tab-separated, which all versions read, or JSON Lines, as of 0.2.5 (default: classic)'
complete -c coz -n '_shtab_coz_using convert; and test $_shtab_coz_npos -ge 0' -ka "(__fish_complete_path (commandline -ct))" -d 'profiles to read'
complete -c coz -n '_shtab_coz_using; and test $_shtab_coz_npos -eq 0' -a lines -d 'list the lines that can be selected'
complete -c coz -n '_shtab_coz_using lines' -s h -l help -d 'show this help message and exit'
complete -c coz -n '_shtab_coz_using lines' -s s -l source-scope -x -d 'source files whose lines may be selected (default: those of the program); repeatable. re:EXPRESSION is a regular expression'
complete -c coz -n '_shtab_coz_using lines' -l source-exclude -x -d 'source files whose lines may not be selected, whatever else matches; repeatable'
complete -c coz -n '_shtab_coz_using lines' -s b -l binary-scope -x -d 'binaries whose lines may be selected, also such as are loaded later; MAIN is the program (default: MAIN); repeatable'
complete -c coz -n '_shtab_coz_using lines' -l debuginfod -d 'ask the servers in DEBUGINFOD_URLS for debug information that is not on this machine'
complete -c coz -n '_shtab_coz_using lines' -l granularity -xka "line function" -d 'what is sped up at a time: a line, a whole function (default: line)'
complete -c coz -n '_shtab_coz_using lines' -l no-config -d 'do not use coz.toml, which has a project'"'"'s options and is looked for in the current folder and those above it, then in the program'"'"'s'
complete -c coz -n '_shtab_coz_using lines' -l line -x -d 'only these: FILE:LINE, FILE, a function, or a pattern with % for any text'
complete -c coz -n '_shtab_coz_using lines' -l json -d 'print JSON'
complete -c coz -n '_shtab_coz_using lines; and test $_shtab_coz_npos -ge 0' -ka "(__fish_complete_path (commandline -ct))" -d 'the program'

function _coz_behind_dashes
  set -l tokens (commandline -opc)
  test (count $tokens) -ge 3; and contains -- $tokens[2] run amp doctor lines compare layout bias; and begin
    contains -- --- $tokens[3..]; or contains -- -- $tokens[3..]
  end
end

function _coz_complete_program
  set -l tokens (commandline -opc)
  set -l at (contains -i -- --- $tokens; or contains -i -- -- $tokens)
  if test (count $tokens) -eq $at[1]
    __fish_complete_command
    __fish_complete_path (commandline -ct)
  else
    set -l rest (string escape -- $tokens[(math $at[1] + 1)..])
    complete -C "$rest "(commandline -ct)
  end
end

complete -c coz -n _coz_behind_dashes -a '(_coz_complete_program)'
