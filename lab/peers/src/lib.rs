//! Nothing of its own: what is wanted is what the build scripts of the dependencies compile.
