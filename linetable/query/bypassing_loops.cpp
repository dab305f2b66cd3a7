#include "linetable/query/bypassing_loops.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

namespace coz::linetable {
namespace {

// The flow of control between a function's instructions, without those that count visits.
class FlowGraph {
 public:
  struct Node {
    std::uint64_t address = 0;
    std::vector<std::size_t> next;
  };

  FlowGraph(std::span<const CodeExtent> function, std::span<const std::uint64_t> counted,
            const CodeBytes& code) {
    struct Edge {
      std::size_t from;
      std::uint64_t to;
    };
    std::vector<Edge> edges;
    std::unordered_map<std::uint64_t, std::size_t> at;
    for (const CodeExtent& extent : function) {
      code.for_each_instruction(
          extent.begin, extent.end, [&](std::uint64_t address, const InstructionOutline& one) {
            if (std::find(counted.begin(), counted.end(), address) != counted.end()) return true;
            at.emplace(address, nodes_.size());
            if (one.falls_through) edges.push_back({nodes_.size(), address + one.length});
            if (one.jump_target) edges.push_back({nodes_.size(), *one.jump_target});
            nodes_.push_back({address, {}});
            return true;
          });
    }
    for (const Edge& edge : edges) {
      const auto to = at.find(edge.to);
      if (to != at.end()) nodes_[edge.from].next.push_back(to->second);
    }
  }

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }

 private:
  std::vector<Node> nodes_;
};

// Tarjan's strongly connected components: groups of instructions each of which leads to each other
// one. Not recursive, since functions may be long.
class Components {
 public:
  explicit Components(const std::vector<FlowGraph::Node>& nodes)
      : nodes_(nodes), order_(nodes.size(), 0), lowest_(nodes.size(), 0), done_(nodes.size(), 0) {}

  // Calls visit(std::span<const std::size_t> group) for each.
  template <typename Visit>
  void for_each(Visit visit) {
    for (std::size_t root = 0; root < nodes_.size(); ++root) {
      if (order_[root] == 0) explore(root, visit);
    }
  }

 private:
  struct Step {
    std::size_t node;
    std::size_t edge;
  };

  void enter(std::size_t node) {
    order_[node] = lowest_[node] = ++count_;
    open_.push_back(node);
    path_.push_back({node, 0});
  }

  template <typename Visit>
  void explore(std::size_t root, Visit visit) {
    enter(root);
    while (!path_.empty()) {
      Step& step = path_.back();
      const std::size_t node = step.node;
      if (step.edge < nodes_[node].next.size()) {
        const std::size_t next = nodes_[node].next[step.edge++];
        if (order_[next] == 0) {
          enter(next);
        } else if (done_[next] == 0) {
          lowest_[node] = std::min(lowest_[node], order_[next]);
        }
        continue;
      }
      path_.pop_back();
      if (!path_.empty()) {
        const std::size_t before = path_.back().node;
        lowest_[before] = std::min(lowest_[before], lowest_[node]);
      }
      if (lowest_[node] == order_[node]) close(node, visit);
    }
  }

  template <typename Visit>
  void close(std::size_t node, Visit visit) {
    const auto first = std::find(open_.rbegin(), open_.rend(), node).base() - 1;
    for (auto each = first; each != open_.end(); ++each) done_[*each] = 1;
    visit(std::span<const std::size_t>(first, open_.end()));
    open_.erase(first, open_.end());
  }

  const std::vector<FlowGraph::Node>& nodes_;
  std::vector<std::size_t> order_;  // 0: not reached yet
  std::vector<std::size_t> lowest_;
  std::vector<char> done_;
  std::vector<std::size_t> open_;
  std::vector<Step> path_;
  std::size_t count_ = 0;
};

}  // namespace

bool has_bypassing_loop(std::span<const std::uint64_t> counted, std::span<const CodeExtent> own,
                        std::span<const CodeExtent> function, const CodeBytes& code) {
  const FlowGraph graph(function, counted, code);
  bool is_found = false;
  Components(graph.nodes()).for_each([&](std::span<const std::size_t> group) {
    const auto is_own = [&](std::size_t node) {
      return any_contains(own, graph.nodes()[node].address);
    };
    const auto inside = std::count_if(group.begin(), group.end(), is_own);
    is_found = is_found || (inside > 0 && inside < static_cast<std::ptrdiff_t>(group.size()));
  });
  return is_found;
}

}  // namespace coz::linetable
