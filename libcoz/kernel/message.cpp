#include "kernel/message.h"

#include <unistd.h>

#include <cstdarg>
#include <cstdio>

#include "kernel/harmless_write.h"

namespace coz {

void message(const char* format, ...) noexcept {
  char line[1024];
  int used = std::snprintf(line, sizeof line, "coz: ");
  va_list arguments;
  va_start(arguments, format);
  used += std::vsnprintf(line + used, sizeof line - static_cast<std::size_t>(used) - 1, format,
                         arguments);
  va_end(arguments);
  if (used > static_cast<int>(sizeof line) - 2) used = sizeof line - 2;
  // Names come from the program, and may contain control characters; the line may go to a terminal.
  for (int i = 0; i < used; ++i) {
    if (static_cast<unsigned char>(line[i]) < ' ' || line[i] == '\x7f') line[i] = '?';
  }
  line[used++] = '\n';
  harmless_write(STDERR_FILENO, line, static_cast<std::size_t>(used));
}

}  // namespace coz
