# The checkers of tools/ over this tree, the tests of the checkers, and the laboratory's own tests.
set(python ${PROJECT_SOURCE_DIR}/.venv/bin/python)

function(polder_tool_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT;DIRECTORY" "COMMAND;REQUIREMENTS")
  add_test(NAME ${name} COMMAND ${arg_COMMAND} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/${arg_DIRECTORY})
  string(REGEX REPLACE "\\..*" "" suite ${name})
  set(labels ${suite})
  foreach(number IN LISTS arg_REQUIREMENTS)
    list(APPEND labels req-${number})
  endforeach()
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${arg_TIMEOUT})
endfunction()

polder_tool_test(tools.layers COMMAND ${python} tools/check_layers.py TIMEOUT 30)
polder_tool_test(tools.orders COMMAND ${python} tools/check_orders.py TIMEOUT 30)
polder_tool_test(tools.papers COMMAND ${python} tools/check_papers.py TIMEOUT 30)
polder_tool_test(tools.registry COMMAND ${python} tools/check_registry.py $<TARGET_FILE:polder-registry>
  "${POLDER_WHOLE_HEAPS}" "${POLDER_SHEETS}" TIMEOUT 30)
polder_tool_test(tools.format COMMAND tools/check_format TIMEOUT 120)
polder_tool_test(tools.self COMMAND ${python} -m pytest -q tools TIMEOUT 300)
set_property(TEST tools.self PROPERTY ENVIRONMENT POLDER_LAUNCH=$<TARGET_FILE:polder-launch>)
# The longest, in three parts that take about as long: begun first, none runs on alone at the end.
set(part 0)
foreach(letters IN ITEMS a-b c-q r-z)
  math(EXPR part "${part} + 1")
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/lab ${PROJECT_SOURCE_DIR}/lab/tests/test_[${letters}]*.py)
  polder_tool_test(python.lab@${part} COMMAND ${python} -m pytest -q ${files} DIRECTORY lab TIMEOUT 2400)
  set_tests_properties(python.lab@${part} PROPERTIES COST 1000 ENVIRONMENT PYTHONPATH=${PROJECT_SOURCE_DIR}/lab)
endforeach()

# What a user does: install, find_package, build, run.
foreach(name IN ITEMS examples headers linked pkg_config)
  polder_tool_test(install.${name} COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DSOURCE=${PROJECT_SOURCE_DIR}
    -DCOMPILER=${CMAKE_CXX_COMPILER} -P test/install/${name}.cmake TIMEOUT 300 REQUIREMENTS 23)
endforeach()
# Each of some two hundred headers is a third of a second.
set_tests_properties(install.headers PROPERTIES LABELS "install;req-23;long" TIMEOUT 900)
