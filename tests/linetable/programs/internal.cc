// Functions with internal linkage, of which g++ writes no symbol into the debug information.
namespace {

long total = 0;

struct First {
  [[gnu::noinline]] void run(int n) { total += n * 3; }
};

struct Second {
  [[gnu::noinline]] void run(int n) { total -= n * 5; }
};

template <typename T>
struct Holder {
  [[gnu::noinline]] void run(T n) { total ^= static_cast<long>(n) * 7; }
};

}  // namespace

namespace shop {

static inline void inlined(int n) { total += n * 11; }

static void work(int n) {
  const auto one = [](int k) __attribute__((noinline)) { total += k * 13; };
  const auto two = [](int k) __attribute__((noinline)) { total -= k * 17; };
  struct Local {
    [[gnu::noinline]] void run(int k) { total ^= k * 19; }
  } local;
  one(n);
  two(n);
  local.run(n);
  inlined(n);
}

}  // namespace shop

int main(int argc, char**) {
  First first;
  Second second;
  Holder<int> whole;
  Holder<double> broken;
  first.run(argc);
  second.run(argc);
  whole.run(argc);
  broken.run(argc);
  shop::work(argc);
  return static_cast<int>(total & 1);
}
