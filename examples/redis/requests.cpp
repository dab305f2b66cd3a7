// A module for Redis that sends requests to the server from within: a client on a schedule, whose
// clock is the server's own, so that load amplification holds for both (docs/commands/amp.md).
//
//   redis-server --loadmodule redis_requests.so [NAME=VALUE]...
//     port=6379          where the server listens
//     interval_us=2000   from one request to the next, whether or not the last is answered
//     most=64            of unanswered requests: while there are so many, further ones are turned
//                        away. Redis answers when it has done all that it has received, so that
//                        without a limit most of a long queue would be unanswered at the end
//     fixed=1            the times of sending are fixed beforehand: one that is late is made up
//     for.
//                        0: each is interval_us after the last, for experiments on lines, whose
//                        pauses have to hold the client as well
//     load=0             per cent by which the interval really is shorter: what Coz predicts with
//                        --arrival-speedup load%
//     members=2000       of each of two sets; a request asks how many both have in common
//     seconds=0          the server is shut down after so long; 0: never
//
// At the end it prints how many requests a second came and were answered.
#include <arpa/inet.h>
#include <coz.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct Options {
  double port = 6379, interval_us = 2000, load = 0, members = 2000, seconds = 0, fixed = 1,
         most = 64;
};
Options options;

constexpr char kRequest[] = "SINTERCARD 2 coz:a coz:b\r\n";

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "redis_requests: %s\n", what);
  std::_Exit(1);
}

// The server does not listen yet when modules are loaded.
int connect_to_server() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(options.port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int attempt = 0; attempt < 100; ++attempt) {
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server < 0) fail("no socket");
    if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
      const int on = 1;
      setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      return server;
    }
    close(server);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  fail("the server does not listen");
}

bool send_all(int server, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t sent = send(server, data, size, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    data += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

// Answers are numbers, one a line: as many of them as have come, -1 at the end. With MSG_DONTWAIT
// in `flags` there may be none.
long receive(int server, int flags = 0) {
  std::array<char, 16384> buffer;
  const ssize_t size = recv(server, buffer.data(), buffer.size(), flags);
  if (size < 0 && errno == EAGAIN) return 0;
  if (size <= 0) return -1;
  if (std::find(buffer.begin(), buffer.begin() + size, '-') != buffer.begin() + size) {
    fail("the server answered with an error");
  }
  return std::count(buffer.begin(), buffer.begin() + size, '\n');
}

void fill(int server) {
  for (const char* name : {"coz:a", "coz:b"}) {
    const long first = name[4] == 'a' ? 0 : static_cast<long>(options.members) / 2;
    std::string text;
    for (long i = 0; i < static_cast<long>(options.members); ++i) {
      text += std::string("SADD ") + name + " member:" + std::to_string(first + i) + "\r\n";
    }
    std::thread sender([&] { send_all(server, text.data(), text.size()); });
    for (long answers = 0; answers < static_cast<long>(options.members);) {
      const long more = receive(server);
      if (more < 0) fail("the server has gone");
      answers += more;
    }
    sender.join();
  }
}

// What has come so far. A thread that waited for answers would be woken by a socket, which Coz does
// not see through: it would hold the thread up by all that the server was, once more.
bool take_answers(int server, long& answered) {
  for (long more; (more = receive(server, MSG_DONTWAIT)) != 0; answered += more) {
    if (more < 0) return false;
    for (long i = 0; i < more; ++i) COZ_END("request");
  }
  return true;
}

// On the clock of std::chrono::steady_clock.
void wait_until(Clock::time_point time) {
  const auto since = time.time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
  const timespec at{seconds.count(), std::chrono::nanoseconds(since - seconds).count()};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) == EINTR) {
  }
}

void send_requests() {
  const int server = connect_to_server();
  fill(server);
  long sent = 0, answered = 0, turned_away = 0;
  const auto interval = std::chrono::duration_cast<Clock::duration>(
      Seconds(options.interval_us * (1 - options.load / 100) / 1e6));
  const auto start = Clock::now();
  auto next = start;
  for (;;) {
    next = (options.fixed != 0 ? next : Clock::now()) + interval;
    wait_until(next);
    const Seconds passed = Clock::now() - start;
    if (options.seconds > 0 && passed.count() >= options.seconds) break;
    if (!take_answers(server, answered)) break;
    COZ_ARRIVAL_NAMED("sent");
    if (static_cast<double>(sent - answered) >= options.most) {
      ++turned_away;
      continue;
    }
    COZ_BEGIN("request");
    if (!send_all(server, kRequest, sizeof kRequest - 1)) break;
    ++sent;
  }
  const double seconds = Seconds(Clock::now() - start).count();
  std::printf("came %.1f a second, answered %.1f\n",
              static_cast<double>(sent + turned_away) / seconds,
              static_cast<double>(answered) / seconds);
  std::fflush(stdout);
  kill(getpid(), SIGTERM);
}

bool parse(const std::string& text) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos) return false;
  const struct {
    const char* name;
    double& value;
  } numbers[] = {{"port", options.port},       {"interval_us", options.interval_us},
                 {"load", options.load},       {"members", options.members},
                 {"seconds", options.seconds}, {"fixed", options.fixed},
                 {"most", options.most}};
  for (const auto& number : numbers) {
    if (text.substr(0, at) != number.name) continue;
    char* end = nullptr;
    number.value = std::strtod(text.c_str() + at + 1, &end);
    return *end == '\0' && number.value >= 0;
  }
  return false;
}

}  // namespace

// What Redis calls when it loads the module. Its header redismodule.h would do the same: a module
// has to give its name and version, by a function that is asked for by name.
extern "C" __attribute__((visibility("default"))) int RedisModule_OnLoad(void* context,
                                                                         void** arguments,
                                                                         int count) {
  int (*get_function)(const char*, void*) = nullptr;
  std::memcpy(&get_function, context, sizeof get_function);
  void (*set_attributes)(void*, const char*, int, int) = nullptr;
  const char* (*text_of)(const void*, std::size_t*) = nullptr;
  if (get_function("RedisModule_SetModuleAttribs", &set_attributes) != 0 ||
      get_function("RedisModule_StringPtrLen", &text_of) != 0) {
    return 1;
  }
  set_attributes(context, "cozrequests", 1, 1);
  for (int i = 0; i < count; ++i) {
    const char* text = text_of(arguments[i], nullptr);
    if (parse(text)) continue;
    std::fprintf(stderr, "redis_requests: %s: not NAME=VALUE; see the head of requests.cpp\n",
                 text);
    return 1;
  }
  std::thread(send_requests).detach();
  return 0;
}
