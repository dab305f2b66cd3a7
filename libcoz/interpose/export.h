// A function that replaces libc's, or is called by name from the program.
#ifndef LIBCOZ_INTERPOSE_EXPORT_H
#define LIBCOZ_INTERPOSE_EXPORT_H

#define COZ_EXPORT extern "C" __attribute__((visibility("default")))

// A part of an exported function that is told apart by who called that (Session::current_delays).
#define COZ_WRAPPER_PART [[gnu::always_inline]] inline

#endif  // LIBCOZ_INTERPOSE_EXPORT_H
