#pragma once
// replaceable — the forms of operator new and delete, each of which a program may replace alone.
//
// [new.delete]: a form that is not replaced calls the one it stands for, whosever that is. The arrows, for the plain
// forms and, each with an alignment, for the aligned ones:
//
//   new[] → new          nothrow new → new          nothrow new[] → new[]
//   delete[] → delete    sized, nothrow delete → delete    sized, nothrow delete[] → delete[]
//
// A call by name follows its arrow: the names are weak, so that no compiler takes its own definition for granted, and
// the preload library is linked with --dynamic-list-cpp-new, so that the linker does not either. A form that can do
// better than the one it stands for asks first whether that is the heap's own.

// Weak, also so that a program linked with the heap may define its own.
#define POLDER_REPLACEABLE [[gnu::visibility("default"), gnu::weak]]

// Another name, as POLDER_ALIAS.
#define POLDER_REPLACEABLE_ALIAS(of) [[gnu::visibility("default"), gnu::weak, gnu::alias(#of)]]

namespace polder::face {

// `bound` is what the process calls by a form's name, `own` the heap's definition under a name that nobody replaces.
// A program that is not position-independent may give the form another address, in itself, that leads here: then this
// is true though nothing is replaced, and the call by name is the slower way to the same end.
template <class Result, class... Arguments>
[[gnu::always_inline]] inline bool replaced(Result (*bound)(Arguments...), Result (*own)(Arguments...)) {
  return bound != own;
}

}  // namespace polder::face
