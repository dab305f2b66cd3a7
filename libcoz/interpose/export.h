// Marks functions that replace libc's, or that the program calls by name.
#ifndef LIBCOZ_INTERPOSE_EXPORT_H
#define LIBCOZ_INTERPOSE_EXPORT_H

#define COZ_EXPORT extern "C" __attribute__((visibility("default")))

// A part of an exported function, whose return address identifies the code segment
// (Session::current_delays).
#define COZ_WRAPPER_PART [[gnu::always_inline]] inline

#endif  // LIBCOZ_INTERPOSE_EXPORT_H
