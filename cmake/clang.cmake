# The newest clang++ here (scripts/setup.sh installs the release's); the variable CLANG in the environment takes a number.
if(NOT CMAKE_CXX_COMPILER)
  execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../scripts/llvm_tool.sh clang++
    OUTPUT_VARIABLE compiler OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(CMAKE_CXX_COMPILER ${compiler} CACHE FILEPATH "the newest clang++")
endif()
