// Exceptions, virtual functions and static objects: prints the same wherever its functions lie.
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

volatile int zero = 0;

struct Noisy {
  explicit Noisy(std::string text) : name(std::move(text)) {}
  ~Noisy() { std::cout << "~" << name << "\n"; }
  std::string name;
};

const Noisy in_static_storage("static");
thread_local const std::unique_ptr<int> in_thread_storage = std::make_unique<int>(5);

struct Shape {
  virtual ~Shape() = default;
  virtual int area() const = 0;
};
struct Square : Shape {
  explicit Square(int s) : side(s) {}
  int area() const override { return side * side; }
  int side;
};
struct Other : virtual Shape {
  int area() const override { return 3; }
};

class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

[[gnu::noinline]] int deep(int n) {
  const Noisy here("deep" + std::to_string(n));
  if (n == 0) throw Failure("at the bottom");
  return deep(n - 1) + zero;
}

[[gnu::noinline]] int cold_path(int n) {
  if (__builtin_expect(n > 2, 0)) {
    std::vector<std::string> texts(static_cast<std::size_t>(n), "text");
    throw std::out_of_range(texts.back() + std::to_string(n));
  }
  return n;
}

void rethrows() {
  try {
    deep(2);
  } catch (const Failure&) {
    const Noisy here("between");
    std::throw_with_nested(std::logic_error("outer"));
  }
}

int no_throw() noexcept {
  try {
    throw 3;
  } catch (...) {
    return 4;
  }
}

}  // namespace

int main() {
  try {
    rethrows();
  } catch (const std::logic_error& outer) {
    try {
      std::rethrow_if_nested(outer);
    } catch (const std::exception& inner) {
      std::cout << outer.what() << ", " << inner.what() << "\n";
    }
  }
  std::vector<std::unique_ptr<Shape>> shapes;
  shapes.push_back(std::make_unique<Square>(4));
  shapes.push_back(std::make_unique<Other>());
  int sum = no_throw();
  for (const auto& shape : shapes) sum += shape->area();
  int (Shape::* const member)() const = &Shape::area;
  sum += (shapes[0].get()->*member)();
  std::cout << "sum " << sum << " cast " << (dynamic_cast<Square*>(shapes[1].get()) == nullptr)
            << "\n";
  for (int n = 1; n < 5; ++n) {
    try {
      std::cout << cold_path(n) << "\n";
    } catch (const std::out_of_range& error) {
      std::cout << error.what() << "\n";
    }
  }
  const std::function<int(int)> function = [&](int x) {
    if (x == zero) throw x;
    return x + sum;
  };
  std::exception_ptr passed;
  std::thread([&] {
    try {
      std::cout << function(*in_thread_storage) << "\n";
      function(0);
    } catch (int) {
      passed = std::current_exception();
    }
  }).join();
  try {
    std::rethrow_exception(passed);
  } catch (int number) {
    std::cout << "passed " << number << "\n";
  }
  try {
    std::map<std::string, int>{{"a", 1}}.at("b");
  } catch (const std::out_of_range&) {
    std::cout << "library's\n";
  }
}
