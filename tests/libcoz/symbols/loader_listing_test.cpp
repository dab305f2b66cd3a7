#include "symbols/loader_listing.h"

#include <dlfcn.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

namespace {

// A function that no sanitizer has in its place.
std::uintptr_t address_of_libc() {
  return reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"));
}

}  // namespace

TEST_CASE("all objects are listed, with names and build ids that are there in memory",
          "[loader_listing]") {
  coz::LoaderListing listing;
  coz::list_loaded_objects(listing);
  CHECK(listing.complete);
  CHECK(listing.counts == coz::read_loader_counts());
  coz::LoadedObject libc;
  REQUIRE(coz::find_loaded_object(address_of_libc(), libc));
  const auto found =
      std::find_if(listing.objects.begin(), listing.objects.end(),
                   [&](const coz::ListedObject& listed) { return listed.object == libc; });
  REQUIRE(found != listing.objects.end());
  CHECK(listing.name_of(*found).find("libc") != std::string_view::npos);
  CHECK(found->load_bias == libc.begin);
  // Debian's libraries have one, of 20 bytes, in their first page.
  if (found->build_id_at != 0) {
    CHECK(found->build_id_at - libc.begin < 4096);
    const auto* memory = reinterpret_cast<const std::uint8_t*>(found->build_id_at);
    CHECK(std::equal(found->build_id.get().begin(), found->build_id.get().end(), memory));
  }
  CHECK(std::any_of(listing.objects.begin(), listing.objects.end(),
                    [](const coz::ListedObject& listed) { return listed.build_id_at != 0; }));
  CHECK(listing.name_of(listing.objects.front()).empty());
}

TEST_CASE("loading and unloading is counted", "[loader_listing]") {
  const coz::LoaderCounts before = coz::read_loader_counts();
  void* library = dlopen("libutil.so.1", RTLD_NOW);
  if (library == nullptr) return;
  CHECK(coz::read_loader_counts().loaded > before.loaded);
  dlclose(library);
  CHECK(coz::read_loader_counts().unloaded > before.unloaded);
}
