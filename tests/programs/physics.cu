// Programs of physics, as one binary.
#include "fdtd.cu"
#include "heat.cu"
#include "ising.cu"
#include "lbm.cu"
#include "lennard_jones.cu"
#include "nbody.cu"
#include "sph.cu"
#include "wave.cu"
