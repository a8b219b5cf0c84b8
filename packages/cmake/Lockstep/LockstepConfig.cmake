# find_package(Lockstep): tests of CUDA programs on the simulated GPU, and kernel families judged by
# the harness.
#
#   Lockstep::lockstep   the command
#   Lockstep::cudart     the simulated GPU as a library, in place of CUDA::cudart
#   Lockstep::cublas, cublasLt, cufft, curand   NVIDIA's libraries that have a simulated one
#   Lockstep::harness    the conformance harness, with main(); link it into a program with a CUDA
#                        runtime
#
#   lockstep_add_test, lockstep_emulate, lockstep_add_family, lockstep_conformance
#                      (LockstepTest.cmake, LockstepFamily.cmake)
#
#   LOCKSTEP_GPU_TESTS   whether tests for a GPU are made too: AUTO (default: if there is a GPU),
#                        ON, OFF

# /lib may be a link to /usr/lib
get_filename_component(LOCKSTEP_PREFIX "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
get_filename_component(LOCKSTEP_PREFIX "${LOCKSTEP_PREFIX}/../../.." ABSOLUTE)
set(LOCKSTEP_VERSION "@VERSION@")
set(LOCKSTEP_LIBRARY_DIR "${LOCKSTEP_PREFIX}/lib/lockstep")
set(LOCKSTEP_EXECUTABLE "${LOCKSTEP_PREFIX}/bin/lockstep")

foreach(_lockstep_file IN ITEMS
        bin/lockstep lib/lockstep/libcudart.so.13 lib/lockstep/liblockstep_harness.a)
  if(NOT EXISTS "${LOCKSTEP_PREFIX}/${_lockstep_file}")
    set(Lockstep_FOUND FALSE)
    set(Lockstep_NOT_FOUND_MESSAGE
        "${LOCKSTEP_PREFIX}/${_lockstep_file} is missing: the package is not whole")
    return()
  endif()
endforeach()
unset(_lockstep_file)

include(CMakeFindDependencyMacro)
find_dependency(Threads)

if(NOT TARGET Lockstep::lockstep)
  add_executable(Lockstep::lockstep IMPORTED)
  set_target_properties(Lockstep::lockstep PROPERTIES IMPORTED_LOCATION "${LOCKSTEP_EXECUTABLE}")

  add_library(Lockstep::cudart SHARED IMPORTED)
  set_target_properties(
    Lockstep::cudart PROPERTIES IMPORTED_LOCATION "${LOCKSTEP_LIBRARY_DIR}/libcudart.so.13"
                                IMPORTED_SONAME libcudart.so.13)

  foreach(_lockstep_library IN ITEMS cublas.so.13 cublasLt.so.13 cufft.so.12 curand.so.10)
    string(REGEX REPLACE "\\..*" "" _lockstep_name "${_lockstep_library}")
    add_library(Lockstep::${_lockstep_name} SHARED IMPORTED)
    set_target_properties(
      Lockstep::${_lockstep_name}
      PROPERTIES IMPORTED_LOCATION "${LOCKSTEP_LIBRARY_DIR}/lib${_lockstep_library}"
                 IMPORTED_SONAME lib${_lockstep_library}
                 INTERFACE_LINK_LIBRARIES Lockstep::cudart)
  endforeach()
  unset(_lockstep_library)
  unset(_lockstep_name)

  # GoogleTest, Eigen and fmt are included, because the harness's headers need them.
  add_library(Lockstep::harness STATIC IMPORTED)
  set_target_properties(
    Lockstep::harness PROPERTIES IMPORTED_LOCATION "${LOCKSTEP_LIBRARY_DIR}/liblockstep_harness.a"
                                 IMPORTED_LINK_INTERFACE_LANGUAGES CXX)
  target_include_directories(
    Lockstep::harness SYSTEM
    INTERFACE "${LOCKSTEP_PREFIX}/include/lockstep"
              "${LOCKSTEP_PREFIX}/include/lockstep/third_party/eigen"
              "${LOCKSTEP_PREFIX}/include/lockstep/third_party/fmt"
              "${LOCKSTEP_PREFIX}/include/lockstep/third_party/googletest"
              "${LOCKSTEP_PREFIX}/include/lockstep/third_party/rapidcheck")
  target_compile_features(Lockstep::harness INTERFACE cxx_std_20)
  target_link_libraries(Lockstep::harness INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
endif()

include("${CMAKE_CURRENT_LIST_DIR}/LockstepTest.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/LockstepFamily.cmake")
