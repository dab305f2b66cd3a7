// Appends records to the profile (docs/profile_format.md), each with one write.
//
// One thread at a time; allocates. After a failed write (a full disk) the rest is lost, there is
// one message, and the program runs on; what was written before stays readable.
#ifndef LIBCOZ_PROFILE_LOG_PROFILE_WRITER_H
#define LIBCOZ_PROFILE_LOG_PROFILE_WRITER_H

#include <string>

#include "profile_log/records.h"

namespace coz {

std::string to_json(const RunRecord& record);
std::string to_json(const TargetRecord& record);
std::string to_json(const ExperimentRecord& record);
std::string to_json(const LoadRecord& record);
std::string to_json(const ReferenceRecord& record);
std::string to_json(const SamplesRecord& record);

class ProfileWriter {
 public:
  ProfileWriter() = default;
  ProfileWriter(const ProfileWriter&) = delete;
  ProfileWriter& operator=(const ProfileWriter&) = delete;

  // False, with errno set, if the file can't be opened for appending.
  bool open(const char* path) noexcept;

  // Below 0 before open().
  int descriptor() const noexcept { return descriptor_; }

  template <typename Record>
  void append(const Record& record) {
    write_line(to_json(record));
  }

 private:
  void write_line(std::string line);

  int descriptor_ = -1;
  bool failed_ = false;
};

}  // namespace coz

#endif  // LIBCOZ_PROFILE_LOG_PROFILE_WRITER_H
