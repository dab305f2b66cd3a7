#include "symbols/table_service.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>
#include <thread>

using coz::parse_table_packet;
using coz::TableAnswer;
using coz::TableService;

namespace {

struct Sockets {
  Sockets() { REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0); }
  ~Sockets() {
    for (const int end : ends) {
      if (end >= 0) close(end);
    }
  }
  void answer(const std::string& text) const {
    REQUIRE(send(ends[1], text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
  }
  std::string request() const {
    char text[4096];
    const ssize_t length = recv(ends[1], text, sizeof text, 0);
    return {text, static_cast<std::size_t>(length < 0 ? 0 : length)};
  }
  std::uint64_t inode() const {
    struct stat status{};
    REQUIRE(fstat(ends[0], &status) == 0);
    return status.st_ino;
  }

  int ends[2] = {-1, -1};
};

constexpr coz::Nanoseconds kShort = 50 * coz::kMillisecond;

}  // namespace

TEST_CASE("the launcher's answers are understood", "[table_service]") {
  const auto answer = parse_table_packet("12\t/cache/t\twith tab");
  REQUIRE(answer);
  CHECK(answer->number == 12);
  CHECK(answer->table == "/cache/t\twith tab");
  CHECK(parse_table_packet("12\t")->table.empty());
  for (const char* nonsense : {"", "12", "\t/t", "x\t/t", "12 \t/t", "12\trelative", "-1\t/t",
                               "99999999999999999999999\t/t"}) {
    INFO(nonsense);
    CHECK_FALSE(parse_table_packet(nonsense));
  }
}

TEST_CASE("a table is requested and received", "[table_service]") {
  Sockets sockets;
  TableService service(sockets.ends[0]);
  sockets.answer("1\t/cache/t");
  TableAnswer answer = service.ask("/lib/a b.so");
  CHECK(sockets.request() == "table\t1\t/lib/a b.so");
  CHECK(answer.kind == TableAnswer::Kind::kTable);
  CHECK(answer.text == "/cache/t");
  sockets.answer("2\t");
  CHECK(service.ask("/lib/b.so").kind == TableAnswer::Kind::kNone);
}

TEST_CASE("an answer that comes too late is not taken for another", "[table_service]") {
  Sockets sockets;
  TableService service(sockets.ends[0], std::nullopt, kShort);
  CHECK(service.ask("/lib/a.so").kind == TableAnswer::Kind::kFailed);
  sockets.answer("1\t/cache/a");
  sockets.answer("2\t/cache/b");
  const TableAnswer answer = service.ask("/lib/b.so");
  CHECK(answer.kind == TableAnswer::Kind::kTable);
  CHECK(answer.text == "/cache/b");
}

TEST_CASE("a malformed answer costs one module", "[table_service]") {
  Sockets sockets;
  TableService service(sockets.ends[0], std::nullopt, kShort);
  sockets.answer("hello");
  CHECK(service.ask("/lib/a.so").kind == TableAnswer::Kind::kFailed);
  sockets.answer("7\t/cache/t");
  CHECK(service.ask("/lib/b.so").kind == TableAnswer::Kind::kFailed);
  sockets.answer("3\t/cache/t");
  CHECK(service.ask("/lib/c.so").kind == TableAnswer::Kind::kTable);
}

TEST_CASE("a launcher that has ended is gone", "[table_service]") {
  Sockets sockets;
  TableService service(sockets.ends[0]);
  close(sockets.ends[1]);
  sockets.ends[1] = -1;
  CHECK(service.ask("/lib/a.so").kind == TableAnswer::Kind::kGone);
}

TEST_CASE("a launcher that ends instead of answering is gone", "[table_service]") {
  Sockets sockets;
  TableService service(sockets.ends[0]);
  std::thread launcher([&] {
    sockets.request();
    shutdown(sockets.ends[1], SHUT_RDWR);
  });
  CHECK(service.ask("/lib/a.so").kind == TableAnswer::Kind::kGone);
  launcher.join();
}

TEST_CASE("nothing is written to what the program opened at the socket's number",
          "[table_service]") {
  Sockets sockets, others;
  TableService service(sockets.ends[0], sockets.inode());
  REQUIRE(dup2(others.ends[0], sockets.ends[0]) >= 0);
  CHECK(service.ask("/lib/a.so").kind == TableAnswer::Kind::kGone);
  REQUIRE(fcntl(others.ends[1], F_SETFL, O_NONBLOCK) == 0);
  CHECK(others.request().empty());
}

TEST_CASE("a socket that the program replaces while we wait is gone", "[table_service]") {
  Sockets sockets, others;
  TableService service(sockets.ends[0], sockets.inode());
  std::thread program([&] {
    sockets.request();
    dup2(others.ends[0], sockets.ends[0]);
  });
  CHECK(service.ask("/lib/a.so").kind == TableAnswer::Kind::kGone);
  program.join();
}

TEST_CASE("a launcher that no longer receives does not hold us up", "[table_service]") {
  Sockets sockets;
  TableService service(sockets.ends[0], std::nullopt, 0);
  const std::string path = "/" + std::string(4000, 'x');
  TableAnswer answer;
  for (int i = 0; i < 1000 && answer.text.find("does not listen") == std::string::npos; ++i) {
    answer = service.ask(path);
    REQUIRE(answer.kind == TableAnswer::Kind::kFailed);
  }
  CHECK(answer.text.find("does not listen") != std::string::npos);
}
