// A function that replaces libc's, or is called by name from the program.
#ifndef LIBCOZ_INTERPOSE_EXPORT_H
#define LIBCOZ_INTERPOSE_EXPORT_H

#define COZ_EXPORT extern "C" __attribute__((visibility("default")))

#endif  // LIBCOZ_INTERPOSE_EXPORT_H
