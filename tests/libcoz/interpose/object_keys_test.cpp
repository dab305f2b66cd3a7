#include "interpose/object_keys.h"

#include <catch2/catch.hpp>

using coz::is_shared;

TEST_CASE("glibc marks objects that are for several processes") {
  const bool shared = GENERATE(false, true);
  const int way = shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE;

  pthread_mutexattr_t mutex_attributes;
  pthread_mutexattr_init(&mutex_attributes);
  pthread_mutexattr_setpshared(&mutex_attributes, way);
  const int type = GENERATE(as<int>(), PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutexattr_settype(&mutex_attributes, type);
  pthread_mutex_t mutex;
  REQUIRE(pthread_mutex_init(&mutex, &mutex_attributes) == 0);
  CHECK(is_shared(&mutex) == shared);

  pthread_condattr_t condition_attributes;
  pthread_condattr_init(&condition_attributes);
  pthread_condattr_setpshared(&condition_attributes, way);
  pthread_cond_t condition;
  REQUIRE(pthread_cond_init(&condition, &condition_attributes) == 0);
  CHECK(is_shared(&condition) == shared);

  pthread_rwlockattr_t lock_attributes;
  pthread_rwlockattr_init(&lock_attributes);
  pthread_rwlockattr_setpshared(&lock_attributes, way);
  pthread_rwlock_t lock;
  REQUIRE(pthread_rwlock_init(&lock, &lock_attributes) == 0);
  CHECK(is_shared(&lock) == shared);

  pthread_barrierattr_t barrier_attributes;
  pthread_barrierattr_init(&barrier_attributes);
  pthread_barrierattr_setpshared(&barrier_attributes, way);
  pthread_barrier_t barrier;
  REQUIRE(pthread_barrier_init(&barrier, &barrier_attributes, 2) == 0);
  CHECK(is_shared(&barrier) == shared);

  sem_t semaphore;
  REQUIRE(sem_init(&semaphore, shared ? 1 : 0, 5) == 0);
  CHECK(is_shared(&semaphore) == shared);
}

TEST_CASE("without --tree the key of an object is its address") {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  CHECK(coz::key(&mutex) == reinterpret_cast<std::uintptr_t>(&mutex));
  CHECK(coz::own_key(1234) == 1234);
}
