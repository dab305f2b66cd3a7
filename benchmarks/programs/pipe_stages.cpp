// Two threads, between which blocks of 4 KiB go through a pipe of 64 KiB.
#include <thread>

#include "ground_truth.h"

namespace {

ground_truth::Line fill_line{"fill", 150};
ground_truth::Line check_line{"check", 110};
ground_truth::Line pack_line{"pack", 90};

[[gnu::noinline]] void fill() {
  const long length = ground_truth::varied(fill_line);
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE fill
}
[[gnu::noinline]] void check() {
  const long length = ground_truth::varied(check_line);
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE check
}
[[gnu::noinline]] void pack() {
  const long length = ground_truth::varied(pack_line);
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE pack
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  static int ends[2];
  if (pipe(ends) != 0) return 1;
  std::thread producer([] {
    static char block[4096];
    for (;;) {
      fill();
      if (write(ends[1], block, sizeof block) != sizeof block) _exit(3);
    }
  });
  static char block[4096];
  for (;;) {
    for (std::size_t got = 0; got < sizeof block;) {
      const ssize_t part = read(ends[0], block + got, sizeof block - got);
      if (part <= 0) return 3;
      got += static_cast<std::size_t>(part);
    }
    check();
    pack();
    COZ_PROGRESS_NAMED("block");
    ground_truth::visit();
  }
}
