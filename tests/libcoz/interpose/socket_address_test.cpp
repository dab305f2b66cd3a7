#include "interpose/socket_address.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

using coz::SocketAddress;

namespace {

SocketAddress address_of(std::string_view path, std::size_t size) {
  char room[256]{};
  const sa_family_t family = AF_UNIX;
  std::memcpy(room, &family, sizeof family);
  path.copy(room + sizeof family, path.size());
  SocketAddress found;
  REQUIRE(found.copy(reinterpret_cast<const sockaddr*>(room), static_cast<socklen_t>(size)));
  return found;
}
SocketAddress address_of(std::string_view path) {
  return address_of(path, sizeof(sa_family_t) + path.size());
}

}  // namespace

TEST_CASE("a path may end before its size says so") {
  char folder[] = "/tmp/socket-address.XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  const std::string path(folder);
  const auto place = address_of(path).place();
  CHECK(place.has_value());
  CHECK(address_of(path, sizeof(sockaddr_un)).place() == place);
  CHECK(address_of(path + "/.").place() == place);
  CHECK(address_of(path).name_hash().has_value());
  CHECK(address_of(path, sizeof(sockaddr_un)).name_hash() == address_of(path).name_hash());
  REQUIRE(rmdir(folder) == 0);
  CHECK_FALSE(address_of(path).place());
}

TEST_CASE("a path of full length need not end") {
  const std::string longest(sizeof(sockaddr_un::sun_path), 'x');
  const SocketAddress found = address_of(longest);
  CHECK(found.has_name());
  CHECK_FALSE(found.place());
}

TEST_CASE("abstract names may hold zeros, and are as long as their size says") {
  using namespace std::string_view_literals;
  const auto hash = address_of("\0name\0x"sv).name_hash();
  CHECK(hash.has_value());
  CHECK(address_of("\0name\0x"sv).name_hash() == hash);
  CHECK(address_of("\0name\0y"sv).name_hash() != hash);
  CHECK(address_of("\0name"sv).name_hash() != hash);
  CHECK(address_of("\0name"sv).place() != address_of("\0name\0x"sv).place());
}

TEST_CASE("what is no address is none") {
  SocketAddress address;
  const sockaddr_un unnamed{AF_UNIX, {}};
  const auto* any = reinterpret_cast<const sockaddr*>(&unnamed);
  CHECK_FALSE(address.copy(any, sizeof(sa_family_t) - 1));
  CHECK_FALSE(address.copy(any, sizeof unnamed + 1));
  CHECK_FALSE(address.copy(nullptr, sizeof unnamed));
  REQUIRE(address.copy(any, sizeof(sa_family_t)));
  CHECK(address.is_unix());
  CHECK_FALSE(address.has_name());
  CHECK_FALSE(address.place());
  CHECK_FALSE(address.name_hash());
  CHECK(address.port() == 0);
}

TEST_CASE("addresses of the Internet may be as long as any address") {
  SocketAddress address;
  sockaddr_storage storage{};
  storage.ss_family = static_cast<sa_family_t>(GENERATE(AF_INET, AF_INET6));
  reinterpret_cast<sockaddr_in&>(storage).sin_port = 80;  // as in sockaddr_in6
  const auto* any = reinterpret_cast<const sockaddr*>(&storage);
  REQUIRE(address.copy(any, sizeof storage));
  CHECK(address.port() == 80);
  CHECK_FALSE(address.copy(any, sizeof storage + 1));
}

TEST_CASE("a socket with a path of full length has a name and a place") {
  char folder[] = "/tmp/socket-address.XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  sockaddr_un longest{};
  longest.sun_family = AF_UNIX;
  const std::string path = std::string(folder) + "/" +
                           std::string(sizeof longest.sun_path - std::strlen(folder) - 1, 'x');
  path.copy(longest.sun_path, path.size());
  const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(bind(file, reinterpret_cast<const sockaddr*>(&longest), sizeof longest) == 0);
  SocketAddress own;
  REQUIRE(own.read_own(file));
  CHECK(own.has_name());
  CHECK(own.place().has_value());
  CHECK(own.place() == address_of(path).place());
  close(file);
  unlink(path.c_str());
  REQUIRE(rmdir(folder) == 0);
}

TEST_CASE("hosts are compared within their family") {
  SocketAddress one, other, six;
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = 80;
  v4.sin_addr.s_addr = 0x0100007f;
  REQUIRE(one.copy(reinterpret_cast<const sockaddr*>(&v4), sizeof v4));
  v4.sin_port = 81;
  REQUIRE(other.copy(reinterpret_cast<const sockaddr*>(&v4), sizeof v4));
  CHECK(one.port() == 80);
  CHECK(one.has_host_of(other));
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = 82;
  REQUIRE(six.copy(reinterpret_cast<const sockaddr*>(&v6), sizeof v6));
  CHECK(six.port() == 82);
  CHECK_FALSE(one.has_host_of(six));
}
