// Regions by name: parts of the program that it marks by COZ_REGION_BEGIN and COZ_REGION_END.
#ifndef LIBCOZ_TARGET_REGION_REGISTRY_H
#define LIBCOZ_TARGET_REGION_REGISTRY_H

#include "kernel/name_table.h"

namespace coz {

using RegionRegistry = NameTable<256, 128>;

}  // namespace coz

#endif  // LIBCOZ_TARGET_REGION_REGISTRY_H
