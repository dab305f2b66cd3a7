#include "lifecycle/attach_request.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "common/high_descriptor.h"
#include "common/raw_syscall.h"
#include "common/scope.h"
#include "common/text.h"

namespace coz {
namespace {

// The debug information of the largest programs takes some ten seconds to read. If `coz run` is
// stopped, for example in a debugger, the program still starts in the end.
constexpr timeval kPatience = {120, 0};

long address(const void* what) noexcept { return reinterpret_cast<long>(what); }

int connect_to(std::string_view path) noexcept {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (path.size() >= sizeof name.sun_path) return -1;
  std::memcpy(name.sun_path, path.data(), path.size());
  const long low = raw_syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (low < 0) return -1;
  const int socket = move_high(static_cast<int>(low));
  // SO_SNDTIMEO is also for connect, which waits if many others connect.
  for (const int direction : {SO_RCVTIMEO, SO_SNDTIMEO}) {
    raw_syscall(SYS_setsockopt, socket, SOL_SOCKET, direction, address(&kPatience),
                sizeof kPatience);
  }
  if (raw_syscall(SYS_connect, socket, address(&name), sizeof name) == 0) {
    return socket;
  }
  raw_syscall(SYS_close, socket);
  return -1;
}

// Returns the answer; empty means no.
std::string ask(int socket, std::string_view executable) {
  const std::string request = "claim\t" + std::string(executable);
  const long sent = raw_syscall(SYS_sendto, socket, address(request.data()),
                                static_cast<long>(request.size()), MSG_NOSIGNAL);
  if (sent < 0) return {};
  const auto receive = [socket](char* to, std::size_t room, int flags) {
    long length = -EINTR;
    while (length == -EINTR) {
      length = raw_syscall(SYS_recvfrom, socket, address(to), static_cast<long>(room), flags);
    }
    return length;
  };
  char first = 0;
  const long length = receive(&first, 1, MSG_PEEK | MSG_TRUNC);
  if (length <= 0) return {};
  std::string answer(static_cast<std::size_t>(length), '\0');
  if (receive(answer.data(), answer.size(), 0) != length) return {};
  return answer;
}

}  // namespace

bool names_executable(std::string_view patterns, std::string_view path) noexcept {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  while (!patterns.empty()) {
    const std::string_view pattern = take_part(patterns, '\n');
    if (pattern.empty()) continue;
    if (wildcard_match(pattern, path)) return true;
    if (pattern.find('/') == std::string_view::npos && wildcard_match(pattern, name)) return true;
  }
  return false;
}

namespace {

// The path of the executable; empty if it is unknown.
std::string_view own_executable(std::array<char, PATH_MAX>& room) noexcept {
  const long length = raw_syscall(SYS_readlinkat, AT_FDCWD, address("/proc/self/exe"),
                                  address(room.data()), static_cast<long>(room.size()));
  return length <= 0 ? std::string_view()
                     : std::string_view(room.data(), static_cast<std::size_t>(length));
}

std::optional<AttachAnswer> request_for(std::string_view executable, std::string_view path) {
  const int socket = connect_to(path);
  if (socket < 0) return std::nullopt;
  AttachAnswer answer{ask(socket, executable), socket};
  if (!answer.variables.empty()) return answer;
  raw_syscall(SYS_close, socket);
  return std::nullopt;
}

}  // namespace

std::optional<AttachAnswer> request_attach_at(std::string_view path) {
  std::array<char, PATH_MAX> room;
  const std::string_view self = own_executable(room);
  return self.empty() ? std::nullopt : request_for(self, path);
}

std::optional<AttachAnswer> request_attach(const char* variable) {
  if (variable == nullptr) return std::nullopt;
  std::string_view patterns = variable;
  const std::string_view path = take_part(patterns, '\n');
  std::array<char, PATH_MAX> room;
  const std::string_view self = own_executable(room);
  if (self.empty() || !names_executable(patterns, self)) return std::nullopt;
  return request_for(self, path);
}

}  // namespace coz
