# cmake -DBUILD=<build tree> -DCOMPILER=... -DGENERATOR=... -P install_test.cmake
# Installs the build tree into a fresh prefix, builds the consumer against it alone, runs it.
set(prefix ${BUILD}/install_test/prefix)
set(work ${BUILD}/install_test/consumer)
file(REMOVE_RECURSE ${BUILD}/install_test)

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
foreach(help man/man1/headway.1 man/man1/headway-bench-feed.1 bash-completion/completions/headway
             zsh/site-functions/_headway fish/vendor_completions.d/headway.fish)
  if(NOT EXISTS ${prefix}/share/${help})
    message(FATAL_ERROR "not installed: share/${help}")
  endif()
endforeach()
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${work} -G ${GENERATOR}
  -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${COMPILER} -DTRAIN=${TRAIN})
run(${CMAKE_COMMAND} --build ${work})
run(${work}/consumer)
if(TRAIN)
  run(${work}/learner)
endif()
