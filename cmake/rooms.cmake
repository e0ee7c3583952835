# headway_room(NAME SOURCES ... TESTS ... USES <rooms and libraries>): one static library per room,
# headway_<name>, and one test program per room, <name>_test.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(GTest REQUIRED)

function(headway_room NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;TESTS;USES;PRIVATE_USES" ${ARGN})
  add_library(headway_${NAME} STATIC ${ARG_SOURCES})
  target_include_directories(headway_${NAME} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>)
  target_link_libraries(headway_${NAME} PUBLIC ${ARG_USES} PRIVATE ${ARG_PRIVATE_USES})
  target_compile_options(headway_${NAME} PRIVATE -Wall -Wextra)
  if(ARG_TESTS)
    add_executable(${NAME}_test ${ARG_TESTS})
    target_link_libraries(${NAME}_test PRIVATE headway_${NAME} ${ARG_PRIVATE_USES} GTest::gtest_main)
    target_compile_options(${NAME}_test PRIVATE -Wall -Wextra)
    add_test(NAME ${NAME} COMMAND ${NAME}_test)
  endif()
endfunction()
