#pragma once
// sanitizers — which of the compiler's sanitizers looks on. gcc says so by a macro, clang by a feature.
//
//   POLDER_ASAN, POLDER_TSAN   1 under AddressSanitizer, ThreadSanitizer; otherwise 0
//   POLDER_SANITIZED           1 under either

#if defined(__has_feature)
#define POLDER_HAS_FEATURE(name) __has_feature(name)
#else
#define POLDER_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || POLDER_HAS_FEATURE(address_sanitizer)
#define POLDER_ASAN 1
#else
#define POLDER_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__) || POLDER_HAS_FEATURE(thread_sanitizer)
#define POLDER_TSAN 1
#else
#define POLDER_TSAN 0
#endif

#define POLDER_SANITIZED (POLDER_ASAN || POLDER_TSAN)
