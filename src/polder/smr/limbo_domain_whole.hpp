#pragma once
// limbo_domain_whole — the domain with its slow paths, for the schemes.
//
// POLDER_SCHEMES_APART: the program links schemes.cpp, which has the slow paths of every scheme; so no other file has to be
// compiled with them. Where it is not defined they are templates as any.
#include <polder/smr/limbo_domain.hpp>
#ifndef POLDER_SCHEMES_APART
#include <polder/smr/limbo_domain_slow.hpp>
#endif
