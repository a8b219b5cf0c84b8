# Which find_package(Lockstep VERSION) this version satisfies: the same major version and, before
# 1.0, the same minor version.
set(PACKAGE_VERSION "@VERSION@")
string(REGEX MATCH "^(0\\.[0-9]+|[0-9]+)" _lockstep_series "${PACKAGE_VERSION}")
string(REGEX MATCH "^(0\\.[0-9]+|[0-9]+)" _lockstep_wanted "${PACKAGE_FIND_VERSION}")
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
if(PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION
   AND "${_lockstep_wanted}" STREQUAL "${_lockstep_series}")
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
else()
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
endif()
if(NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
  set(PACKAGE_VERSION_UNSUITABLE TRUE)
endif()
unset(_lockstep_series)
unset(_lockstep_wanted)
