// Asks `coz run` whether to profile this process, where the process to profile is one that the
// launched program starts (docs/launch_contract.md, COZ_CLAIMS).
//
// Runs in the library's constructor, in every process below `coz run`. Where the executable is not
// wanted, it costs a look at the environment and one system call, and opens nothing. Where it is
// wanted, it waits until `coz run` has read the program's lines, as `coz run` itself does for a
// program that it starts.
#ifndef LIBCOZ_LIFECYCLE_ATTACH_REQUEST_H
#define LIBCOZ_LIFECYCLE_ATTACH_REQUEST_H

#include <optional>
#include <string>
#include <string_view>

namespace coz {

// The answer, if it is yes.
struct AttachAnswer {
  std::string variables;  // NAME=VALUE, each followed by a NUL
  int socket = -1;        // to `coz run`; close-on-exec, the caller's
};

// Asks at the socket with that path, whatever the executable. nullopt: `coz run` says no, or is not
// there.
std::optional<AttachAnswer> request_attach_at(std::string_view path);

// Asks as COZ_CLAIMS says, whose value is `variable`. nullopt: it is not set, or does not name this
// executable, or the answer is no.
std::optional<AttachAnswer> request_attach(const char* variable);

// One pattern a line. A pattern matches the whole path, or, if it has no slash, its last component.
bool names_executable(std::string_view patterns, std::string_view path) noexcept;

}  // namespace coz

#endif  // LIBCOZ_LIFECYCLE_ATTACH_REQUEST_H
