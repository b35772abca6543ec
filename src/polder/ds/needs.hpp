#pragma once
// needs — which protection a structure needs of its reclaimer (smr/reclaimer.hpp): one whose operations read on from nodes
// that are unlinked is safe by region alone; none: it retires nothing.

namespace polder::ds {

enum class needs { none, pointer, region };

}  // namespace polder::ds
