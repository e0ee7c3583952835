# `cmake --install`: the rooms as static libraries, the public headers, and a package for find_package.
include(CMakePackageConfigHelpers)
include(${CMAKE_CURRENT_LIST_DIR}/public_headers.cmake)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/headway)

install(TARGETS headway EXPORT headwayTargets)
foreach(header ${HEADWAY_PUBLIC_HEADERS})
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()
install(EXPORT headwayTargets NAMESPACE headway:: DESTINATION ${package_dir})
if(TARGET headway_train)
  install(EXPORT headway-train-targets NAMESPACE headway:: DESTINATION ${package_dir})
endif()
write_basic_package_version_file(${PROJECT_BINARY_DIR}/headwayConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  cmake/headwayConfig.cmake
  cmake/dependencies.cmake
  cmake/FindISAL.cmake
  cmake/FindDeflate.cmake
  cmake/FindDW.cmake
  cmake/FindTorch.cmake
  ${PROJECT_BINARY_DIR}/headwayConfigVersion.cmake
  DESTINATION ${package_dir})
foreach(program headway_cli headway_train_cli)
  if(TARGET ${program})
    install(TARGETS ${program})
  endif()
endforeach()
