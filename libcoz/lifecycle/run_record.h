// What the profile says about the run as a whole, in its first record.
#ifndef LIBCOZ_LIFECYCLE_RUN_RECORD_H
#define LIBCOZ_LIFECYCLE_RUN_RECORD_H

#include <vector>

#include "lifecycle/config.h"
#include "profile_log/records.h"
#include "sampling/sample_source.h"
#include "symbols/modules.h"

namespace coz {

// At the start, once sampling has been started or refused. Allocates.
RunRecord describe_run(const Config& config, const Modules& modules, const SampleSource& samples,
                       std::vector<PointRecord> points);

}  // namespace coz

#endif  // LIBCOZ_LIFECYCLE_RUN_RECORD_H
