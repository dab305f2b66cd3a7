// A library to be loaded while a program runs. Compiled with another WORK it has the same layout,
// but another build id.
#ifndef WORK
#define WORK 60000L
#endif

__attribute__((noinline)) void spin(long units) {
  for (long i = 0; i < units; ++i) __asm__ volatile("" : "+r"(i));  // HOT
}

void plugin_work(void) {
  spin(WORK);
  __asm__ volatile("");  // no jump in place of the call
}
