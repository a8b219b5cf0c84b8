#compdef lockstep
# Completions of lockstep for zsh, made by `lockstep completion zsh`.
_lockstep() {
  local -a commands
  commands=(
    'run:run the conformance suites, print a table, and write passport, report and JUnit files'
    'list:list the suites and their properties'
    'exec:run any CUDA program that nvcc built on the simulated GPU with all checks, and report what they find'
    'counters:run a program without checks, and print the counters of its kernels'
    'coverage:write which lines and branches of kernels a program executes\: an lcov tracefile, for genhtml and editors'
    'mutate:count the mutants of its kernels, and of its calls of the runtime, that a test program notices'
    'judge:judge a candidate kernel against a reference and a contract\: a verdict with its reasons'
    'compare:compare a kernel with its changed version\: results, findings and counters in one table'
    'inspect:report whether the simulated GPU can run programs, and what to change if it cannot'
    'diff:report what changed between two passports'
    'report:write report.html from a passport; run does so itself'
    'new:add a kernel family, to be filled in'
    'completion:print the completions of this command for a shell'
  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
    run)
      _arguments -s -S \
        '*-h+[this text]::' \
        '*--help=[this text]::' \
        '*--suite=[only this suite, such as stencil; several between commas; may be repeated]:NAME:' \
        '*-k+[only properties whose name has this in it, upper or lower case; * and ? stand for any characters; several between commas; with ! in front, all others]:PATTERN:' \
        '*--lf=[only what failed, or did not run, when --out was last written; all, if nothing did]::' \
        '*--last-failed=[only what failed, or did not run, when --out was last written; all, if nothing did]::' \
        '*--case=[this case alone, '\''Suite.Name\: field=value ...'\'', as a failure prints it; needs --suite, and writes to lockstep-out/replay unless --out is given]:CASE:' \
        '*-x+[stop at the first failure]::' \
        '*--stop=[stop at the first failure]::' \
        '*--quick=[a tenth of the cases\: the same as --scale=0.1]::' \
        '*--scale=[X times each property'\''s own number of cases, such as 0.1 or 10; one at least]:X:' \
        '*--cases=[cases of each property that has more than one, in place of its own number]:N:' \
        '*--seed=[seed of the generators, in place of one from each property'\''s name]:N:' \
        '*--random-seed=[mixed with each property'\''s name into a seed of its own]:N:' \
        '*--repeat=[everything N times, each time with other random seeds; stops at the first failure]:N:' \
        '*--device=[simulator (the default); sm_75, sm_80, sm_89, sm_90, sm_100, ... (the simulated GPU as that one); gpu (this machine'\''s first GPU), all, or numbers of GPUs such as 0 or 0,1]:WHERE:(sm_75 sm_80 sm_89 sm_90 sm_100 sm_103 sm_110 sm_120 sm_121 simulator gpu all 0)' \
        '*--sanitizer=[on a GPU\: under that tool of NVIDIA'\''s compute-sanitizer (memcheck, racecheck, initcheck or synccheck), once it has found a planted fault]:TOOL:(memcheck racecheck initcheck synccheck)' \
        '*--jobs=[suites that run at the same time; without it as many as there are processors on the simulated GPU, and 1 on a GPU]:N:' \
        '*--time-limit=[that a suite'\''s process may take (900)]:SECONDS:' \
        '*--property-limit=[that one property may take (300)]:SECONDS:' \
        '*--out=[for passport.json, report.html, junit.xml, ledgers and logs (lockstep-out); with several GPUs, FOLDER/gpu-N]:FOLDER:_files -/' \
        '*--target=[the conformance target of your project, if it has several\: build/conformance of CMake, //\:conformance of Bazel, or conformance alone]:NAME:' \
        '*--manifest=[list of suites in place of a target, or of the built-in one\: lines of name, program and label between tabs]:FILE:_files' \
        '*--config=[the file with a project'\''s options, in place of the nearest lockstep.toml here or above; none\: no file]:FILE:_files'
      ;;
    list)
      _arguments -s -S \
        '*-h+[this text]::' \
        '*--help=[this text]::' \
        '*--suite=[only this suite, such as stencil; several between commas; may be repeated]:NAME:' \
        '*-k+[only properties whose name has this in it, upper or lower case; * and ? stand for any characters; several between commas; with ! in front, all others]:PATTERN:' \
        '*--names=[the suites alone]::' \
        '*--target=[the conformance target of your project, if it has several\: build/conformance of CMake, //\:conformance of Bazel, or conformance alone]:NAME:' \
        '*--manifest=[list of suites in place of a target, or of the built-in one\: lines of name, program and label between tabs]:FILE:_files' \
        '*--config=[the file with a project'\''s options, in place of the nearest lockstep.toml here or above; none\: no file]:FILE:_files'
      ;;
    exec)
      _arguments -s -S \
        '*-h+[this text]::' \
        '*--help=[this text]::' \
        '*--report=[write the findings to FILE\: .json, .sarif, .xml (JUnit), .html, else text; -\: stdout; may be repeated]:FILE:_files' \
        '*--source-root=[SARIF and annotations name source files below FOLDER from there]:FOLDER:_files -/' \
        '*--annotations=[a line on stderr for each finding at the end\: github (workflow commands), lines (FILE\:LINE\: error\: ..., for editors), none; default\: github where GITHUB_ACTIONS is true]:HOW:{github,lines,none}:(github lines none)' \
        '*--quiet=[no findings and no summary on stderr]::' \
        '*--stop=[end a launch at its first finding; else a kernel goes on where it can, and each place is reported once]::' \
        '*--require-kernels=[exit with 87 when no kernel was launched]::' \
        '*--write-suppressions=[write a line for --suppressions for each error, to be looked at]:FILE:_files' \
        '*--certificate=[write what is proved of each launch before it begins, as JSON, to FILE, and print a line for each; -\: stdout]:FILE:_files' \
        '*--profile=[print in which kernels, lines and checks the time goes, and with =FILE write it as JSON]:[=FILE]:' \
        '*--watch=[run again whenever the program changes; Ctrl-C ends]::' \
        '*--watch-file=[with --watch\: run again when FILE changes too; may be repeated]:FILE:_files' \
        '*--config=[the file with a project'\''s options, in place of the nearest lockstep.toml here or above; none\: no file]:FILE:_files' \
        '*--check=[which checks run\: all, none, or some of bounds, initialisation, races, synchronisation, leaks, strict-barriers, strict-libraries, strict-proxies, strict-writes, with commas; -races\: all but races; all,leaks\: all, and leaks]:LIST:(all none bounds initialisation races synchronisation leaks strict-barriers strict-libraries strict-proxies strict-writes)' \
        '*--device=[which device is simulated\: sm_75, sm_80, sm_89, sm_90 (the default), sm_100, sm_103, sm_110, sm_120, sm_121]:sm_NN:(sm_75 sm_80 sm_89 sm_90 sm_100 sm_103 sm_110 sm_120 sm_121)' \
        '*--devices=[how many of them]:N:' \
        '*--memory=[memory of each device]:GIB:' \
        '*--schedule=[seed of the schedule; 0 is the deterministic order]:SEED:' \
        '*--threads=[host threads that run blocks; 0\: as many as the machine has]:N:' \
        '*--instruction-limit=[warp instructions a block may run before a time-limit finding]:N:' \
        '*--suppressions=[findings to keep quiet about\: lines of KIND KERNEL]:FILE:_files' \
        '*::program:_normal'
      ;;
    counters)
      _arguments -s -S \
        '*-h+[this text]::' \
        '*--help=[this text]::' \
        '*--report=[write the findings to FILE\: .json, .sarif, .xml (JUnit), .html, else text; -\: stdout; may be repeated]:FILE:_files' \
        '*--source-root=[SARIF and annotations name source files below FOLDER from there]:FOLDER:_files -/' \
        '*--annotations=[a line on stderr for each finding at the end\: github (workflow commands), lines (FILE\:LINE\: error\: ..., for editors), none; default\: github where GITHUB_ACTIONS is true]:HOW:{github,lines,none}:(github lines none)' \
        '*--quiet=[no findings and no summary on stderr]::' \
        '*--stop=[end a launch at its first finding; else a kernel goes on where it can, and each place is reported once]::' \
        '*--require-kernels=[exit with 87 when no kernel was launched]::' \
        '*--write-suppressions=[write a line for --suppressions for each error, to be looked at]:FILE:_files' \
        '*--certificate=[write what is proved of each launch before it begins, as JSON, to FILE, and print a line for each; -\: stdout]:FILE:_files' \
        '*--profile=[print in which kernels, lines and checks the time goes, and with =FILE write it as JSON]:[=FILE]:' \
        '*--watch=[run again whenever the program changes; Ctrl-C ends]::' \
        '*--watch-file=[with --watch\: run again when FILE changes too; may be repeated]:FILE:_files' \
        '*--config=[the file with a project'\''s options, in place of the nearest lockstep.toml here or above; none\: no file]:FILE:_files' \
        '*--check=[which checks run\: all, none, or some of bounds, initialisation, races, synchronisation, leaks, strict-barriers, strict-libraries, strict-proxies, strict-writes, with commas; -races\: all but races; all,leaks\: all, and leaks]:LIST:(all none bounds initialisation races synchronisation leaks strict-barriers strict-libraries strict-proxies strict-writes)' \
        '*--device=[which device is simulated\: sm_75, sm_80, sm_89, sm_90 (the default), sm_100, sm_103, sm_110, sm_120, sm_121]:sm_NN:(sm_75 sm_80 sm_89 sm_90 sm_100 sm_103 sm_110 sm_120 sm_121)' \
        '*--devices=[how many of them]:N:' \
        '*--memory=[memory of each device]:GIB:' \
        '*--schedule=[seed of the schedule; 0 is the deterministic order]:SEED:' \
        '*--threads=[host threads that run blocks; 0\: as many as the machine has]:N:' \
        '*--instruction-limit=[warp instructions a block may run before a time-limit finding]:N:' \
        '*--suppressions=[findings to keep quiet about\: lines of KIND KERNEL]:FILE:_files' \
        '*::program:_normal'
      ;;
    coverage)
      _arguments -s -S \
        '*-h+[this text]::' \
        '*--help=[this text]::' \
        '*--out=[the tracefile, in lcov'\''s format (coverage.info)]:FILE:_files' \
        '*--text=[write what was not executed, for people, to FILE; -\: stdout]:FILE:_files' \
        '*--only=[report only files whose names in the program begin with PREFIX; may be repeated]:PREFIX:' \
        '*--toolkit=[report the CUDA toolkit'\''s headers too]::' \
        '*--source-root=[where relative names of source files begin; default\: the working folder]:FOLDER:_files -/' \
        '*--quiet=[no findings and no summary on stderr]::' \
        '*--config=[the file with a project'\''s options, in place of the nearest lockstep.toml here or above; none\: no file]:FILE:_files' \
        '*--check=[which checks run\: all, none, or some of bounds, initialisation, races, synchronisation, leaks, strict-barriers, strict-libraries, strict-proxies, strict-writes, with commas; -races\: all but races; all,leaks\: all, and leaks]:LIST:(all none bounds initialisation races synchronisation leaks strict-barriers strict-libraries strict-proxies strict-writes)' \
        '*--device=[which device is simulated\: sm_75, sm_80, sm_89, sm_90 (the default), sm_100, sm_103, sm_110, sm_120, sm_121]:sm_NN:(sm_75 sm_80 sm_89 sm_90 sm_100 sm_103 sm_110 sm_120 sm_121)' \
        '*--devices=[how many of them]:N:' \
        '*--memory=[memory of each device]:GIB:' \
        '*--schedule=[seed of the schedule; 0 is the deterministic order]:SEED:' \
        '*--threads=[host threads that run blocks; 0\: as many as the machine has]:N:' \
        '*--instruction-limit=[warp instructions a block may run before a time-limit finding]:N:' \
        '*--suppressions=[findings to keep quiet about\: lines of KIND KERNEL]:FILE:_files' \
        '*::program:_normal'
      ;;
    mutate)
      _arguments -s -S \
        '*-h+[this text]::' \
        '*--help=[this text]::' \
        '*--mutants=[judge so many mutants, chosen by chance; 0\: all]:N:' \
        '*--seed=[seed of that choice]:N:' \
        '*--operators=[only these kinds of change, by name, or kernels, or calls; several between commas]:LIST:' \
        '*--jobs=[mutants that run at the same time; 0\: as many as the machine has processors]:N:' \
        '*--out=[of the reports (lockstep-mutation)]:FOLDER:_files -/' \
        '*--fail-under=[exit with 1 when fewer of the mutants are killed]:PERCENT:INT in [0 - 100]:' \
        '*--files=[only kernels from source files whose path this fits]:REGEX:' \
        '*--callers=[only calls of the runtime from functions whose name this fits]:REGEX:' \
        '*--equivalents=[mutants that behave as the original does\: lines of FILE\: SOURCE LINE ~ OPERATOR ~ CHANGE ~ REASON]:FILE:_files' \
        '*--first=[that makes the program do less, for a first round; may be repeated]:ARGUMENT:' \
        '*--sources=[in which source files are looked for; may be repeated]:FOLDER:_files -/' \
        '*--resume=[go on with what an interrupted command has left in --out]::' \
        '*--trust-equivalents=[do not run those of --equivalents on that survive the first round; the report counts them]::' \
        '*--whole-runs=[run every mutant to its end, even where no launch of it leaves anything else than unchanged\: much slower]::' \
        '*--config=[the file with a project'\''s options, in place of the nearest lockstep.toml here or above; none\: no file]:FILE:_files' \
        '*::program:_normal'
      ;;
    judge)
      _arguments -s -S \
        '*-h+[this text]::' \
        '*--help=[this text]::' \
        '*--task=[Python file that defines the contract and the reference]:FILE:_files' \
        '*--entry=[kernel or function, if not the one that the task names]:NAME:' \
        '*--cases=[generated cases; each is called three times]:N:INT in [1 - 100000]:' \
        '*--seed=[seed of the cases; without it a new one is drawn]:N:NONNEGATIVE:' \
        '*--device=[which device is simulated]:sm_NN:(sm_75 sm_80 sm_89 sm_90 sm_100 sm_103 sm_110 sm_120 sm_121)' \
        '*--json=[write the result as JSON to FILE; -\: stdout, without text]:FILE:_files' \
        '*--html=[write the result as a page for a browser to FILE]:FILE:_files' \
        '*--time-limit=[how long the candidate may run]:SECONDS:POSITIVE:' \
        '*--memory-limit=[how much host memory the candidate may allocate]:GIB:INT in [1 - 1024]:' \
        '*--isolation=[full\: in namespaces of its own, without network and files to write; off\: not isolated]:HOW:{full,off}:(full off)' \
        '*--config=[the file with a project'\''s options, in place of the nearest lockstep.toml here or above; none\: no file]:FILE:_files' \
        '*:file:_files'
      ;;
    compare)
      _arguments -s -S \
        '*-h+[this text]::' \
        '*--help=[this text]::' \
        '*--task=[Python file that defines the contract and the reference]:FILE:_files' \
        '*--entry=[kernel or function, if not the one that the task names]:NAME:' \
        '*--cases=[generated cases; each is called three times]:N:INT in [1 - 100000]:' \
        '*--seed=[seed of the cases; without it a new one is drawn]:N:NONNEGATIVE:' \
        '*--device=[which device is simulated]:sm_NN:(sm_75 sm_80 sm_89 sm_90 sm_100 sm_103 sm_110 sm_120 sm_121)' \
        '*--json=[write the result as JSON to FILE; -\: stdout, without text]:FILE:_files' \
        '*--html=[write the result as a page for a browser to FILE]:FILE:_files' \
        '*--time-limit=[how long the candidate may run]:SECONDS:POSITIVE:' \
        '*--memory-limit=[how much host memory the candidate may allocate]:GIB:INT in [1 - 1024]:' \
        '*--isolation=[full\: in namespaces of its own, without network and files to write; off\: not isolated]:HOW:{full,off}:(full off)' \
        '*--config=[the file with a project'\''s options, in place of the nearest lockstep.toml here or above; none\: no file]:FILE:_files' \
        '*:file:_files'
      ;;
    inspect)
      _arguments -s -S \
        '*-h+[this text]::' \
        '*--help=[this text]::' \
        '*:file:_files'
      ;;
    diff)
      _arguments -s -S \
        '*-h+[this text]::' \
        '*--help=[this text]::' \
        '*:file:_files'
      ;;
    report)
      _arguments -s -S \
        '*-h+[this text]::' \
        '*--help=[this text]::' \
        '*--since=[show the change against this earlier one too]:PASSPORT:' \
        '*:file:_files'
      ;;
    new)
      _arguments -s -S \
        '*-h+[this text]::' \
        '*--help=[this text]::' \
        '*--namespace=[namespace of the family'\''s C++ code, such as acme\:\:linear_algebra; default\: lockstep]:NAMESPACE:'
      ;;
    completion)
      _arguments -s -S \
        '*-h+[this text]::' \
        '*--help=[this text]::' \
        '1:word:(bash zsh)'
      ;;
  esac
}
_lockstep "$@"
