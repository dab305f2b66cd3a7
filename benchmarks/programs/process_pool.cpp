// Two processes that take jobs from a pipe, as a server's workers do. The first process, which
// prepares the jobs, is the bottleneck.
#include "processes.h"

namespace {

ground_truth::Line prepare_line{"prepare", 2000};
ground_truth::Line work_line{"work", 1500};

[[gnu::noinline]] void prepare() {
  const long length = ground_truth::varied(prepare_line);
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE prepare
}

[[gnu::noinline]] void work(long length) {
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE work
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  const ground_truth::Pipe jobs;
  for (int i = 0; i < 2; ++i) {
    ground_truth::start_process([&] {
      jobs.only_receive();
      for (;;) work(jobs.receive());
    });
  }
  jobs.only_send();
  for (;;) {
    prepare();
    jobs.send(ground_truth::varied(work_line));
    COZ_PROGRESS_NAMED("job");
    ground_truth::visit();
  }
}
