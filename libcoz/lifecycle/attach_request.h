// Asking `coz run` whether this process is the one to be profiled, where it is to be found among
// those that the launched program starts (docs/launch_contract.md, COZ_CLAIMS).
//
// Runs in the library's constructor, in every process below `coz run`. In those whose executable is
// not wanted it costs a look into the environment and one system call, and it opens nothing. In one
// that is wanted it waits until `coz run` has read that program's lines, as `coz run` itself does
// with a program that it starts.
#ifndef LIBCOZ_LIFECYCLE_ATTACH_REQUEST_H
#define LIBCOZ_LIFECYCLE_ATTACH_REQUEST_H

#include <optional>
#include <string>
#include <string_view>

namespace coz {

struct AttachRequest {
  std::string variables;  // NAME=VALUE, each followed by a NUL
  int socket = -1;        // to `coz run`; close-on-exec, the caller's
};

// At the socket with that path, for this process whatever its executable. nullopt: `coz run` says
// no, or is not there.
std::optional<AttachRequest> request_attach_at(std::string_view path);

// Of COZ_CLAIMS. nullopt: it is not there, or is not about this executable, or `coz run` says no.
std::optional<AttachRequest> request_attach(const char* claims);

// One pattern a line. A pattern matches the whole path, or, if it has no slash, its last component.
bool names_executable(std::string_view patterns, std::string_view path) noexcept;

}  // namespace coz

#endif  // LIBCOZ_LIFECYCLE_ATTACH_REQUEST_H
