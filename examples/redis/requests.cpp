// A module for Redis that sends requests to the server from within: a client on a schedule, whose
// clock is the server's own, so that load amplification holds for both (docs/commands/amp.md).
//
//   redis-server --loadmodule redis_requests.so [NAME=VALUE]...
//     port=6379          where the server listens
//     interval_us=2000   from one request to the next, whether or not the last is answered
//     most=64            unanswered requests, 4096 at most: while there are so many, further
//                        ones are turned away. Redis answers when it has done all that it has
//                        received, so that without a limit most of a long queue would be unanswered
//                        at the end
//     fixed=1            the times of sending are fixed beforehand: one that is late is made up
//     for.
//                        0: each is interval_us after the last, for experiments on lines, whose
//                        pauses have to hold the client as well
//     load=0             per cent by which the interval really is shorter: what Coz predicts with
//                        --arrival-speedup load%
//     script=40000       a request is a script that only computes, with a loop of so many rounds;
//                        every tenth has four times as many
//     members=0          instead, a request asks how many members two sets of so many share: its
//                        data may not stay in the caches while the server pauses
//     seconds=0          the server is shut down after so long; 0: never
//
// At the end it prints how many requests a second came and were answered, and quantiles of the
// time from sending to the answer.
#include <arpa/inet.h>
#include <coz.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct Options {
  double port = 6379, interval_us = 2000, load = 0, script = 40000, members = 0, seconds = 0,
         fixed = 1, most = 64;
};
Options options;

constexpr long kLongEvery = 10, kLongFactor = 4;

std::string request_of(long number) {
  if (options.members > 0) return "SINTERCARD 2 coz:a coz:b\r\n";
  const long rounds =
      static_cast<long>(options.script) * (number % kLongEvery == 0 ? kLongFactor : 1);
  return "EVAL \"local s = 0 for i = 1, tonumber(ARGV[1]) do s = s + i % 7 end return s\" 0 " +
         std::to_string(rounds) + "\r\n";
}

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

// Answers are numbers, one a line: as many of them as have come, -1 at the end.
long receive(int server) {
  std::array<char, 16384> buffer;
  const ssize_t size = recv(server, buffer.data(), buffer.size(), 0);
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

// Requests are answered in the order in which they were sent; a thread of its own receives answers.
class Answers {
 public:
  explicit Answers(int server) : server_(server) {
    latencies_.reserve(kRemembered);
    std::thread([this] { receive_all(); }).detach();
  }

  long sent() const { return sent_; }
  long answered() const { return answered_; }

  // Before a request is sent, of which no more than kMost may be without an answer.
  void sends() {
    begun_[static_cast<std::size_t>(sent_) % kMost] = Clock::now();
    COZ_BEGIN_ID("request", sent_);
    ++sent_;
  }

  // Of what has been answered, in microseconds.
  double quantile(double q) {
    const long number = std::min(answered_.load(), kRemembered);
    std::vector<double> sorted(latencies_.begin(), latencies_.begin() + number);
    if (sorted.empty()) return 0;
    std::sort(sorted.begin(), sorted.end());
    return 1e6 * sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))];
  }

  static constexpr long kMost = 4096, kRemembered = 1'000'000;

 private:
  void receive_all() {
    for (long more; (more = receive(server_)) >= 0;) {
      if (answered_ + more > sent_) fail("the server answered what was not asked");
      const auto now = Clock::now();
      for (; more > 0; --more) {
        COZ_END_ID("request", answered_);
        const auto begun = begun_[static_cast<std::size_t>(answered_) % kMost];
        if (answered_ < kRemembered) latencies_.push_back(Seconds(now - begun).count());
        ++answered_;
      }
    }
  }

  const int server_;
  std::array<Clock::time_point, kMost> begun_;
  std::vector<double> latencies_;
  std::atomic<long> sent_{0}, answered_{0};
};

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
  if (options.members > 0) fill(server);
  // Never destroyed: its thread goes on until the process ends.
  auto& answers = *new Answers(server);
  long turned_away = 0;
  const auto interval = std::chrono::duration_cast<Clock::duration>(
      Seconds(options.interval_us * (1 - options.load / 100) / 1e6));
  const auto start = Clock::now();
  auto next = start;
  for (;;) {
    next = (options.fixed != 0 ? next : Clock::now()) + interval;
    wait_until(next);
    const Seconds passed = Clock::now() - start;
    if (options.seconds > 0 && passed.count() >= options.seconds) break;
    COZ_ARRIVAL_NAMED("sent");
    const long sent = answers.sent();
    if (sent - answers.answered() >= std::min(static_cast<long>(options.most), Answers::kMost)) {
      ++turned_away;
      continue;
    }
    const std::string request = request_of(sent);
    answers.sends();
    if (!send_all(server, request.data(), request.size())) break;
  }
  const double seconds = Seconds(Clock::now() - start).count();
  std::printf("came %.1f a second, answered %.1f, p50 %.0f us, p90 %.0f us, p99 %.0f us\n",
              static_cast<double>(answers.sent() + turned_away) / seconds,
              static_cast<double>(answers.answered()) / seconds, answers.quantile(0.5),
              answers.quantile(0.9), answers.quantile(0.99));
  std::fflush(stdout);
  kill(getpid(), SIGTERM);
}

bool parse(const std::string& text) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos) return false;
  const struct {
    const char* name;
    double& value;
  } numbers[] = {{"port", options.port},     {"interval_us", options.interval_us},
                 {"load", options.load},     {"members", options.members},
                 {"script", options.script}, {"seconds", options.seconds},
                 {"fixed", options.fixed},   {"most", options.most}};
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
