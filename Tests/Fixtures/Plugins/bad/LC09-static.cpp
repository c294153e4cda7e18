// A static object's destructor calls the host when the process ends.
// ONLY: LC09
// STATUS: CRASH
// Counts calls, results and errors over all instances, and logs the totals.
#include <carabiner.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

// Of all instances of this library.
struct Totals {
  std::atomic<uint64_t> calls{0}, results{0}, errors{0};

  std::string line() const {
    return std::to_string(calls) + " calls, " + std::to_string(results) + " results, " + std::to_string(errors) + " errors";
  }
  ~Totals() {
    const std::string last = line();
    crb::table->log(crb::table->self, CRB_LOG_INFO, 0, crb::view(last));
  }
};

Totals totals;

class Interceptor {
 public:
  static constexpr crb::Identity identity = crb::Identity{"org.example.usage-totals", "1.0.0"};
  static constexpr crb::Parts graphql{CRB_PART_ERRORS, 0};

  explicit Interceptor(const crb::Setup &setup) : host_(setup.host) {}

  void on_request(crb::graphql::Call &call) {
    const uint64_t count = ++totals.calls;
    if (count % 1000 == 0 && host_.keeps(crb::Level::Info)) call.log(crb::Level::Info, totals.line());
  }

  void on_result(crb::graphql::Call &call, const crb::Result &result) {
    ++totals.results;
    if (!result.errors) return;
    ++totals.errors;
    if (host_.keeps(crb::Level::Debug)) {
      call.log(crb::Level::Debug, "a result with errors, " + std::to_string(result.errors->size()) + " bytes");
    }
  }

  crb::Verdict on_error(crb::graphql::Call &call, const crb::Error &error) {
    ++totals.errors;
    if (error.has(CRB_ERROR_TIMEOUT) && host_.keeps(crb::Level::Debug)) {
      call.log(crb::Level::Debug, "a timeout, of " + std::to_string(totals.calls) + " calls");
    }
    return crb::Verdict::Continue;
  }

 private:
  const crb::Host host_;
};

}  // namespace

CARABINER_PLUGIN(Interceptor);
