# Kernel families: a kernel with its contract, a reference, laws, and mutants that the laws must
# reject (`lockstep new`).
include_guard(GLOBAL)

# A program of the harness as tests: on the simulated GPU and, where there is one, on a GPU.
function(_lockstep_add_suite name target)
  # Two devices, so that what a launcher keeps from one to the next shows.
  add_test(NAME "${name}" COMMAND "${target}")
  set(environment "LD_LIBRARY_PATH=${LOCKSTEP_LIBRARY_DIR}" LOCKSTEP_DEVICES=2
                  LOCKSTEP_EXPECT_KERNELS=1 LOCKSTEP_GPU=simulated)
  set_tests_properties("${name}" PROPERTIES LABELS lockstep ENVIRONMENT "${environment}")
  _lockstep_wants_gpu(gpu)
  if(gpu)
    add_test(NAME "${name}.gpu" COMMAND "${target}")
    set_tests_properties("${name}.gpu" PROPERTIES LABELS gpu RESOURCE_LOCK gpu
                         ENVIRONMENT "LOCKSTEP_EXPECT_KERNELS=1;LOCKSTEP_GPU=required")
  endif()
endfunction()

# lockstep_add_suite(NAME name TARGET target)
#
# Adds the test `name` of a program that links Lockstep::harness, and remembers it as a suite for
# lockstep_conformance. It must be linked with the shared CUDA runtime (CUDA_RUNTIME_LIBRARY
# Shared), which the simulated one stands in for.
function(lockstep_add_suite)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;TARGET" "")
  if(arg_UNPARSED_ARGUMENTS
     OR "${arg_NAME}" STREQUAL ""
     OR "${arg_TARGET}" STREQUAL "")
    message(FATAL_ERROR "lockstep_add_suite needs NAME and TARGET, and nothing else: ${ARGN}")
  endif()
  if(NOT TARGET "${arg_TARGET}")
    message(FATAL_ERROR "lockstep_add_suite(NAME ${arg_NAME}): there is no target '${arg_TARGET}'")
  endif()
  _lockstep_add_suite("${arg_NAME}" "${arg_TARGET}")
  string(REGEX REPLACE "_test$" "" suite "${arg_NAME}")
  set_property(GLOBAL APPEND PROPERTY LOCKSTEP_SUITES
               "${suite}\t$<TARGET_FILE:${arg_TARGET}>\t${arg_NAME}")
endfunction()

# lockstep_add_family(name)
#
# The family that `lockstep new name` has made in this folder: the library `name`, its suite
# `name`_test, and `name`_known_bad_test, which runs the laws on mutants and negative controls.
function(lockstep_add_family name)
  if(ARGN)
    message(FATAL_ERROR "lockstep_add_family needs the name of the family alone: ${ARGN}")
  endif()
  add_library(${name} STATIC kernels/${name}.cu)
  add_library(${name}_properties STATIC reference/${name}.cc properties/${name}.cc)
  add_executable(${name}_test tests/${name}_test.cc)
  add_executable(${name}_known_bad_test tests/known_bad/${name}.cu tests/known_bad/${name}_test.cc)
  foreach(target IN ITEMS ${name} ${name}_properties ${name}_test ${name}_known_bad_test)
    target_include_directories(${target} PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}"
                               ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
    # References and generators compute a lot per case.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O2>
                           $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>)
    # A program finds the toolkit's runtime where no ld.so.conf names its folder: started by hand,
    # and when its tests are listed.
    set_target_properties(
      ${target}
      PROPERTIES BUILD_RPATH "${CMAKE_CUDA_IMPLICIT_LINK_DIRECTORIES}"
                 CUDA_RUNTIME_LIBRARY Shared
                 CUDA_STANDARD 17
                 LINKER_LANGUAGE CUDA)
  endforeach()
  target_include_directories(${name} SYSTEM PUBLIC "${LOCKSTEP_PREFIX}/include/lockstep")
  target_link_libraries(${name}_properties PUBLIC Lockstep::harness)
  foreach(program IN ITEMS ${name}_test ${name}_known_bad_test)
    target_link_libraries(${program} PRIVATE ${name}_properties ${name} Lockstep::harness)
  endforeach()
  lockstep_add_suite(NAME ${name}_test TARGET ${name}_test)
  _lockstep_add_suite(${name}_known_bad_test ${name}_known_bad_test)
endfunction()

# lockstep_conformance(target)
#
# Call it once, after all suites have been added, at the end of the top folder: a target that builds
# all suites and runs them, each in a process of its own, and leaves passport.json, report.html and
# junit.xml in `target`/ of the build folder. On a GPU: cmake --build . --target `target`_gpu.
# `lockstep run` finds the target by its list of suites, and builds `target`_suites.
function(lockstep_conformance target)
  if(ARGN)
    message(FATAL_ERROR "lockstep_conformance needs the name of the target alone: ${ARGN}")
  endif()
  get_property(suites GLOBAL PROPERTY LOCKSTEP_SUITES)
  if(NOT suites)
    message(FATAL_ERROR "lockstep_conformance: no suite was added before")
  endif()
  list(JOIN suites "\n" lines)
  set(manifest "${CMAKE_BINARY_DIR}/lockstep-suites/${target}.tsv")
  file(GENERATE OUTPUT "${manifest}" CONTENT "${lines}\n")
  string(REGEX MATCHALL "TARGET_FILE:[^>]*" programs "${lines}")
  list(TRANSFORM programs REPLACE "TARGET_FILE:" "")
  add_custom_target(${target}_suites)
  add_dependencies(${target}_suites ${programs})
  foreach(device IN ITEMS simulator gpu)
    if(device STREQUAL "gpu")
      set(name ${target}_gpu)
    else()
      set(name ${target})
    endif()
    add_custom_target(
      ${name}
      COMMAND "${LOCKSTEP_EXECUTABLE}" run "--manifest=${manifest}" "--device=${device}"
              "--out=${CMAKE_CURRENT_BINARY_DIR}/${name}"
      DEPENDS ${programs}
      WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
      USES_TERMINAL VERBATIM)
  endforeach()
endfunction()
