#pragma once
// one_copy — an attribute for a function that is where its address says, and nowhere else: it is neither inlined, nor cloned.

#if __has_cpp_attribute(gnu::noipa)
#define POLDER_ONE_COPY [[gnu::noipa]]
#else
#define POLDER_ONE_COPY [[gnu::noinline]]  // clang makes no clones
#endif
