#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace shop {

template <typename T>
struct Basket {
  std::vector<T> items;
  std::map<std::string, T> by_name;

  __attribute__((noinline)) explicit Basket(int n) {
    for (int i = 0; i < n; ++i) add(std::to_string(i), static_cast<T>(i));
  }

  void add(const std::string& name, T item) {
    items.push_back(item);
    by_name[name] = item;
  }

  __attribute__((noinline)) T total() const {
    T sum{};
    for (const T& item : items) sum += item;
    for (const auto& [name, item] : by_name) sum += item * static_cast<T>(name.size());
    return sum;
  }
};

template <typename T>
__attribute__((noinline)) void arrange(Basket<T>& basket) {
  std::sort(basket.items.begin(), basket.items.end(), [](T a, T b) { return b < a; });
}

// What it defines has bodies, which stand in the description of what is inlined.
inline __attribute__((always_inline)) int bargain(int price) {
  struct Offer {
    static __attribute__((noinline)) int half(int n) { return n / 2 + n % 3; }
  };
  const auto third = [](int n) __attribute__((noinline)) { return n / 3 + n % 5; };
  return Offer::half(price) + third(price);
}

}  // namespace shop

int main(int argc, char**) {
  shop::Basket<int> whole(argc * 10);
  shop::Basket<double> broken(argc * 20);
  shop::arrange(whole);
  shop::arrange(broken);
  std::printf("%d %f\n", whole.total() + shop::bargain(argc), broken.total());
  return 0;
}
