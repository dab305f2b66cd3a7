#include "symbols/table_service.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "common/raw_syscall.h"
#include "common/text.h"

namespace coz {
namespace {

// Longer than any path, so that no packet is cut.
constexpr std::size_t kMaxPacket = 1U << 15;
constexpr Nanoseconds kLookEvery = 100 * kMillisecond;

TableAnswer gone() {
  return {TableAnswer::Kind::kGone, "coz run, which makes the line tables, is gone"};
}

}  // namespace

std::optional<TablePacket> parse_table_packet(std::string_view packet) {
  const bool has_table = packet.find('\t') != std::string_view::npos;
  const auto number = parse_number<std::uint64_t>(take_part(packet, '\t'));
  const bool is_path = packet.empty() || packet.front() == '/';
  if (!has_table || !number || !is_path) return std::nullopt;
  return TablePacket{*number, std::string(packet)};
}

bool TableService::is_ours() const noexcept {
  if (!inode_) return true;
  struct stat status{};
  return raw_syscall(SYS_fstat, descriptor_, reinterpret_cast<long>(&status)) == 0 &&
         S_ISSOCK(status.st_mode) && status.st_ino == *inode_;
}

TableAnswer TableService::ask(const std::string& binary) {
  if (!is_ours()) return gone();
  const std::string request = "table\t" + std::to_string(++asked_) + "\t" + binary;
  // If `coz run` no longer receives, do not wait for it.
  const long sent =
      raw_syscall(SYS_sendto, descriptor_, reinterpret_cast<long>(request.data()),
                  static_cast<long>(request.size()), MSG_NOSIGNAL | MSG_DONTWAIT, 0, 0);
  if (sent == -EAGAIN) {
    return {TableAnswer::Kind::kFailed, "coz run, which makes the line tables, does not listen"};
  }
  if (sent < 0) return gone();
  return await_answer();
}

TableAnswer TableService::await_answer() {
  const Nanoseconds give_up = now() + patience_;
  std::array<char, kMaxPacket> packet;
  for (;;) {
    // In parts, since nothing ends the wait if the program closes the descriptor.
    const Nanoseconds left = std::clamp<Nanoseconds>(give_up - now(), 0, kLookEvery);
    const timespec wait = {left / kSecond, left % kSecond};
    pollfd socket = {descriptor_, POLLIN, 0};
    const long ready = raw_syscall(SYS_ppoll, reinterpret_cast<long>(&socket), 1,
                                   reinterpret_cast<long>(&wait), 0, 0);
    if (ready == -EINTR) continue;
    if (ready == 0 && is_ours() && now() < give_up) continue;
    if (ready == 0 && is_ours()) {
      return {TableAnswer::Kind::kFailed,
              "coz run, which makes the line tables, did not answer in " +
                  std::to_string(patience_ / kSecond) + " s"};
    }
    if (ready <= 0 || !is_ours()) return gone();
    const long length =
        raw_syscall(SYS_recvfrom, descriptor_, reinterpret_cast<long>(packet.data()),
                    static_cast<long>(packet.size()), MSG_DONTWAIT, 0, 0);
    if (length == -EAGAIN || length == -EINTR) continue;
    if (length <= 0) return gone();
    auto answer = parse_table_packet({packet.data(), static_cast<std::size_t>(length)});
    if (!answer || answer->number > asked_) {
      return {TableAnswer::Kind::kFailed, "the answer of coz run cannot be read"};
    }
    if (answer->number < asked_) continue;  // an answer that came too late
    if (answer->table.empty()) return {};
    return {TableAnswer::Kind::kTable, std::move(answer->table)};
  }
}

}  // namespace coz
