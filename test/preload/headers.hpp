#pragma once
// headers — what headers.cpp, compiled without RTTI or exceptions, asks of headers_with_both.cpp, a file of the same program.
namespace headers {

bool two_resources_are_equal();

}  // namespace headers
