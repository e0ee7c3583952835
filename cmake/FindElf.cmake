# libelf of elfutils: Elf::elf. Debian ships no CMake package for it.
find_path(ELF_INCLUDE_DIR gelf.h)
find_library(ELF_LIBRARY elf)
mark_as_advanced(ELF_INCLUDE_DIR ELF_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Elf REQUIRED_VARS ELF_LIBRARY ELF_INCLUDE_DIR)

if(Elf_FOUND AND NOT TARGET Elf::elf)
  add_library(Elf::elf UNKNOWN IMPORTED)
  set_target_properties(Elf::elf PROPERTIES
    IMPORTED_LOCATION ${ELF_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${ELF_INCLUDE_DIR})
endif()
