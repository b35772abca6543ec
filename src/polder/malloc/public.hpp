#pragma once
// public — how an exported function is marked. Everything else in the library is hidden.

#define POLDER_PUBLIC [[gnu::visibility("default")]]

// Another name for a function of the same translation unit: the same address, not a wrapper.
#define POLDER_ALIAS(of) [[gnu::visibility("default"), gnu::alias(#of)]]
