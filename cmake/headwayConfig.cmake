# find_package(headway) gives the target headway::headway; with COMPONENTS train also headway::train,
# which needs libtorch.
include(${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/headwayTargets.cmake)
if("train" IN_LIST headway_FIND_COMPONENTS)
  find_dependency(Torch)
  find_dependency(OpenMP COMPONENTS CXX)
  include(${CMAKE_CURRENT_LIST_DIR}/headway-train-targets.cmake)
  set(headway_train_FOUND TRUE)
endif()
