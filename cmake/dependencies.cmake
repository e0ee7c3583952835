# What the rooms link. Read by the build and, installed beside it, by headwayConfig.cmake.
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
include(CMakeFindDependencyMacro)

find_dependency(Threads)
find_dependency(fmt)
find_dependency(JPEG)
find_dependency(hwy)
find_dependency(ISAL)
find_dependency(Deflate)
find_dependency(DW)
