# step(COMMAND…): runs it, and ends with what it said if it fails. installed(NAME): installs the build BUILD into the folder `prefix`
# of the empty folder `work`, which is the caller's own.
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE told ERROR_VARIABLE told)
  if(NOT status EQUAL 0)
    string(REPLACE ";" " " words "${ARGN}")
    message(FATAL_ERROR "${words}\n${told}")
  endif()
endfunction()

macro(installed name)
  set(work ${BUILD}/test.install.${name})
  set(prefix ${work}/prefix)
  file(REMOVE_RECURSE ${work})
  step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
endmacro()

# built_and_run(FOLDER): a project over what was installed alone.
function(built_and_run folder)
  step(${CMAKE_COMMAND} -S ${folder} -B ${work}/build -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_CXX_FLAGS=-Wall\ -Wextra\ -Werror)
  step(${CMAKE_COMMAND} --build ${work}/build)
  step(${CMAKE_CTEST_COMMAND} --test-dir ${work}/build --output-on-failure --no-tests=error)
endfunction()
