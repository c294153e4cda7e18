// my-plugin adds the header X-Team with the configured value to every HTTP request, and logs the status of each response.
//
// A stage never calls the next one. The host calls a hook, and the hook returns a verdict. carabiner.hpp lists the
// hooks, and carabiner.h describes their parts and verdicts. Hooks of different calls run at the same time on the host's
// threads, so an instance is read-only after its constructor. An exception in a hook fails its call.
#include <carabiner.hpp>

#include <string>

namespace {

// One per manifest entry.
class Interceptor {
 public:
  // The host checks the configuration against the schema.
  static constexpr crb::Identity identity{
      "org.example.my-plugin", "1.0.0",
      R"({"type":"object","additionalProperties":false,"required":["team"],"properties":{
        "team":{"type":"string","pattern":"^[A-Za-z0-9._-]{1,64}$"}}})"};
  // Reads nothing, and changes headers; what is not named here cannot be changed.
  static constexpr crb::Parts http{0, CRB_PART_HEADERS};

  // The operator sees errors that are thrown here.
  explicit Interceptor(const crb::Setup &setup) : host_(setup.host) {
    const auto team = setup.config.text("team");
    if (!team || team->empty()) throw crb::Failure("config: team is missing; write config: {team: NAME}");
    team_ = *team;
  }

  // Called before the request is sent, and again for each retry.
  void on_request(crb::http::Call &call) { call.set_header("X-Team", team_); }

  // Status and headers have arrived. The head is valid until this hook completes.
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
