// Requests come in bursts of one to eight, every 3.5 ms, and wait in a queue for a thread that
// serves one after the other. Latency is the time from a request's arrival until it is served. A
// faster service pays twice, as queues are shorter, too; a faster generate() does harm: bursts come
// sooner, and requests wait longer. The server is busy half of the time, so that a processor that
// is slow for a while does not overload it.
#include <thread>

#include "bounded_queue.h"
#include "ground_truth.h"

namespace {

ground_truth::Line generate_line{"generate", 1000};
ground_truth::Line serve_line{"serve", 330};
ground_truth::Line record_line{"record", 70};

[[gnu::noinline]] void generate() {
  for (long i = generate_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE generate
}

[[gnu::noinline]] void serve() {
  for (long i = serve_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE serve
}

[[gnu::noinline]] void record() {
  for (long i = record_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE record
}

ground_truth::BoundedQueue<double> queue(4096);

void run_generator() {
  constexpr int kBursts[] = {1, 6, 2, 8, 3, 5, 4, 7};
  for (;;) {
    for (const int burst : kBursts) {
      generate();
      ground_truth::sleep_microseconds(2500);
      for (int request = 0; request < burst; ++request) {
        COZ_BEGIN("request");
        queue.push(ground_truth::now());
      }
    }
  }
}

void run_server() {
  for (;;) {
    const double arrival = queue.pop();
    serve();
    record();
    COZ_END("request");
    ground_truth::visit(arrival);
  }
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  std::thread generator(run_generator);
  std::thread server(run_server);
  generator.join();
  server.join();
}
