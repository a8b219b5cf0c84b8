# Tests of programs that do not depend on Lockstep.
include_guard(GLOBAL)

set(LOCKSTEP_GPU_TESTS
    AUTO
    CACHE STRING "Whether lockstep_add_test makes tests for GPUs too: AUTO (where one is), ON, OFF")
set_property(CACHE LOCKSTEP_GPU_TESTS PROPERTY STRINGS AUTO ON OFF)

# Sets `out` to whether tests for a GPU are wanted.
function(_lockstep_wants_gpu out)
  string(TOUPPER "${LOCKSTEP_GPU_TESTS}" wanted)
  if(NOT wanted MATCHES "^(AUTO|ON|OFF|TRUE|FALSE|YES|NO|1|0)$")
    message(FATAL_ERROR "LOCKSTEP_GPU_TESTS is '${LOCKSTEP_GPU_TESTS}'; it may be AUTO, ON or OFF")
  endif()
  if(wanted STREQUAL "AUTO")
    if(EXISTS /dev/nvidiactl OR EXISTS /dev/dxg)
      set(${out} TRUE PARENT_SCOPE)
    else()
      set(${out} FALSE PARENT_SCOPE)
    endif()
  elseif(LOCKSTEP_GPU_TESTS)
    set(${out} TRUE PARENT_SCOPE)
  else()
    set(${out} FALSE PARENT_SCOPE)
  endif()
endfunction()

# Stops if `function` was called with unknown arguments, or with a keyword without a value.
function(_lockstep_no_others function unknown without_value)
  if(NOT unknown STREQUAL "")
    message(FATAL_ERROR "${function} does not know: ${unknown}")
  endif()
  if(NOT without_value STREQUAL "")
    message(FATAL_ERROR "${function}: no value is given for ${without_value}")
  endif()
endfunction()

# Sets `out` to the command that runs a program on the simulated GPU, up to the program. `function`
# is the function whose arguments these are. Runs `lockstep exec` to check them, so that a misspelt
# check or device is an error when CMake configures, and not when the test runs.
function(_lockstep_exec function out)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "DEVICE;REPORT" "CHECKS;OPTIONS")
  _lockstep_no_others("${function}" "${arg_UNPARSED_ARGUMENTS}" "${arg_KEYWORDS_MISSING_VALUES}")
  set(command "${LOCKSTEP_EXECUTABLE}" exec)
  if(arg_CHECKS)
    list(JOIN arg_CHECKS "," checks)
    list(APPEND command "--check=${checks}")
  endif()
  if(arg_DEVICE)
    list(APPEND command "--device=${arg_DEVICE}")
  endif()
  if(arg_REPORT)
    list(APPEND command "--report=${arg_REPORT}")
  endif()
  # The value of a generator expression is not known yet.
  set(known ${command})
  list(FILTER known EXCLUDE REGEX "\\$<")
  if(NOT arg_OPTIONS MATCHES "\\$<")
    list(APPEND known ${arg_OPTIONS})
  endif()
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E env LOCKSTEP_PARSE_ONLY=1 ${known} -- program
    RESULT_VARIABLE refused
    ERROR_VARIABLE sentence
    OUTPUT_QUIET)
  if(refused)
    message(FATAL_ERROR "${function}: ${sentence}")
  endif()
  set(${out} ${command} ${arg_OPTIONS} -- PARENT_SCOPE)
endfunction()

# lockstep_add_test(NAME name TARGET target [CHECKS check...] [DEVICE sm_90] [REPORT file]
#                   [OPTIONS option...] [ARGS argument...]
#                   [LABELS label...] [TIMEOUT seconds] [WITHOUT_KERNELS])
#
# Adds the test `name`, labelled `lockstep`: the program `target` under `lockstep exec`. The test
# fails if there are findings or if the program fails. A run without a kernel has checked nothing
# and fails too, unless WITHOUT_KERNELS is given. CHECKS are those of `lockstep exec --check`, by
# default all. REPORT is a .json or .sarif file. OPTIONS are further options of `lockstep exec`. An
# unknown name is an error when CMake configures.
#
# If there is a GPU (LOCKSTEP_GPU_TESTS), also adds the test `name`.gpu, labelled `gpu`, which runs
# the program without Lockstep. `ctest -L lockstep` and `-L gpu` select the two kinds. Tests on a
# GPU run one after the other.
function(lockstep_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "WITHOUT_KERNELS" "NAME;TARGET;DEVICE;REPORT;TIMEOUT"
                        "CHECKS;OPTIONS;ARGS;LABELS")
  _lockstep_no_others(lockstep_add_test "${arg_UNPARSED_ARGUMENTS}"
                      "${arg_KEYWORDS_MISSING_VALUES}")
  if("${arg_NAME}" STREQUAL "" OR "${arg_TARGET}" STREQUAL "")  # a test may be cancelled
    message(FATAL_ERROR "lockstep_add_test needs NAME and TARGET")
  endif()
  if(NOT TARGET "${arg_TARGET}")
    message(FATAL_ERROR "lockstep_add_test(NAME ${arg_NAME}): there is no target '${arg_TARGET}'")
  endif()
  if(NOT arg_WITHOUT_KERNELS)
    list(APPEND arg_OPTIONS --require-kernels)
  endif()
  if(arg_TIMEOUT AND NOT arg_TIMEOUT MATCHES "^[0-9]+(\\.[0-9]+)?$")
    message(FATAL_ERROR
            "lockstep_add_test(NAME ${arg_NAME}): TIMEOUT ${arg_TIMEOUT} is no number of seconds")
  endif()
  set(arguments "")
  foreach(keyword IN ITEMS CHECKS DEVICE REPORT OPTIONS)
    if(NOT "${arg_${keyword}}" STREQUAL "")
      list(APPEND arguments ${keyword} ${arg_${keyword}})
    endif()
  endforeach()
  _lockstep_exec("lockstep_add_test(NAME ${arg_NAME})" command ${arguments})
  add_test(NAME "${arg_NAME}" COMMAND ${command} "$<TARGET_FILE:${arg_TARGET}>" ${arg_ARGS})
  set_tests_properties("${arg_NAME}" PROPERTIES LABELS "lockstep;${arg_LABELS}")
  set(tests "${arg_NAME}")
  _lockstep_wants_gpu(gpu)
  if(gpu)
    add_test(NAME "${arg_NAME}.gpu" COMMAND "$<TARGET_FILE:${arg_TARGET}>" ${arg_ARGS})
    set_tests_properties("${arg_NAME}.gpu" PROPERTIES LABELS "gpu;${arg_LABELS}"
                         RESOURCE_LOCK gpu ENVIRONMENT LOCKSTEP_GPU=required)
    list(APPEND tests "${arg_NAME}.gpu")
  endif()
  if(arg_TIMEOUT)
    set_tests_properties(${tests} PROPERTIES TIMEOUT "${arg_TIMEOUT}")
  endif()
endfunction()

# lockstep_emulate(target [CHECKS check...] [DEVICE sm_90] [OPTIONS option...])
#
# Makes every test of the program `target` run on the simulated GPU: tests by add_test(COMMAND
# target), and those that gtest_discover_tests finds. Call it before these.
function(lockstep_emulate target)
  if(NOT TARGET "${target}")
    message(FATAL_ERROR "lockstep_emulate: there is no target '${target}'")
  endif()
  _lockstep_exec("lockstep_emulate(${target})" command ${ARGN})
  # From CMake 3.29 on, an emulator is used for cross-compilation only; this launches tests.
  if(CMAKE_VERSION VERSION_LESS 3.29)
    set_target_properties("${target}" PROPERTIES CROSSCOMPILING_EMULATOR "${command}")
  else()
    set_target_properties("${target}" PROPERTIES TEST_LAUNCHER "${command}")
  endif()
endfunction()
