# Installs the headers of the build BUILD into a folder of its own and compiles each installed header alone, with the warnings that
# programs ask for: they are shown in a user's own folders too.
include(ProcessorCount)
ProcessorCount(processors)
set(work ${BUILD}/test.install.headers)
file(REMOVE_RECURSE ${work})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --component headers --prefix ${work} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(GLOB_RECURSE headers ${work}/include/*.hpp ${work}/include/*.h)
list(LENGTH headers count)
if(count LESS 100)
  message(FATAL_ERROR "only ${count} headers in ${work}/include")
endif()

list(JOIN headers "\n" lines)
file(WRITE ${work}/headers ${lines})
execute_process(COMMAND xargs -a ${work}/headers -P ${processors} -I "{}"
  ${COMPILER} -x c++ -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -I${work}/include -fsyntax-only -include "{}" /dev/null
  RESULT_VARIABLE status ERROR_VARIABLE told)
if(NOT status EQUAL 0)
  string(REGEX MATCHALL "[^\n]*error: [^\n]*" errors "${told}")
  list(JOIN errors "\n" errors)
  message(FATAL_ERROR "alone they do not compile:\n${errors}")
endif()
message(STATUS "${count} headers compile alone")
