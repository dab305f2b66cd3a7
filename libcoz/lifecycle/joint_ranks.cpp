#include "lifecycle/joint_ranks.h"

#include <fcntl.h>
#include <string.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <functional>

#include "common/text.h"
#include "kernel/message.h"
#include "kernel/real.h"

namespace coz {
namespace {

// The leading rank may have to make its line tables first.
constexpr Nanoseconds kMaxWait = 60 * kSecond;

}  // namespace

bool JointRanks::join(const Config& config, JointState& own) {
  if (config.joint.empty()) return true;
  if (file_.open(config.joint.c_str(), O_NOFOLLOW) && file_.map_next(sizeof own, &own) != nullptr)
    return true;
  message("this rank cannot join the others (%s: %s); it runs unprofiled", config.joint.c_str(),
          strerror(errno));
  return false;
}

bool JointRanks::agree(const Config& config, const std::string& program, JointState& shared) {
  if (!is_on()) return true;
  file_.close();  // all is mapped
  const std::string all = program + '\n' + std::to_string(config.period) + '\n' +
                          name_of(config.granularity, kGranularityNames) + '\n' +
                          std::to_string(config.companion_dose) + '\n' + config.source_scope;
  const std::uint64_t own = std::hash<std::string>()(all) | 1;
  if (!config.follows) {
    shared.agreed.store(own);
    return true;
  }
  const Nanoseconds give_up = now() + kMaxWait;
  while (shared.agreed.load() == 0 && now() < give_up) pause_until(now() + kMillisecond);
  if (shared.agreed.load() == own) return true;
  if (shared.agreed.load() == 0) {
    message("the leading rank has not begun; this rank runs unprofiled");
  } else {
    message("%s; it runs unprofiled",
            config.is_executed
                ? "this program's lines have changed since coz run read them"
                : "this rank runs another program than the leading one, or coz run was "
                  "given other options for it");
  }
  return false;
}

}  // namespace coz
