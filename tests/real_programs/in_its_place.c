/* Stands where a test suite's server stood, and starts the script that profiles it. A program,
   since suites look at what they start: Redis's asks ldd which libc it has. SCRIPT: the script's
   path, given by the compiler's command. */
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  (void)argc;
  execv(SCRIPT, argv);
  perror(SCRIPT);
  return 127;
}
