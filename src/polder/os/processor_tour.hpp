#pragma once
// processor_tour — makes every running thread of the process pass a full memory barrier, without membarrier(2): the calling
// thread runs on each processor in turn.
//
//   in malloc  no: it waits for each processor, some microseconds or longer, as its priority says; errno is kept
//   deviation  McKenney, "Is parallel programming hard", the toy synchronize_rcu(): there of a kernel without preemption
//
// Why it is enough. A thread that ran when the tour began was on some processor. It has left it before the caller came
// there, or the caller took its place: either way the kernel has switched from it to another thread since, which is a full
// barrier. A thread that did not run has one before it, when it does.
//
// A thread may be kept to processors on which the caller may not run (cgroups of single threads): then nothing is concluded.

namespace polder::os {

// False: refused, or there is a processor to which the caller cannot go and another thread can; the caller must assume that
// no barrier took place. Its affinity is as before.
bool tour_processors() noexcept;

}  // namespace polder::os
