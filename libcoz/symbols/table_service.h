// Asks `coz run` for line tables while the program runs (docs/launch_contract.md).
//
// `coz run` makes the tables, since the program's own wait() would see a child of ours. Requests
// and answers are packets on a socket that `coz run` passed on. One thread; system calls are raw,
// so that no wrapper is involved and errno is kept; allocates.
#ifndef LIBCOZ_SYMBOLS_TABLE_SERVICE_H
#define LIBCOZ_SYMBOLS_TABLE_SERVICE_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/clock.h"

namespace coz {

struct TableAnswer {
  enum class Kind {
    kTable,
    kNone,    // not in scope, or without debug information; `coz run` has reported that
    kFailed,  // `text` says why
    kGone,    // the same, and nothing more can be asked
  };
  Kind kind = Kind::kNone;
  std::string text;  // the table's path, or what went wrong
};

// `NUMBER<TAB>TABLE`; nullopt for anything else.
struct TablePacket {
  std::uint64_t number = 0;
  std::string table;
};
std::optional<TablePacket> parse_table_packet(std::string_view packet);

class TableService {
 public:
  // The debug information of a very big library takes some seconds to read.
  static constexpr Nanoseconds kPatience = 60 * kSecond;

  // `descriptor` stays the caller's. A thread that shares its descriptors with the program, which
  // may close it and open another with the same number, passes the socket's inode: if that differs,
  // `coz run` counts as gone.
  explicit TableService(int descriptor, std::optional<std::uint64_t> inode = std::nullopt,
                        Nanoseconds patience = kPatience) noexcept
      : descriptor_(descriptor), inode_(inode), patience_(patience) {}

  TableAnswer ask(const std::string& binary);

 private:
  bool is_ours() const noexcept;
  TableAnswer await_answer();

  int descriptor_;
  std::optional<std::uint64_t> inode_;
  Nanoseconds patience_;
  std::uint64_t asked_ = 0;
};

}  // namespace coz

#endif  // LIBCOZ_SYMBOLS_TABLE_SERVICE_H
