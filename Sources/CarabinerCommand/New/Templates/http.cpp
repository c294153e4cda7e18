// my-plugin puts the header X-Team on every HTTP request, with the value of its configuration, and logs what servers answer.
//
// A stage never calls the next one: the host calls a hook, the hook does its part and answers with a verdict. carabiner.hpp lists the
// hooks, carabiner.h says which parts and verdicts there are in which. Hooks of different calls run at once, on the host's
// threads: what an instance keeps is read-only after its constructor. What a hook throws fails its call.
#include <carabiner.hpp>

#include <string>

namespace {

// One for each entry in a manifest.
class Interceptor {
 public:
  // The schema is what the host refuses manifests by.
  static constexpr crb::Identity identity{
      "org.example.my-plugin", "1.0.0",
      R"({"type":"object","additionalProperties":false,"required":["team"],"properties":{
        "team":{"type":"string","pattern":"^[A-Za-z0-9._-]{1,64}$"}}})"};
  // Reads nothing, and changes headers; what is not named here cannot be changed.
  static constexpr crb::Parts http{0, CRB_PART_HEADERS};

  // What is thrown here is what the operator reads.
  explicit Interceptor(const crb::Setup &setup) : host_(setup.host) {
    const auto team = setup.config.text("team");
    if (!team || team->empty()) throw crb::Failure("config: team is missing; write config: {team: NAME}");
    team_ = *team;
  }

  // Before the request is sent, and again for each retry.
  void on_request(crb::http::Call &call) { call.set_header("X-Team", team_); }

  // Status and headers arrived; the head is borrowed until this hook completes.
  void on_head(crb::http::Call &call, const crb::Head &head) {
    if (host_.keeps(crb::Level::Info)) {
      call.log(crb::Level::Info, "the server answered with status " + std::to_string(head.status));
    }
  }

 private:
  const crb::Host host_;
  std::string team_;
};

}  // namespace

CARABINER_PLUGIN(Interceptor);
