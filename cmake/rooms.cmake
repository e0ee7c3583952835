# The vocabulary of the room files.
#
#   headway_room(NAME [APART] [TOGETHER] SOURCES ... [TESTS ...] [USES ...] [PRIVATE_USES ...])
#       static library headway_<name>, installed as headway::<name>, and test program <name>_test;
#       USES and PRIVATE_USES are rooms (headway_core) and libraries (fmt::fmt). APART: not part of
#       headway::headway, for a room that brings something heavy. TOGETHER: its sources may become one where
#       HEADWAY_TOGETHER says so: no two of them use one name in their unnamed namespaces.
#   headway_program(NAME SOURCES ... [USES ...])
#       a program linked with the whole library.
#   headway_example(NAME [TRAIN])
#       examples/<name>.cpp: a program, and a test that runs it and wants exit status 0. TRAIN: it
#       trains, and is left out where the room train is.

include(${PROJECT_SOURCE_DIR}/cmake/missing.cmake)

# The dependency list is written as a package's: tell it that here everything is required.
set(CMAKE_FIND_PACKAGE_NAME headway)
set(headway_FIND_REQUIRED TRUE)
include(${PROJECT_SOURCE_DIR}/cmake/dependencies.cmake)
unset(CMAKE_FIND_PACKAGE_NAME)

# Read by our sources, seen by nobody who links with us.
find_package(nlohmann_json REQUIRED)
if(HEADWAY_CLI OR HEADWAY_BENCH OR HEADWAY_FUZZ)
  find_package(CLI11 REQUIRED)
endif()

if(HEADWAY_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

# Several sources become one, and what most of them include is compiled once: a build from nothing takes half the time.
# What runs is the same. Everyday work goes without (preset dev): there each source must include what it uses, and a
# change compiles one of them.
option(HEADWAY_TOGETHER "compile sources together and with precompiled headers" OFF)

# g++ 12 sees overlaps in its own std::string (GCC bug 105329), and members without a value in
# options written in place.
set(HEADWAY_WARNINGS -Wall -Wextra $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict$<SEMICOLON>-Wno-maybe-uninitialized>)
if(HEADWAY_TOGETHER)  # with a precompiled <string> it sees overflows there, too; what is included is no header here
  list(APPEND HEADWAY_WARNINGS $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds$<SEMICOLON>-Wno-stringop-overflow$<SEMICOLON>-Wno-stringop-overread$<SEMICOLON>-Wno-subobject-linkage>)
endif()

set(HEADWAY_COMMON_HEADERS <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <cstring> <filesystem> <fmt/format.h>
  <fstream> <functional> <map> <memory> <mutex> <optional> <set> <span> <string> <string_view> <thread> <utility> <vector>)

if(HEADWAY_TOGETHER)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/common_headers.cpp CONTENT "")
  add_library(headway_common_headers OBJECT ${PROJECT_BINARY_DIR}/common_headers.cpp)
  target_compile_features(headway_common_headers PUBLIC cxx_std_20)
  target_link_libraries(headway_common_headers PRIVATE fmt::fmt)
  target_compile_options(headway_common_headers PRIVATE ${HEADWAY_WARNINGS} -fpch-preprocess)
  target_precompile_headers(headway_common_headers PRIVATE ${HEADWAY_COMMON_HEADERS})
endif()

function(headway_room NAME)
  cmake_parse_arguments(ARG "APART;TOGETHER" "" "SOURCES;TESTS;USES;PRIVATE_USES" ${ARGN})
  add_library(headway_${NAME} STATIC ${ARG_SOURCES})
  target_compile_features(headway_${NAME} PUBLIC cxx_std_20)
  target_include_directories(headway_${NAME} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(headway_${NAME} PUBLIC ${ARG_USES} PRIVATE ${ARG_PRIVATE_USES})
  target_compile_options(headway_${NAME} PRIVATE ${HEADWAY_WARNINGS})
  if(HEADWAY_TOGETHER AND ARG_TOGETHER)
    set_target_properties(headway_${NAME} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10)
  endif()
  if(HEADWAY_TOGETHER AND NOT ARG_APART)
    target_compile_options(headway_${NAME} PRIVATE -fpch-preprocess)  # for ccache
    target_precompile_headers(headway_${NAME} REUSE_FROM headway_common_headers)
  endif()
  set_target_properties(headway_${NAME} PROPERTIES EXPORT_NAME ${NAME})
  set(export headwayTargets)
  if(ARG_APART)
    set(export headway-${NAME}-targets)
  endif()
  install(TARGETS headway_${NAME} EXPORT ${export})
  if(NOT ARG_APART)
    target_link_libraries(headway INTERFACE headway_${NAME})
  endif()
  if(ARG_TESTS AND HEADWAY_TESTS)
    headway_test(${NAME}_test SOURCES ${ARG_TESTS} USES headway_${NAME} ${ARG_PRIVATE_USES})
  endif()
endfunction()

# One ctest entry per TEST, so that each is counted, timed and skipped by its own name. They are
# listed when ctest starts, not when the program is built: a sanitizer may be unable to run here.
function(headway_test NAME)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;USES" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  add_executable(${NAME} ${ARG_SOURCES})
  target_link_libraries(${NAME} PRIVATE ${ARG_USES} GTest::gtest_main)
  # Tests are run once: what the optimiser would win is less than it takes.
  target_compile_options(${NAME} PRIVATE ${HEADWAY_WARNINGS} $<$<CONFIG:Release>:-O1>)
  string(REGEX REPLACE "_test$" "" prefix ${NAME})
  gtest_discover_tests(${NAME} TEST_PREFIX ${prefix}. DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 300)
endfunction()

function(headway_program NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES" ${ARGN})
  add_executable(${NAME} ${ARG_SOURCES})
  target_link_libraries(${NAME} PRIVATE headway ${ARG_USES})
  target_compile_options(${NAME} PRIVATE ${HEADWAY_WARNINGS})
endfunction()

function(headway_example NAME)
  cmake_parse_arguments(ARG "TRAIN" "" "" ${ARGN})
  if(ARG_TRAIN AND NOT HEADWAY_TRAIN)
    return()
  endif()
  headway_program(${NAME} SOURCES ${NAME}.cpp USES $<$<BOOL:${ARG_TRAIN}>:headway_train>)
  add_test(NAME example.${NAME} COMMAND ${NAME})
  set_tests_properties(example.${NAME} PROPERTIES LABELS example TIMEOUT 120 SKIP_RETURN_CODE 77)
endfunction()
