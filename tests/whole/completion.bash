# Completions of lockstep for bash, made by `lockstep completion bash`.
_lockstep() {
  local now=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local command=${COMP_WORDS[1]} kind='' words='' options='' i
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W 'run list exec counters coverage mutate judge compare inspect diff report new completion --prefix --help --version' -- "$now")
    return
  fi
  # After -- comes a program, with words of its own.
  for ((i = 2; i < COMP_CWORD; ++i)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then
      mapfile -t COMPREPLY < <(compgen -f -- "$now")
      return
    fi
  done
  # The shell takes --option=value for three words.
  if [[ $now == = ]]; then
    now=''
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case $command in
    run)
      options='-h --help= --suite= -k --lf= --last-failed= --case= -x --stop= --quick= --scale= --cases= --seed= --random-seed= --repeat= --device= --sanitizer= --jobs= --time-limit= --property-limit= --out= --target= --manifest= --config='
      case $before in
        -h) words='' ;;
        --help) words='' ;;
        --suite) words='' ;;
        -k) words='' ;;
        --lf) words='' ;;
        --last-failed) words='' ;;
        --case) words='' ;;
        -x) words='' ;;
        --stop) words='' ;;
        --quick) words='' ;;
        --scale) words='' ;;
        --cases) words='' ;;
        --seed) words='' ;;
        --random-seed) words='' ;;
        --repeat) words='' ;;
        --device) words='sm_75 sm_80 sm_89 sm_90 sm_100 sm_103 sm_110 sm_120 sm_121 simulator gpu all 0' ;;
        --sanitizer) words='memcheck racecheck initcheck synccheck' ;;
        --jobs) words='' ;;
        --time-limit) words='' ;;
        --property-limit) words='' ;;
        --out) kind=-d ;;
        --target) words='' ;;
        --manifest) kind=-f ;;
        --config) kind=-f ;;
      esac
      ;;
    list)
      options='-h --help= --suite= -k --names= --target= --manifest= --config='
      case $before in
        -h) words='' ;;
        --help) words='' ;;
        --suite) words='' ;;
        -k) words='' ;;
        --names) words='' ;;
        --target) words='' ;;
        --manifest) kind=-f ;;
        --config) kind=-f ;;
      esac
      ;;
    exec)
      options='-h --help= --report= --source-root= --annotations= --quiet= --stop= --require-kernels= --write-suppressions= --certificate= --profile= --watch= --watch-file= --config= --check= --device= --devices= --memory= --schedule= --threads= --instruction-limit= --suppressions='
      case $before in
        -h) words='' ;;
        --help) words='' ;;
        --report) kind=-f ;;
        --source-root) kind=-d ;;
        --annotations) words='github lines none' ;;
        --quiet) words='' ;;
        --stop) words='' ;;
        --require-kernels) words='' ;;
        --write-suppressions) kind=-f ;;
        --certificate) kind=-f ;;
        --profile) words='' ;;
        --watch) words='' ;;
        --watch-file) kind=-f ;;
        --config) kind=-f ;;
        --check) words='all none bounds initialisation races synchronisation leaks strict-barriers strict-libraries strict-proxies strict-writes' ;;
        --device) words='sm_75 sm_80 sm_89 sm_90 sm_100 sm_103 sm_110 sm_120 sm_121' ;;
        --devices) words='' ;;
        --memory) words='' ;;
        --schedule) words='' ;;
        --threads) words='' ;;
        --instruction-limit) words='' ;;
        --suppressions) kind=-f ;;
      esac
      ;;
    counters)
      options='-h --help= --report= --source-root= --annotations= --quiet= --stop= --require-kernels= --write-suppressions= --certificate= --profile= --watch= --watch-file= --config= --check= --device= --devices= --memory= --schedule= --threads= --instruction-limit= --suppressions='
      case $before in
        -h) words='' ;;
        --help) words='' ;;
        --report) kind=-f ;;
        --source-root) kind=-d ;;
        --annotations) words='github lines none' ;;
        --quiet) words='' ;;
        --stop) words='' ;;
        --require-kernels) words='' ;;
        --write-suppressions) kind=-f ;;
        --certificate) kind=-f ;;
        --profile) words='' ;;
        --watch) words='' ;;
        --watch-file) kind=-f ;;
        --config) kind=-f ;;
        --check) words='all none bounds initialisation races synchronisation leaks strict-barriers strict-libraries strict-proxies strict-writes' ;;
        --device) words='sm_75 sm_80 sm_89 sm_90 sm_100 sm_103 sm_110 sm_120 sm_121' ;;
        --devices) words='' ;;
        --memory) words='' ;;
        --schedule) words='' ;;
        --threads) words='' ;;
        --instruction-limit) words='' ;;
        --suppressions) kind=-f ;;
      esac
      ;;
    coverage)
      options='-h --help= --out= --text= --only= --toolkit= --source-root= --quiet= --config= --check= --device= --devices= --memory= --schedule= --threads= --instruction-limit= --suppressions='
      case $before in
        -h) words='' ;;
        --help) words='' ;;
        --out) kind=-f ;;
        --text) kind=-f ;;
        --only) words='' ;;
        --toolkit) words='' ;;
        --source-root) kind=-d ;;
        --quiet) words='' ;;
        --config) kind=-f ;;
        --check) words='all none bounds initialisation races synchronisation leaks strict-barriers strict-libraries strict-proxies strict-writes' ;;
        --device) words='sm_75 sm_80 sm_89 sm_90 sm_100 sm_103 sm_110 sm_120 sm_121' ;;
        --devices) words='' ;;
        --memory) words='' ;;
        --schedule) words='' ;;
        --threads) words='' ;;
        --instruction-limit) words='' ;;
        --suppressions) kind=-f ;;
      esac
      ;;
    mutate)
      options='-h --help= --mutants= --seed= --operators= --jobs= --out= --fail-under= --files= --callers= --equivalents= --first= --sources= --resume= --trust-equivalents= --whole-runs= --config='
      case $before in
        -h) words='' ;;
        --help) words='' ;;
        --mutants) words='' ;;
        --seed) words='' ;;
        --operators) words='' ;;
        --jobs) words='' ;;
        --out) kind=-d ;;
        --fail-under) words='' ;;
        --files) words='' ;;
        --callers) words='' ;;
        --equivalents) kind=-f ;;
        --first) words='' ;;
        --sources) kind=-d ;;
        --resume) words='' ;;
        --trust-equivalents) words='' ;;
        --whole-runs) words='' ;;
        --config) kind=-f ;;
      esac
      ;;
    judge)
      options='-h --help= --task= --entry= --cases= --seed= --device= --json= --html= --time-limit= --memory-limit= --isolation= --config='
      kind=-f
      case $before in
        -h) words='' ;;
        --help) words='' ;;
        --task) kind=-f ;;
        --entry) words='' ;;
        --cases) words='' ;;
        --seed) words='' ;;
        --device) words='sm_75 sm_80 sm_89 sm_90 sm_100 sm_103 sm_110 sm_120 sm_121' ;;
        --json) kind=-f ;;
        --html) kind=-f ;;
        --time-limit) words='' ;;
        --memory-limit) words='' ;;
        --isolation) words='full off' ;;
        --config) kind=-f ;;
      esac
      ;;
    compare)
      options='-h --help= --task= --entry= --cases= --seed= --device= --json= --html= --time-limit= --memory-limit= --isolation= --config='
      kind=-f
      case $before in
        -h) words='' ;;
        --help) words='' ;;
        --task) kind=-f ;;
        --entry) words='' ;;
        --cases) words='' ;;
        --seed) words='' ;;
        --device) words='sm_75 sm_80 sm_89 sm_90 sm_100 sm_103 sm_110 sm_120 sm_121' ;;
        --json) kind=-f ;;
        --html) kind=-f ;;
        --time-limit) words='' ;;
        --memory-limit) words='' ;;
        --isolation) words='full off' ;;
        --config) kind=-f ;;
      esac
      ;;
    inspect)
      options='-h --help='
      kind=-f
      case $before in
        -h) words='' ;;
        --help) words='' ;;
      esac
      ;;
    diff)
      options='-h --help='
      kind=-f
      case $before in
        -h) words='' ;;
        --help) words='' ;;
      esac
      ;;
    report)
      options='-h --help= --since='
      kind=-f
      case $before in
        -h) words='' ;;
        --help) words='' ;;
        --since) words='' ;;
      esac
      ;;
    new)
      options='-h --help= --namespace='
      case $before in
        -h) words='' ;;
        --help) words='' ;;
        --namespace) words='' ;;
      esac
      ;;
    completion)
      options='-h --help='
      words='bash zsh'
      case $before in
        -h) words='' ;;
        --help) words='' ;;
      esac
      ;;
  esac
  if [[ $now == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$now")
    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2> /dev/null
  elif [[ $kind ]]; then
    mapfile -t COMPREPLY < <(compgen "$kind" -- "$now")
  else
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$now")
  fi
}
complete -o filenames -o bashdefault -F _lockstep lockstep ./lockstep
