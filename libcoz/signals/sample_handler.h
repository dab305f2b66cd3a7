// The handler of the signals that the profiler takes for itself. It takes samples, steps over
// breakpoint instructions of ours, and passes the program's own signals on (program_signals.h).
//
// It runs in any thread of the program, on that thread's own stack: it allocates nothing, takes no
// lock and keeps errno.
#ifndef LIBCOZ_SIGNALS_SAMPLE_HANDLER_H
#define LIBCOZ_SIGNALS_SAMPLE_HANDLER_H

#include "patch/breakpoints.h"
#include "sampling/sample_source.h"

namespace coz {

// Takes a sample of the calling thread, which was interrupted in `context`, if the event is to give
// one (SampleSource::takes). Signal-safe.
using TakeSample = void (*)(void* context, const SampleSignal& signal) noexcept;

// In the handler, for a sample by SIGTRAP, with its context: until then, all other signals wait, so
// that it sees which has ended the call in which the sample was due. In a pause they need not wait.
void let_signals_come(const void* context) noexcept;

// Before sampling starts, in the first thread.
void install_sample_handler(TakeSample take_sample) noexcept;
// Once it is known which signal carries samples (0: none), and which breakpoints there are
// (nullptr: none): signals that are not needed are the program's again. In the first thread, before
// main.
void set_sample_signal(int signal, const Breakpoints* breakpoints) noexcept;

}  // namespace coz

#endif  // LIBCOZ_SIGNALS_SAMPLE_HANDLER_H
