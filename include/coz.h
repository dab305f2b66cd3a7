/* coz.h: marks for the causal profiler Coz. C99, C++11 and up; gcc and clang.
 *
 *   COZ_PROGRESS;               a unit of useful work is done here (throughput)
 *   COZ_PROGRESS_NAMED("name"); the same, under a name of its own
 *   COZ_BEGIN("name");          an operation begins here ...
 *   COZ_END("name");            ... and ends here, perhaps in another thread (latency)
 *   COZ_BEGIN_ID("name", id);   the same for operations with an `id`, an integer or an address
 *   COZ_END_ID("name", id);     that no other open operation has: Coz learns how long each takes
 *   COZ_SCOPE("name");          C++: such an operation, from here to the end of the block
 *   COZ_ARRIVAL;                a request arrives here (load)
 *   COZ_ARRIVAL_NAMED("name");
 *   COZ_REGION_BEGIN("name");   from here to COZ_REGION_END in the same thread is sped up as one
 *   COZ_REGION_END("name");     thing, whatever it calls; regions may lie in each other
 *   COZ_REGION("name");         C++: the rest of the enclosing block
 *
 * Only for code that blocks or wakes threads by means the profiler cannot see (its own futex
 * calls, hand-written assembly):
 *
 *   COZ_CATCH_UP;          before waking another thread: serve the delays that are due
 *   COZ_PRE_BLOCK;         before blocking
 *   COZ_POST_BLOCK(skip);  after blocking; skip != 0 if another thread of this program woke us,
 *                          so that the delays it served need not be served again
 *
 * Without the profiler a mark costs one load and a branch. The profiler is found at run time, by
 * dlsym at a mark's first visit: nothing is linked. (Where dlsym is not in libc itself, before
 * glibc 2.34, link with -ldl.) A mark's name is read once, at its first visit. Marks may be
 * visited by any thread, and not in signal handlers.
 */
#ifndef COZ_H
#define COZ_H

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#ifdef __cplusplus
#include <unistd.h>
#endif

/* A weak reference: a static program links, and is inert. */
#pragma weak dlsym

#ifdef __cplusplus
#define COZ_EXTERN_C_BEGIN_ extern "C" {
#define COZ_EXTERN_C_END_ }
/* `type` is one word. */
#define COZ_CAST_(type, value) type(value)
#else
#define COZ_EXTERN_C_BEGIN_
#define COZ_EXTERN_C_END_
#define COZ_CAST_(type, value) ((type)(value))
#endif

COZ_EXTERN_C_BEGIN_

#define COZ_KIND_THROUGHPUT_ 1
#define COZ_KIND_BEGIN_ 2
#define COZ_KIND_END_ 3
#define COZ_KIND_ARRIVAL_ 4

/* A point as the profiler hands it out; `visit` counts one visit. */
typedef struct coz_point {
  void (*visit)(struct coz_point* point);
} coz_point_t;

/* The begin or end of operations with identities, as the profiler hands it out. */
typedef struct coz_operation {
  void (*visit)(struct coz_operation* operation, unsigned long long id);
} coz_operation_t;

/* A region as the profiler hands it out. */
typedef struct coz_region {
  void (*begin)(struct coz_region* region);
  void (*end)(struct coz_region* region);
} coz_region_t;

typedef coz_point_t* coz_point_pointer_t;
typedef coz_operation_t* coz_operation_pointer_t;
typedef coz_region_t* coz_region_pointer_t;
typedef coz_point_t* (*coz_get_point_t)(int kind, const char* name);
typedef coz_operation_t* (*coz_get_operation_t)(int kind, const char* name);
typedef coz_region_t* (*coz_get_region_t)(const char* name);
typedef void (*coz_call_t)(void);
typedef void (*coz_call_with_t)(int argument);

/* What a mark remembers: not yet looked up, absent, or an address. */
#define COZ_SITE_INERT_ 0U
#define COZ_SITE_NEW_ 1U

/* The address of a symbol of the profiler's, or COZ_SITE_INERT_. Where there is none, dlsym
 * allocates its message: a mark in the program's allocator is then visited in the same thread. */
__attribute__((__cold__, __noinline__, __unused__)) static size_t coz_look_up_(const char* symbol) {
  static size_t looking_thread = 0;
  const size_t thread = COZ_CAST_(size_t, &errno);
  void* address = NULL;
  void* (*const find)(void*, const char*) = dlsym;
  if (find == NULL || __atomic_load_n(&looking_thread, __ATOMIC_RELAXED) == thread) {
    return COZ_SITE_INERT_;
  }
  /* Another thread may overwrite it; then this one looks twice. */
  __atomic_store_n(&looking_thread, thread, __ATOMIC_RELAXED);
  address = find(NULL /* RTLD_DEFAULT */, symbol);
  __atomic_store_n(&looking_thread, 0, __ATOMIC_RELAXED);
  return COZ_CAST_(size_t, address);
}

/* The site's address, looked up at the first visit. Threads may race: they find the same. */
__attribute__((__unused__)) static inline size_t coz_function_site_(size_t* site,
                                                                    const char* symbol) {
  size_t address = __atomic_load_n(site, __ATOMIC_ACQUIRE);
  if (__builtin_expect(address == COZ_SITE_NEW_, 0)) {
    address = coz_look_up_(symbol);
    __atomic_store_n(site, address, __ATOMIC_RELEASE);
  }
  return address;
}

__attribute__((__cold__, __noinline__, __unused__)) static size_t coz_new_point_(size_t* site,
                                                                                 int kind,
                                                                                 const char* name) {
  const size_t get_point = coz_look_up_("_coz_get_point");
  size_t point = COZ_SITE_INERT_;
  if (get_point != COZ_SITE_INERT_) {
    point = COZ_CAST_(size_t, COZ_CAST_(coz_get_point_t, get_point)(kind, name));
  }
  __atomic_store_n(site, point, __ATOMIC_RELEASE);
  return point;
}

__attribute__((__cold__, __noinline__, __unused__)) static size_t coz_new_operation_(
    size_t* site, int kind, const char* name) {
  const size_t get_operation = coz_look_up_("_coz_get_operation");
  size_t operation = COZ_SITE_INERT_;
  if (get_operation != COZ_SITE_INERT_) {
    operation = COZ_CAST_(size_t, COZ_CAST_(coz_get_operation_t, get_operation)(kind, name));
  }
  __atomic_store_n(site, operation, __ATOMIC_RELEASE);
  return operation;
}

__attribute__((__cold__, __noinline__, __unused__)) static size_t coz_new_region_(
    size_t* site, const char* name) {
  const size_t get_region = coz_look_up_("_coz_get_region");
  size_t region = COZ_SITE_INERT_;
  if (get_region != COZ_SITE_INERT_) {
    region = COZ_CAST_(size_t, COZ_CAST_(coz_get_region_t, get_region)(name));
  }
  __atomic_store_n(site, region, __ATOMIC_RELEASE);
  return region;
}

/* NULL without the profiler. */
__attribute__((__unused__)) static inline coz_region_t* coz_region_(size_t* site,
                                                                    const char* name) {
  size_t address = __atomic_load_n(site, __ATOMIC_ACQUIRE);
  if (__builtin_expect(address == COZ_SITE_NEW_, 0)) address = coz_new_region_(site, name);
  return COZ_CAST_(coz_region_pointer_t, address);
}

__attribute__((__unused__)) static inline void coz_visit_(size_t* site, size_t address, int kind,
                                                          const char* name) {
  if (__builtin_expect(address == COZ_SITE_NEW_, 0)) address = coz_new_point_(site, kind, name);
  if (address != COZ_SITE_INERT_) {
    coz_point_t* const point = COZ_CAST_(coz_point_pointer_t, address);
    point->visit(point);
  }
}

__attribute__((__unused__)) static inline void coz_visit_operation_(size_t* site, size_t address,
                                                                    int kind, const char* name,
                                                                    size_t id) {
  if (__builtin_expect(address == COZ_SITE_NEW_, 0)) address = coz_new_operation_(site, kind, name);
  if (address != COZ_SITE_INERT_) {
    coz_operation_t* const operation = COZ_CAST_(coz_operation_pointer_t, address);
    operation->visit(operation, id);
  }
}

COZ_EXTERN_C_END_

#define COZ_VISIT_(kind, name)                                                 \
  do {                                                                         \
    static size_t coz_site_ = COZ_SITE_NEW_;                                   \
    const size_t coz_address_ = __atomic_load_n(&coz_site_, __ATOMIC_ACQUIRE); \
    if (__builtin_expect(coz_address_ != COZ_SITE_INERT_, 0)) {                \
      coz_visit_(&coz_site_, coz_address_, kind, name);                        \
    }                                                                          \
  } while (0)

#define COZ_VISIT_OPERATION_(kind, name, id)                                             \
  do {                                                                                   \
    static size_t coz_site_ = COZ_SITE_NEW_;                                             \
    const size_t coz_address_ = __atomic_load_n(&coz_site_, __ATOMIC_ACQUIRE);           \
    if (__builtin_expect(coz_address_ != COZ_SITE_INERT_, 0)) {                          \
      coz_visit_operation_(&coz_site_, coz_address_, kind, name, COZ_CAST_(size_t, id)); \
    }                                                                                    \
  } while (0)

#define COZ_CALL_(symbol, type, arguments)                              \
  do {                                                                  \
    static size_t coz_site_ = COZ_SITE_NEW_;                            \
    const size_t coz_address_ = coz_function_site_(&coz_site_, symbol); \
    if (__builtin_expect(coz_address_ != COZ_SITE_INERT_, 0)) {         \
      (COZ_CAST_(type, coz_address_)) arguments;                        \
    }                                                                   \
  } while (0)

#define COZ_TEXT_OF_(x) #x
#define COZ_TEXT_(x) COZ_TEXT_OF_(x)
#define COZ_HERE_ __FILE__ ":" COZ_TEXT_(__LINE__)

#define COZ_PROGRESS COZ_VISIT_(COZ_KIND_THROUGHPUT_, COZ_HERE_)
#define COZ_PROGRESS_NAMED(name) COZ_VISIT_(COZ_KIND_THROUGHPUT_, name)
#define COZ_BEGIN(name) COZ_VISIT_(COZ_KIND_BEGIN_, name)
#define COZ_END(name) COZ_VISIT_(COZ_KIND_END_, name)
#define COZ_BEGIN_ID(name, id) COZ_VISIT_OPERATION_(COZ_KIND_BEGIN_, name, id)
#define COZ_END_ID(name, id) COZ_VISIT_OPERATION_(COZ_KIND_END_, name, id)
#define COZ_ARRIVAL COZ_VISIT_(COZ_KIND_ARRIVAL_, COZ_HERE_)
#define COZ_ARRIVAL_NAMED(name) COZ_VISIT_(COZ_KIND_ARRIVAL_, name)

#define COZ_REGION_CALL_(which, name)                                 \
  do {                                                                \
    static size_t coz_site_ = COZ_SITE_NEW_;                          \
    coz_region_t* const coz_entered_ = coz_region_(&coz_site_, name); \
    if (__builtin_expect(coz_entered_ != NULL, 0)) {                  \
      coz_entered_->which(coz_entered_);                              \
    }                                                                 \
  } while (0)
#define COZ_REGION_BEGIN(name) COZ_REGION_CALL_(begin, name)
#define COZ_REGION_END(name) COZ_REGION_CALL_(end, name)

#ifdef __cplusplus
/* Enters a region, and leaves it at the end of the block, also by an exception. */
class coz_region_scope {
 public:
  explicit coz_region_scope(coz_region_t* region) : region_(region) {
    if (region_ != NULL) region_->begin(region_);
  }
  ~coz_region_scope() {
    if (region_ != NULL) region_->end(region_);
  }

 private:
  coz_region_scope(const coz_region_scope&);
  coz_region_scope& operator=(const coz_region_scope&);

  coz_region_t* region_;
};

/* What a mark of an operation remembers for its begin and its end. `end` is written first. */
struct coz_scope_sites {
  size_t begin;
  size_t end;
};

/* Both are of one name, the first visitor's, although names may differ from visit to visit. Of
 * threads that race one writes them, and the others keep to what they have found themselves. */
__attribute__((__cold__, __noinline__, __unused__)) static coz_scope_sites coz_new_scope_(
    coz_scope_sites* sites, const char* name) {
  coz_scope_sites found = {COZ_SITE_NEW_, COZ_SITE_NEW_};
  coz_new_operation_(&found.begin, COZ_KIND_BEGIN_, name);
  coz_new_operation_(&found.end, COZ_KIND_END_, name);
  if (found.begin == COZ_SITE_INERT_ || found.end == COZ_SITE_INERT_) {
    found.begin = found.end = COZ_SITE_INERT_;
  }
  size_t unwritten = COZ_SITE_NEW_;
  if (__atomic_compare_exchange_n(&sites->end, &unwritten, found.end, false, __ATOMIC_RELAXED,
                                  __ATOMIC_RELAXED)) {
    __atomic_store_n(&sites->begin, found.begin, __ATOMIC_RELEASE);
  }
  return found;
}

/* An operation that begins here, and ends at the end of the block, also by an exception. Its
 * identity is made of its address and of the process, since forked ones have the same addresses.
 * A class whose members change gets another name: a program may have several versions of this file.
 */
class coz_operation_pair {
 public:
  coz_operation_pair(coz_scope_sites* sites, const char* name) : end_(COZ_SITE_INERT_), id_(0) {
    const size_t begin = __atomic_load_n(&sites->begin, __ATOMIC_ACQUIRE);
    if (__builtin_expect(begin != COZ_SITE_INERT_, 0)) enter(sites, begin, name);
  }
  ~coz_operation_pair() {
    if (__builtin_expect(end_ != COZ_SITE_INERT_, 0)) visit(end_);
  }

 private:
  coz_operation_pair(const coz_operation_pair&);
  coz_operation_pair& operator=(const coz_operation_pair&);

  void enter(coz_scope_sites* sites, size_t begin, const char* name) {
    coz_scope_sites known = {begin, __atomic_load_n(&sites->end, __ATOMIC_RELAXED)};
    if (begin == COZ_SITE_NEW_) known = coz_new_scope_(sites, name);
    if (known.begin == COZ_SITE_INERT_) return;
    id_ = reinterpret_cast<size_t>(this) ^ static_cast<size_t>(getpid()) * 0x9e3779b97f4a7c15U;
    end_ = known.end;
    visit(known.begin);
  }

  void visit(size_t address) const {
    coz_operation_t* const operation = COZ_CAST_(coz_operation_pointer_t, address);
    operation->visit(operation, id_);
  }

  size_t end_;
  size_t id_;
};

#define COZ_JOINED_(a, b) a##b
#define COZ_JOIN_(a, b) COZ_JOINED_(a, b)
#define COZ_REGION(name) COZ_REGION_SCOPE_(name, __COUNTER__)
#define COZ_REGION_SCOPE_(name, number)                       \
  static size_t COZ_JOIN_(coz_site_, number) = COZ_SITE_NEW_; \
  const coz_region_scope COZ_JOIN_(coz_region_scope_,         \
                                   number)(coz_region_(&COZ_JOIN_(coz_site_, number), name))
#define COZ_SCOPE(name) COZ_SCOPE_(name, __COUNTER__)
#define COZ_SCOPE_(name, number)                                                         \
  static coz_scope_sites COZ_JOIN_(coz_sites_, number) = {COZ_SITE_NEW_, COZ_SITE_NEW_}; \
  const coz_operation_pair COZ_JOIN_(coz_scope_, number)(&COZ_JOIN_(coz_sites_, number), name)
#endif

#define COZ_CATCH_UP COZ_CALL_("_coz_add_delays", coz_call_t, ())
#define COZ_PRE_BLOCK COZ_CALL_("_coz_pre_block", coz_call_t, ())
#define COZ_POST_BLOCK(skip) COZ_CALL_("_coz_post_block", coz_call_with_t, (skip))

#endif /* COZ_H */
