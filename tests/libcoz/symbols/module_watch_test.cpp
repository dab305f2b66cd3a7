#include "symbols/module_watch.h"

#include <catch2/catch.hpp>
#include <map>

#include "tests/libcoz/symbols/fake_memory.h"

using coz::LoadedFile;
using coz::Modules;
using coz::ModuleWatch;
using coz::ModuleWorld;
using coz::SourceFrame;
using coz::SourceScope;
using coz::TableAnswer;

namespace {

constexpr std::uintptr_t kOuter = 0x10;
constexpr std::uint8_t kRightId = kSampleBuildId[0];

class FakeWorld : public ModuleWorld {
 public:
  FakeWorld() { write_whole(folder / "table", sample_table()); }

  bool has_changed() override { return changed; }
  bool list(std::vector<LoadedFile>& out, std::uint64_t& times_unloaded) override {
    out = files;
    times_unloaded = unloaded;
    return listable;
  }
  TableAnswer table_of(const std::string& path) override {
    ++asked[path];
    return answer;
  }
  bool make_room(std::uint32_t lines, std::uint32_t functions) override {
    room_for = {lines, functions};
    return has_room;
  }
  void say(const std::string& text) override { said.push_back(text); }

  TemporaryFolder folder;
  bool changed = true, listable = true, has_room = true;
  std::vector<LoadedFile> files;
  std::uint64_t unloaded = 0;
  TableAnswer answer{TableAnswer::Kind::kTable, folder / "table"};
  std::map<std::string, int> asked;
  std::pair<std::uint32_t, std::uint32_t> room_for;
  std::vector<std::string> said;
};

struct Watched {
  Watched() { REQUIRE(modules.reserve()); }

  std::string at(std::size_t place) const {
    SourceFrame found;
    if (modules.find(memory.address(place) + kOuter, {&found, 1}) == 0) return "";
    return modules.location(found.line);
  }
  void load(std::size_t place, const std::string& path, std::uint8_t id = kRightId) {
    world.files.push_back({memory.put(place, id), path, "1"});
  }
  void unload_all() {
    for (std::size_t place = 0; place < FakeMemory::kPlaces; ++place) memory.remove(place);
    world.files.clear();
    ++world.unloaded;
  }

  FakeMemory memory;
  FakeWorld world;
  SourceScope scope;
  Modules modules{FakeMemory::find};
  ModuleWatch watch{modules, scope, world};
};

}  // namespace

TEST_CASE("a library that is loaded is asked for once, and profiled", "[module_watch]") {
  Watched all;
  all.load(0, "/lib/a.so");
  all.watch.look();
  CHECK(all.at(0) == "/src/a.c:10");
  CHECK(all.world.room_for.first == all.modules.line_count());
  CHECK(all.world.room_for.second == all.modules.function_count());
  all.watch.look();
  all.unload_all();
  all.watch.look();
  CHECK(all.at(0).empty());
  all.load(3, "/lib/a.so");
  all.watch.look();
  CHECK(all.at(3) == "/src/a.c:10");
  CHECK(all.world.asked == std::map<std::string, int>{{"/lib/a.so", 1}});
  CHECK(all.world.said.empty());
}

TEST_CASE("nothing is done where nothing changed, or all is changing", "[module_watch]") {
  Watched all;
  all.load(0, "/lib/a.so");
  all.world.changed = false;
  all.watch.look();
  all.world.changed = true;
  all.world.listable = false;
  all.watch.look();
  CHECK(all.world.asked.empty());
  all.world.listable = true;
  all.watch.look();
  CHECK(all.at(0) == "/src/a.c:10");
}

TEST_CASE("a file that is built anew under its name is another", "[module_watch]") {
  Watched all;
  all.world.files.push_back({all.memory.put_without_id(0), "/lib/a.so", "yesterday"});
  all.watch.look();
  all.unload_all();
  all.watch.look();
  CHECK(all.at(0).empty());
  all.world.files.push_back({all.memory.put_without_id(1), "/lib/a.so", "today"});
  all.watch.look();
  CHECK(all.world.asked["/lib/a.so"] == 2);
  CHECK(all.at(1) == "/src/a.c:10");
}

TEST_CASE("without a build id, what is loaded in a library's place is told by its file",
          "[module_watch]") {
  Watched all;
  all.world.files.push_back({all.memory.put_without_id(0), "/lib/a.so", "1"});
  all.watch.look();
  REQUIRE(all.at(0) == "/src/a.c:10");
  const auto lines = all.modules.line_count();
  SourceFrame found;
  SECTION("another version") {
    all.unload_all();
    all.world.files.push_back({all.memory.put_without_id(0), "/lib/a.so", "2"});
    all.watch.look();
    REQUIRE(all.modules.find(all.memory.address(0) + kOuter, {&found, 1}) == 1);
    CHECK(all.modules.line_count() > lines);
  }
  SECTION("one out of scope") {
    all.unload_all();
    all.world.files.push_back({all.memory.put_without_id(0), "/lib/b.so", "1"});
    all.world.answer = {TableAnswer::Kind::kNone, ""};
    all.watch.look();
    CHECK(all.at(0).empty());
  }
  SECTION("the same one") {
    all.unload_all();
    all.world.files.push_back({all.memory.put_without_id(0), "/lib/a.so", "1"});
    all.watch.look();
    CHECK(all.at(0) == "/src/a.c:10");
  }
  SECTION("nothing, while the file is built anew, or deleted") {
    all.world.files[0].stamp = GENERATE("2", "");
    if (all.world.files[0].stamp.empty()) ++all.world.unloaded;  // something else
    all.world.answer = {TableAnswer::Kind::kNone, ""};
    all.watch.look();
    REQUIRE(all.modules.find(all.memory.address(0) + kOuter, {&found, 1}) == 1);
    CHECK(found.line < lines);
  }
  CHECK(all.world.said.empty());
}

TEST_CASE("without a build id a library is profiled at each address, with the same lines",
          "[module_watch]") {
  Watched all;
  all.world.files.push_back({all.memory.put_without_id(0), "/lib/a.so", "1"});
  all.watch.look();
  all.unload_all();
  all.world.files.push_back({all.memory.put_without_id(2), "/lib/a.so", "1"});
  all.watch.look();
  CHECK(all.at(2) == "/src/a.c:10");
  CHECK(all.world.asked["/lib/a.so"] == 1);
}

TEST_CASE("a library without a table does not affect others", "[module_watch]") {
  Watched all;
  const auto [kind, text, message] = GENERATE(table<TableAnswer::Kind, std::string, std::string>({
      {TableAnswer::Kind::kNone, "", ""},
      {TableAnswer::Kind::kFailed, "too slow",
       "/lib/a.so was loaded, but is not profiled: too slow"},
      {TableAnswer::Kind::kTable, "/no/table", "cannot be used"},
  }));
  all.load(0, "/lib/a.so");
  all.world.answer = {kind, text};
  all.watch.look();
  all.watch.look();
  CHECK(all.at(0).empty());
  CHECK(all.world.asked["/lib/a.so"] == 1);
  REQUIRE(all.world.said.size() == (message.empty() ? 0 : 1));
  if (!message.empty()) CHECK(all.world.said[0].find(message) != std::string::npos);
  all.world.answer = {TableAnswer::Kind::kTable, all.world.folder / "table"};
  all.load(1, "/lib/b.so");
  all.watch.look();
  CHECK(all.at(1) == "/src/a.c:10");
}

TEST_CASE("a table of another build is not used", "[module_watch]") {
  Watched all;
  all.load(0, "/lib/a.so", kRightId + 1);
  all.watch.look();
  CHECK(all.at(0).empty());
  REQUIRE(all.world.said.size() == 1);
  CHECK(all.world.said[0].find("has changed since it was loaded") != std::string::npos);
}

TEST_CASE("a module whose samples could not be counted is not added", "[module_watch]") {
  Watched all;
  all.load(0, "/lib/a.so");
  all.world.has_room = false;
  all.watch.look();
  CHECK(all.modules.line_count() == 0);
  CHECK(all.world.said.size() == 1);
}

TEST_CASE("a launcher that is gone is asked no more, and that is said once", "[module_watch]") {
  Watched all;
  all.load(0, "/lib/a.so");
  all.load(1, "/lib/b.so");
  all.world.answer = {TableAnswer::Kind::kGone, "coz run is gone"};
  all.watch.look();
  all.load(2, "/lib/c.so");
  all.watch.look();
  CHECK(all.world.asked.size() == 1);
  CHECK(all.world.said.size() == 1);
}

TEST_CASE("objects without a file are not asked for", "[module_watch]") {
  Watched all;
  all.load(0, "");
  all.watch.look();
  CHECK(all.world.asked.empty());
}
