# cmake -DSOURCE=<checkout> -DOUT=<file> -P commit.cmake
# Writes the checkout's commit into OUT as a C++ string, and only when it is another one than OUT holds: run at every
# build, it has one small file compiled anew after a commit. "unknown" where there is no git, or SOURCE is a folder inside
# somebody else's checkout.
function(git result)
  execute_process(COMMAND git -c safe.directory=* -C ${SOURCE} ${ARGN}
    OUTPUT_VARIABLE out ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    set(out "")
  endif()
  set(${result} "${out}" PARENT_SCOPE)
endfunction()

set(commit unknown)
git(top rev-parse --show-toplevel)
file(REAL_PATH ${SOURCE} source)
if(top STREQUAL source)
  git(commit rev-parse --short=12 HEAD)
  git(changes status --porcelain --untracked-files=no)
  if(NOT changes STREQUAL "")
    string(APPEND commit " with changes")
  endif()
endif()

set(held "")
if(EXISTS ${OUT})
  file(READ ${OUT} held)
endif()
if(NOT held STREQUAL "\"${commit}\"\n")
  file(WRITE ${OUT} "\"${commit}\"\n")
endif()
