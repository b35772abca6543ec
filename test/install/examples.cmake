# The examples over an installed Polder.
include(${CMAKE_CURRENT_LIST_DIR}/installed.cmake)
installed(examples)
built_and_run(${SOURCE}/examples)
