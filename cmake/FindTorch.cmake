# libtorch: its own CMake package where there is one (Debian's libtorch-dev, or CMAKE_PREFIX_PATH), else the one in the
# PyTorch of the active python3 or of scripts/libtorch_setup.sh. HEADWAY_TORCH_FOLDER names the folder of a torch package
# that is to be taken instead. TORCH_LIBRARIES is what to link.
set(HEADWAY_TORCH_FOLDER "" CACHE PATH "folder of the Python package torch to take libtorch from")
if(NOT HEADWAY_TORCH_FOLDER)
  find_package(Torch CONFIG QUIET)
endif()

if(NOT Torch_FOUND)
  set(Torch_FOLDER "${HEADWAY_TORCH_FOLDER}")
  find_program(HEADWAY_PYTHON NAMES python3)
  set(script ${CMAKE_CURRENT_LIST_DIR}/../scripts/libtorch_setup.sh)
  if(NOT Torch_FOLDER AND EXISTS ${script})
    execute_process(COMMAND ${script} --where OUTPUT_VARIABLE Torch_FOLDER OUTPUT_STRIP_TRAILING_WHITESPACE)
  elseif(NOT Torch_FOLDER AND HEADWAY_PYTHON)  # installed: without our scripts
    execute_process(COMMAND ${HEADWAY_PYTHON} -c
      "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
      OUTPUT_VARIABLE Torch_FOLDER OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
  if(NOT EXISTS "${Torch_FOLDER}/lib/libtorch.so")
    string(JOIN " " message
      "No libtorch: neither its CMake package (libtorch-dev; -DCMAKE_PREFIX_PATH=/path/to/libtorch) nor a PyTorch"
      "('${Torch_FOLDER}' has no lib/libtorch.so). `make setup` installs it where it can. Without training:"
      "-DHEADWAY_TRAIN=OFF.")
    message(FATAL_ERROR "${message}")
  endif()
  file(STRINGS ${Torch_FOLDER}/lib/libc10.so new_abi REGEX "__cxx11" LIMIT_COUNT 1)
  if(NOT new_abi)
    message(FATAL_ERROR "The libtorch in ${Torch_FOLDER} was built for the C++ ABI of before 2015, which fits no other "
                        "library here. Take PyTorch 2.7 or newer.")
  endif()
  file(STRINGS ${Torch_FOLDER}/version.py Torch_VERSION REGEX "^__version__")
  string(REGEX REPLACE ".*'(.*)'.*" "\\1" Torch_VERSION "${Torch_VERSION}")
  if(NOT TARGET torch)
    # As one flag: by names CMake would warn of libgomp, which PyTorch brings, too. CUDA's libraries lie where its own
    # libraries find them, not the linker. libstdc++ comes first: PyTorch's libraries bring a std::filesystem of another
    # compiler along, and a program that finds that one crashes when it removes a folder.
    set(lib ${Torch_FOLDER}/lib)
    add_library(torch INTERFACE IMPORTED)
    set_target_properties(torch PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${Torch_FOLDER}/include;${Torch_FOLDER}/include/torch/csrc/api/include"
      INTERFACE_LINK_OPTIONS "LINKER:--allow-shlib-undefined;LINKER:-rpath,${lib}"
      INTERFACE_LINK_LIBRARIES "-Wl,--no-as-needed,-lstdc++,${lib}/libtorch.so,--as-needed,${lib}/libtorch_cpu.so,${lib}/libc10.so")
  endif()
  set(TORCH_LIBRARIES torch)
  set(Torch_FOUND TRUE)
endif()
