// my-plugin tells the server the operation's name in the header X-Operation-Name, and logs how each operation ended.
//
// A stage never calls the next one: the host calls a hook, the hook does its part and answers with a verdict. carabiner.hpp lists the
// hooks, carabiner.h says which parts and verdicts there are in which. Hooks of different calls run at once, on the host's
// threads: what an instance keeps is read-only, and what changes belongs to one call. What a hook throws fails its call.
#include <carabiner.hpp>

#include <string>

namespace {

// One for each entry in a manifest.
class Interceptor {
 public:
  static constexpr crb::Identity identity{"org.example.my-plugin", "1.0.0"};
  // What is not needed cannot be read, what is not named as changed cannot be changed.
  static constexpr crb::Parts graphql{CRB_PART_OPERATION_NAME | CRB_PART_ERRORS, CRB_PART_HEADERS};

  explicit Interceptor(const crb::Setup &setup) : host_(setup.host) {}

  // Before anything is sent, and again for each retry, which finds the state of the attempt before.
  void on_request(crb::graphql::Call &call) {
    call.make_state<Tally>() = Tally();
    // A view is borrowed: it is gone when this hook completes.
    if (const auto name = call.operation_name(); name && is_name(*name)) call.set_header("X-Operation-Name", *name);
  }

  // For each result: one of a query, any number of a subscription.
  void on_result(crb::graphql::Call &call, const crb::Result &result) {
    Tally &tally = *call.state<Tally>();
    tally.results++;
    if (result.errors) tally.with_errors++;
  }

  // Nothing more will come.
  void on_end(crb::graphql::Call &call) {
    if (!host_.keeps(crb::Level::Info)) return;
    const Tally &tally = *call.state<Tally>();
    call.log(crb::Level::Info, std::to_string(tally.results) + " results, " + std::to_string(tally.with_errors) + " with errors");
  }

 private:
  // One for each call; it goes when the call is over.
  struct Tally {
    unsigned results = 0;
    unsigned with_errors = 0;
  };

  // Names come from outside, and not all a host may be handed can stand in a header.
  static bool is_name(std::string_view text) {
    return text.find_first_not_of("_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == text.npos;
  }

  const crb::Host host_;
};

}  // namespace

CARABINER_PLUGIN(Interceptor);
