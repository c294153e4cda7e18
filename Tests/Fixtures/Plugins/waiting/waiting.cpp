// Waits in every hook for a timer or a request. The kit must finish the hook when the call is cancelled.
#include <carabiner.hpp>

namespace {

using crb::Verdict;
using namespace std::chrono_literals;

struct Waiting {
  static constexpr crb::Identity identity{"org.carabiner.test.waiting", "1.0.0"};

  explicit Waiting(const crb::Setup &) {}

  Verdict on_request(crb::graphql::Call &call) {
    return call.after(1ms, [](crb::graphql::Call &) { return Verdict::Continue; });
  }
  Verdict on_result(crb::graphql::Call &call, const crb::Result &) {
    return call.fetch({"http://auth.example/"}, [](crb::graphql::Call &, const crb::FetchResponse &) { return Verdict::Continue; });
  }
  Verdict on_error(crb::graphql::Call &call, const crb::Error &) {
    return call.later([](auto later) {
      later.host().after(1ms, [later = std::make_shared<decltype(later)>(std::move(later))] { later->finish(Verdict::Continue); });
    });
  }
  Verdict on_end(crb::graphql::Call &call) {
    return call.after(1ms, [](crb::graphql::Call &) { return Verdict::Continue; });
  }
};

}  // namespace

CARABINER_PLUGIN(Waiting);
