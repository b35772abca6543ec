// schemes — the slow paths of every scheme of the registry, compiled once for all programs that link polder::smr and are
// built with POLDER_SCHEMES_APART.
#include <polder/smr/all.hpp>
#include <polder/smr/limbo_domain_slow.hpp>

namespace polder::smr {

template class limbo_domain<epoch_core<advance::scan_all>>;
template class limbo_domain<epoch_core<advance::scan_one>>;
template class limbo_domain<epoch_core<advance::quiescent>>;
template class limbo_domain<token_core<passing::naive>>;
template class limbo_domain<token_core<passing::pass_first>>;
template class limbo_domain<token_core<passing::periodic>>;
template class limbo_domain<token_core<passing::amortized>>;
template class limbo_domain<hazard_core>;
template class limbo_domain<hazard_era_core>;
template class limbo_domain<interval_core>;
template class limbo_domain<wait_free_era_core>;
template class limbo_domain<nbr_core>;
template class limbo_domain<debra_plus_core>;
template class limbo_domain<leaky_core>;

}  // namespace polder::smr
