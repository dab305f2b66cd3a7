// A small stand-in for libFuzzer, where there is no clang: changes the files it is given, without
// looking at what the code does with them, and calls the target. The options are libFuzzer's, as
// far as they go:
//
//   TARGET [-max_total_time=S] [-seed=N] [-max_len=N] [-artifact_prefix=P] FILE-OR-FOLDER...
//
// Files alone, without -max_total_time, are each tried once as they are: so are regressions tested.
// The input in hand is written to Pcrash-in-hand first, so that it is there when the process ends;
// a time limit for each is the caller's.
#include <dirent.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/target.h"

namespace {

using Bytes = std::string;

struct Options {
  double seconds = 0;
  unsigned long seed = 1;
  std::size_t longest = 1 << 20;
  std::string artifacts;
  std::vector<Bytes> seeds;
};

Bytes read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void read_seeds(const std::string& path, std::vector<Bytes>& seeds) {
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) {
    seeds.push_back(read_file(path));
    return;
  }
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] != '.') seeds.push_back(read_file(path + "/" + entry->d_name));
  }
  closedir(folder);
}

bool option(const char* argument, const char* name, std::string& value) {
  const std::size_t length = std::strlen(name);
  if (std::strncmp(argument, name, length) != 0 || argument[length] != '=') return false;
  value = argument + length + 1;
  return true;
}

Options parse(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    std::string value;
    if (option(arguments[i], "-max_total_time", value)) {
      options.seconds = std::stod(value);
    } else if (option(arguments[i], "-seed", value)) {
      options.seed = std::stoul(value);
    } else if (option(arguments[i], "-max_len", value)) {
      options.longest = std::stoul(value);
    } else if (option(arguments[i], "-artifact_prefix", value)) {
      options.artifacts = value;
    } else if (arguments[i][0] != '-') {  // options of libFuzzer's that mean nothing here
      read_seeds(arguments[i], options.seeds);
    }
  }
  return options;
}

class Mutator {
 public:
  explicit Mutator(unsigned long seed) : random_(seed) {}

  Bytes mutate(const std::vector<Bytes>& seeds, std::size_t longest) {
    Bytes bytes = seeds[below(seeds.size())];
    for (std::size_t changes = std::size_t{1} << below(6); changes > 0; --changes) {
      change(bytes, seeds[below(seeds.size())]);
    }
    if (bytes.size() > longest) bytes.resize(longest);
    return bytes;
  }

 private:
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  // In most files the beginning, and what is near other changes, matter more than the rest.
  std::size_t place(const Bytes& bytes) {
    const std::size_t kind = below(4);
    if (kind == 0) return below(std::min<std::size_t>(bytes.size(), 256));
    if (kind == 1) last_ = std::min(last_ + below(64), bytes.size() == 0 ? 0 : bytes.size() - 1);
    if (kind > 1) last_ = below(bytes.size());
    return last_;
  }

  void change(Bytes& bytes, const Bytes& other) {
    if (bytes.empty()) bytes = "x";
    const std::size_t at = std::min(place(bytes), bytes.size() - 1);
    switch (below(8)) {
      case 0:
        bytes[at] = static_cast<char>(random_());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 2:
      case 3:
        write_number(bytes, at);
        break;
      case 4:
        bytes.erase(at, 1 + below(below(2) == 0 ? 4 : 300));
        break;
      case 5:
        bytes.insert(at, 1 + below(8), static_cast<char>(random_()));
        break;
      case 6: {
        const std::size_t from = below(other.size());
        const Bytes piece = other.substr(from, 1 + below(64));
        bytes.replace(at, std::min(piece.size(), bytes.size() - at), piece);
        break;
      }
      default:
        if (below(8) == 0) bytes.resize(at);
        bytes[at == bytes.size() ? at - (at > 0) : at] = '\0';
    }
  }

  void write_number(Bytes& bytes, std::size_t at) {
    constexpr std::uint64_t kNumbers[] = {0,
                                          1,
                                          2,
                                          7,
                                          0x7f,
                                          0x80,
                                          0xff,
                                          0x7fff,
                                          0xffff,
                                          0x7fffffff,
                                          0x80000000,
                                          0xffffffff,
                                          0xfffffff0,
                                          0x7fffffffffffffff,
                                          0x8000000000000000,
                                          0xffffffffffffffff,
                                          0xfffffffffffff000};
    std::uint64_t number = kNumbers[below(std::size(kNumbers))];
    if (below(3) == 0) number = bytes.size() - below(16);
    const std::size_t width = std::min<std::size_t>(std::size_t{1} << below(4), bytes.size() - at);
    std::memcpy(bytes.data() + at, &number, width);
  }

  std::mt19937_64 random_;
  std::size_t last_ = 0;
};

void run(const Bytes& bytes) {
  // A copy of exactly its size, so that reading past it is seen.
  const std::vector<std::uint8_t> copy(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(copy.data(), copy.size());
}

}  // namespace

int main(int count, char** arguments) {
  const Options options = parse(count, arguments);
  if (options.seeds.empty()) {
    std::fprintf(stderr, "no files to begin with\n");
    return 2;
  }
  for (const Bytes& bytes : options.seeds) run(bytes);
  Mutator mutator(options.seed);
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(options.seconds);
  unsigned long tried = 0;
  while (std::chrono::steady_clock::now() < end) {
    const Bytes bytes = mutator.mutate(options.seeds, options.longest);
    std::ofstream(options.artifacts + "crash-in-hand", std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    run(bytes);
    ++tried;
  }
  if (options.seconds > 0) {
    std::remove((options.artifacts + "crash-in-hand").c_str());
  }
  std::printf("%zu files, seed %lu, %lu tried\n", options.seeds.size(), options.seed, tried);
  return 0;
}
