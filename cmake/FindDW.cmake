# elfutils' libdw: DW::DW. Debian ships no CMake package for it.
find_path(DW_INCLUDE_DIR elfutils/libdwfl.h)
find_library(DW_LIBRARY dw)
mark_as_advanced(DW_INCLUDE_DIR DW_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(DW REQUIRED_VARS DW_LIBRARY DW_INCLUDE_DIR)

if(DW_FOUND AND NOT TARGET DW::DW)
  add_library(DW::DW UNKNOWN IMPORTED)
  set_target_properties(DW::DW PROPERTIES
    IMPORTED_LOCATION ${DW_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${DW_INCLUDE_DIR})
endif()
