// my-plugin sends the operation's name in the header X-Operation-Name, and logs the number of results of each operation.
//
// A stage never calls the next one. The host calls a hook, and the hook returns a verdict. carabiner.hpp lists the
// hooks, and carabiner.h describes their parts and verdicts. Hooks of different calls run at the same time on the host's
// threads, so an instance is read-only, and mutable data belongs to one call. An exception in a hook fails its call.
#include <carabiner.hpp>

#include <string>

namespace {

// One per manifest entry.
class Interceptor {
 public:
  static constexpr crb::Identity identity{"org.example.my-plugin", "1.0.0"};
  // Hooks can read and change only the parts named here.
  static constexpr crb::Parts graphql{CRB_PART_OPERATION_NAME | CRB_PART_ERRORS, CRB_PART_HEADERS};

  explicit Interceptor(const crb::Setup &setup) : host_(setup.host) {}

  // Called before a request is sent, and again for each retry. A retry has the state of the previous attempt.
  void on_request(crb::graphql::Call &call) {
    call.make_state<Tally>() = Tally();
    // A view is borrowed: it is valid until this hook completes.
    if (const auto name = call.operation_name(); name && is_name(*name)) call.set_header("X-Operation-Name", *name);
  }

  // Called for each result: one for a query, any number for a subscription.
  void on_result(crb::graphql::Call &call, const crb::Result &result) {
    Tally &tally = *call.state<Tally>();
    tally.results++;
    if (result.errors) tally.with_errors++;
  }

  // The operation has ended.
  void on_end(crb::graphql::Call &call) {
    if (!host_.keeps(crb::Level::Info)) return;
    const Tally &tally = *call.state<Tally>();
    call.log(crb::Level::Info, std::to_string(tally.results) + " results, " + std::to_string(tally.with_errors) + " with errors");
  }

 private:
  // One per call; freed when the call ends.
  struct Tally {
    unsigned results = 0;
    unsigned with_errors = 0;
  };

  // Names come from clients, and not every text is a valid header value.
  static bool is_name(std::string_view text) {
    return text.find_first_not_of("_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == text.npos;
  }

  const crb::Host host_;
};

}  // namespace

CARABINER_PLUGIN(Interceptor);
