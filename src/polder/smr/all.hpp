#pragma once
// all — the registry of reclaimers. What stands here is tested with every structure and every drain, measured and offered
// by name. schemes.cpp has the domain of each.
#include <polder/base/type_list.hpp>
#include <polder/smr/epoch/epoch.hpp>
#include <polder/smr/epoch/token.hpp>
#include <polder/smr/era/hazard_eras.hpp>
#include <polder/smr/era/interval.hpp>
#include <polder/smr/era/wait_free_eras.hpp>
#include <polder/smr/hazard/hazard.hpp>
#include <polder/smr/leaky.hpp>
#include <polder/smr/neutral/debra_plus.hpp>
#include <polder/smr/neutral/nbr.hpp>

namespace polder::smr {

using all = type_list<  //
    ebr,                //
    debra,              //
    token_naive,        //
    token_pass_first,   //
    token_periodic,     //
    token,              //
    qsbr,               //
    hazard,             //
    hazard_eras,        //
    interval,           //
    wait_free_eras,     //
    nbr,                //
    debra_plus,         //
    leaky               //
    >;

// One of each algorithm: for tests whose product with all of them would take the compiler too long in every preset.
using families = type_list<debra, token, hazard, hazard_eras, interval, wait_free_eras, nbr>;

}  // namespace polder::smr
