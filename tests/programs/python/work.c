// What a Python program lets a library do: two functions, of which one takes three times as long.
void work(long turns) {
  for (long i = 3 * turns; i > 0; --i) __asm__ volatile("" : "+r"(i));  // LONG
}

void rest(long turns) {
  for (long i = turns; i > 0; --i) __asm__ volatile("" : "+r"(i));
}
