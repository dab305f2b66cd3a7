// Threads answer requests, and log each; all they share is the log.
//
// requests FILE [SECONDS [THREADS]]
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "coz.h"

namespace {

std::atomic<bool> stop{false};

// A request's body, and its checksum (FNV-1a).
std::uint32_t answer(std::uint32_t request) {
  std::array<unsigned char, 1024> body;
  std::uint32_t state = request * 2654435761U + 1;
  for (auto& byte : body) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<unsigned char>(state >> 24U);
  }
  std::uint32_t sum = 2166136261U;
  for (const auto byte : body) sum = (sum ^ byte) * 16777619U;
  return sum;
}

// In a cache line of its own.
struct alignas(64) Server {
  std::shared_ptr<spdlog::logger> log;
  std::uint64_t answered = 0;

  void serve(int number) {
    while (!stop.load(std::memory_order_relaxed)) {
      const auto request = static_cast<std::uint32_t>(answered);
      const std::uint32_t sum = answer(request);
      log->info("thread {} request {} checksum {:08x}", number, request, sum);
      ++answered;
      COZ_PROGRESS_NAMED("request");
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 2 ? std::atof(argv[2]) : 60.0;
  const int threads = argc > 3 ? std::atoi(argv[3]) : 2;
  if (argc < 2 || seconds <= 0 || threads < 1) {
    std::fprintf(stderr, "usage: requests FILE [SECONDS [THREADS]]\n");
    return 2;
  }
  const std::string file = argv[1];
  const auto log = spdlog::basic_logger_mt("requests", file, true);

  std::vector<Server> servers(static_cast<std::size_t>(threads));
  std::vector<std::thread> running;
  for (auto& server : servers) server.log = log;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&server = servers[static_cast<std::size_t>(i)], i] { server.serve(i); });
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  stop = true;
  for (auto& thread : running) thread.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::uint64_t answered = 0;
  for (const auto& server : servers) answered += server.answered;
  std::printf("%llu requests in %.3f s by %d threads\n", static_cast<unsigned long long>(answered),
              took.count(), threads);
}
