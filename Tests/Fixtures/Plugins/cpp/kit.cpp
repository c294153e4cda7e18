// All four stages on the C++ kit, and their possible failures: the mode in the configuration selects one. The fixtures in
// Rust and Swift do the same, and share one table of expectations.
#include <carabiner.hpp>

#include <map>
#include <mutex>
#include <thread>

#include "worker.hpp"

namespace {

using crb::Verdict;
using namespace std::chrono_literals;

/// The state of the GraphQL stage between the hooks of a call.
struct Pass {
  int passes = 0;
  std::mutex mutex;
  std::optional<crb::Later<crb::graphql::Call>> waiting;
  std::optional<Witness> witness;
};

class Kit {
 public:
  static constexpr auto identity =
      crb::Identity{
          "org.carabiner.test.kit", "1.0.0",
          R"({"type":"object","additionalProperties":false,"required":["mode"],"properties":{"mode":{"type":"string"},"url":{"type":"string"},"journal":{"type":"string"},"extra":{}}})"}
          .with_texts("Kit", "Carabiner", "https://kit.example")
          .with_capabilities("varies");
  static constexpr crb::Parts graphql{CRB_PART_HEADERS | CRB_PART_JSON, CRB_PART_HEADERS | CRB_PART_JSON};
  static constexpr crb::Parts http{CRB_PART_HEADERS | CRB_PART_METHOD | CRB_PART_CHUNK, CRB_PART_HEADERS | CRB_PART_CHUNK};
  static constexpr crb::Parts cache{CRB_PART_DOCUMENT | CRB_PART_JSON};
  static constexpr crb::Parts parser{CRB_PART_HEADERS | CRB_PART_CHUNK};
  static constexpr const char *accept = "text/x-kit";

  /// The beginning of the only record that this cache keeps in the host's store.
  static constexpr std::string_view opening = R"({"Kit:1":{"answer":)";

  explicit Kit(const crb::Setup &setup)
      : host_(setup.host), note_(host_.key("org.carabiner.test.note")), mode_(setup.config.text("mode").value_or("")),
        url_(setup.config.text("url").value_or("")), journal_(setup.config.text("journal").value_or("")), origin_(setup.origin),
        has_extra_(setup.config["extra"].has_value()) {
    validate(setup.config);
    if (is("overrun")) worker_.emplace();
    if (is("tick")) {
      host_.every(1ms, [this, witness = std::make_shared<Witness>(journal_, "work")] { tick(); });
    }
  }
  ~Kit() { note_end(journal_, "plugin"); }

  void drain() {
    if (!is("drain") && !is("throw in drain")) return;
    note_end(journal_, "drain");
    throw_in("drain");
  }

  static void validate(const crb::Config &config) {
    if (config.text("mode") == "refuse") throw crb::Failure("this configuration is refused");
  }

  // Extensions

  static constexpr uint32_t state_version = 3;

  std::optional<std::string> save() {
    throw_in("save");
    if (is("nothing")) return std::nullopt;
    const std::lock_guard lock(mutex_);
    return "kit:" + adopted_.value_or(mode_);
  }

  void adopt(uint32_t version, std::string_view bytes) {
    throw_in("adopt");
    if (version != state_version || bytes.substr(0, 4) != "kit:") throw crb::Failure("this is not a state of a kit", 9);
    const std::lock_guard lock(mutex_);
    adopted_ = std::string(bytes.substr(4));
  }

  static auto self_tests() {
    return std::array{
        crb::SelfTest<Kit>{"a record begins as the store writes it", [](Kit &) { return opening.size() == 19; }},
        crb::SelfTest<Kit>{"a kit adopts its own state", [](Kit &kit) {
          kit.adopt(state_version, "kit:of a test");
          if (kit.save() != "kit:of a test") throw crb::Failure("it says " + kit.save().value_or("nothing"));
          return true;
        }},
        crb::SelfTest<Kit>{"another plugin", [](Kit &) { return false; }},
    };
  }

  // GraphQL

  Verdict on_request(crb::graphql::Call &call) {
    throw_in("graphql.on_request");
    if (is("respond")) return call.respond(R"({"data":{"hero":{"name":"plugin"}}})");
    if (is("too many")) throw crb::Failure("too many at once", 7).with_status(429).with_retry_after(1500ms);
    if (is("flags")) throw crb::Failure("asleep").with_flags(CRB_ERROR_RETRYABLE | CRB_ERROR_LIMIT).with_detail(R"({"until":9})");
    if (is("origin")) return call.respond(R"({"data":{"hero":{"name":")" + origin_ + "\"}}}");
    if (is("extra")) return call.respond(std::string(R"({"data":{"hero":{"name":")") + (has_extra_ ? "given" : "missing") + "\"}}}");
    if (is("hold")) return call.after(600s, [witness = std::make_shared<Witness>(journal_, "work")](crb::graphql::Call &) {});
    if (is("overrun")) return overrun(call);
    if (is("tick")) {
      return call.later([this](auto later) {
        const std::lock_guard lock(mutex_);
        ticked_.emplace(std::move(later));
      });
    }
    if (is("undeclared")) call.set_document("{ other }");
    if (is("retry")) {
      call.set_header("X-Kit-Passes", std::to_string(++call.make_state<Pass>().passes));
      if (call.attempt() == 0) return call.retry(1ms);
    }
    if (is("after")) return call.after(5ms, [](crb::graphql::Call &later) { later.set_header("X-Kit-Later", "after"); });
    if (is("thread")) {
      return call.later([](auto later) {
        std::thread([later = std::move(later)]() mutable {
          later.finish([](crb::graphql::Call &call) { call.set_header("X-Kit-Later", "thread"); });
        }).detach();
      });
    }
    if (is("throw later")) {
      return call.after(1ms, [](crb::graphql::Call &) { throw crb::Failure("thrown later"); });
    }
    if (is("let go")) return call.later([](auto) {});
    if (is("fetch")) {
      return call.fetch({url_}, [](crb::graphql::Call &later, const crb::FetchResponse &response) {
        later.set_header("X-Kit-Fetch", std::to_string(response.head.status) + " " + std::string(response.body));
      });
    }
    if (is("late")) {
      if (const std::lock_guard lock(mutex_); !late_.empty()) {
        call.set_header("X-Kit-Late", late_);
        return Verdict::Continue;
      }
      call.make_state<Pass>();
      return call.after(2s, [this](crb::graphql::Call &later) { try_late(later); });
    }
    if (is("cancel")) {
      Pass &pass = call.make_state<Pass>();
      return call.later([&pass](auto later) {
        const std::lock_guard lock(pass.mutex);
        pass.waiting.emplace(std::move(later));
      });
    }
    call.set_header("X-Kit-GraphQL", "request");
    call.set_baggage(note_, crb::Value::text("from graphql"), CRB_SCOPE_CALL);
    return Verdict::Continue;
  }

  Verdict on_result(crb::graphql::Call &call, const crb::Result &result) {
    throw_in("graphql.on_result");
    if (is("drop") || (is("drop incremental") && result.flags & CRB_RESULT_INCREMENTAL)) return Verdict::Drop;
    if (is("finish second") && result.seq == 1) return Verdict::Finish;
    if (is("parts")) {
      const auto truth = [&](uint32_t flag) { return std::string(result.flags & flag ? "true " : "false "); };
      const std::string place = truth(CRB_RESULT_HAS_NEXT) + truth(CRB_RESULT_INCREMENTAL) + (result.path ? "path " : "- ");
      return call.replace(R"({"data":{"hero":{"name":")" + place + std::string(result.label.value_or("-")) + "\"}}}");
    }
    std::string json(result.json.value_or(""));
    const size_t end = json.rfind("\"}}}");
    if (end == std::string::npos) return Verdict::Continue;
    return call.replace(json.insert(end, "+result"));
  }

  Verdict on_error(crb::graphql::Call &call, const crb::Error &error) {
    throw_in("graphql.on_error");
    if (is("error")) {
      const std::string kind = error.has(CRB_ERROR_RETRYABLE | CRB_ERROR_HTTP_STATUS) ? "retryable " : "final ";
      return call.recover(R"({"data":{"hero":{"name":")" + kind + std::string(error.origin) + "\"}}}");
    }
    if (!is("recover")) return Verdict::Continue;
    return call.recover(R"({"data":{"hero":{"name":"recovered from )" + std::to_string(error.http_status) + "\"}}}");
  }

  void on_cancel(crb::graphql::Cancelled &call) {
    Pass *pass = call.state<Pass>();
    if (!pass) return;
    const std::lock_guard lock(pass->mutex);
    if (pass->waiting) pass->waiting->finish(Verdict::Continue);
  }

  // HTTP

  Verdict on_request(crb::http::Call &call) {
    throw_in("http.on_request");
    if (is("short circuit")) return call.respond(200, {{"Content-Type", "text/x-kit"}}, "name=short");
    const auto note = call.baggage(note_);
    call.set_header("X-Kit-HTTP", std::string(call.method().value_or("")) + " " + std::string(note ? note->as_text().value_or("") : ""));
    return Verdict::Continue;
  }

  void on_head(crb::http::Call &call, const crb::Head &head) {
    throw_in("http.on_head");
    call.set_header("X-Kit-Head", std::to_string(head.status));
  }

  Verdict on_chunk(crb::http::Call &call, const crb::Chunk &chunk) {
    throw_in("http.on_chunk");
    return chunk.seq == 0 ? call.replace(std::string(chunk.bytes) + "+chunk") : Verdict::Continue;
  }

  // Cache

  Verdict on_read(crb::cache::Call &call) {
    throw_in("cache.on_read");
    if (is("store read")) {
      return call.load({"Kit:1"}, [](crb::cache::Call &later, const crb::StoreAnswer &answer) {
        if (answer.count == 0) return Verdict::Continue;
        const std::string_view json = answer.records.substr(opening.size());
        return later.respond(json.substr(0, json.size() - 2));
      });
    }
    if (mode_.rfind("store", 0) == 0) return Verdict::Continue;
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find(std::string(call.document().value_or("")));
    return found == kept_.end() ? Verdict::Continue : call.respond(found->second);
  }

  Verdict on_write(crb::cache::Call &call, const crb::Result &result) {
    throw_in("cache.on_write");
    const auto go_on = [](crb::cache::Call &, const crb::StoreAnswer &) { return Verdict::Continue; };
    if (is("store write")) {
      return call.publish(std::string(opening) + std::string(result.json.value_or("null")) + "}}", go_on);
    }
    if (is("store remove")) return call.remove({"Kit:1", "Kit:2"}, go_on);
    if (is("store remove matching")) return call.remove_matching("Kit:*", go_on);
    if (is("store skip")) return Verdict::Drop;
    if (mode_.rfind("store", 0) == 0) return Verdict::Continue;
    const std::lock_guard lock(mutex_);
    kept_[std::string(call.document().value_or(""))] = result.json.value_or("");
    return Verdict::Continue;
  }

  // Parser: name=NAME

  Verdict on_head(crb::parser::Call &call, const crb::Head &head) {
    throw_in("parser.on_head");
    if (head.headers["content-type"] != "text/x-kit") return Verdict::Drop;
    call.make_state<std::string>().clear();
    return Verdict::Continue;
  }

  void on_chunk(crb::parser::Call &call, const crb::Chunk &chunk) {
    throw_in("parser.on_chunk");
    call.state<std::string>()->append(chunk.bytes);
  }

  void on_end(crb::parser::Call &call) {
    throw_in("parser.on_end");
    const std::string_view body = *call.state<std::string>();
    if (body.substr(0, 5) != "name=") throw crb::Failure("the body has no name");
    if (is("many")) {
      // One result for each letter, like a response in parts.
      for (size_t place = 5; place < body.size(); ++place) {
        uint32_t flags = 0;
        if (place > 5) flags |= CRB_RESULT_INCREMENTAL;
        if (place + 1 < body.size()) flags |= CRB_RESULT_HAS_NEXT;
        call.emit(R"({"data":{"hero":{"name":")" + std::string(1, body[place]) + "\"}}}", flags);
      }
      return;
    }
    call.emit(R"({"data":{"hero":{"name":")" + std::string(body.substr(5)) + "+" + std::string(call.header("X-Kit-Head").value_or("")) + "\"}}}");
  }

 private:
  bool is(std::string_view mode) const { return mode_ == mode; }
  void throw_in(const char *hook) const {
    if (mode_ == std::string("throw in ") + hook) throw std::runtime_error(std::string("thrown in ") + hook);
  }

  /// The call is over by now. The next call reports the host's error.
  void try_late(crb::graphql::Call &call) {
    try {
      call.set_header("X-Kit-Late", "yes");
    } catch (const crb::Failure &failure) {
      const std::lock_guard lock(mutex_);
      late_ = call.state<Pass>() ? "the state of the call is still there" : failure.what();
    }
  }

  /// The third tick resumes a call.
  void tick() {
    std::optional<crb::Later<crb::graphql::Call>> later;
    {
      const std::lock_guard lock(mutex_);
      if (++ticks_ < 3 || !ticked_) return;
      later.emplace(std::move(*ticked_));
      ticked_.reset();
    }
    later->finish([](crb::graphql::Call &call) { call.set_header("X-Kit-Ticks", "3"); });
  }

  /// Work on its own thread that continues after its call is over, so it can be running when the instance is destroyed.
  Verdict overrun(crb::graphql::Call &call) {
    call.make_state<Pass>().witness.emplace(journal_, "state");
    return call.later([this](auto later) {
      auto shared = std::make_shared<crb::Later<crb::graphql::Call>>(std::move(later));
      worker_->push([this, shared] {
        shared->finish([this](crb::graphql::Call &call) {
          while (!call.is_cancelled()) std::this_thread::sleep_for(1ms);
          std::this_thread::sleep_for(50ms);
          const std::lock_guard lock(mutex_);
          late_ = "overrun";
        });
      });
    });
  }

  const crb::Host host_;
  const crb_key note_;
  const std::string mode_;
  const std::string url_;
  const std::string journal_;
  const std::string origin_;
  const bool has_extra_;
  std::mutex mutex_;
  int ticks_ = 0;
  std::optional<crb::Later<crb::graphql::Call>> ticked_;
  std::string late_;
  std::optional<std::string> adopted_;
  std::map<std::string, std::string> kept_;
  std::optional<Worker> worker_;
};

/// The second interceptor of the library, with an instance for each call.
class Second {
 public:
  static constexpr auto identity =
      crb::Identity{"org.carabiner.test.kit.second", "1.0.0"}.with_threads(crb::Threads::PerCall);

  explicit Second(const crb::Setup &) {}

  Verdict on_request(crb::graphql::Call &call) {
    return call.respond(R"({"data":{"hero":{"name":"second )" + std::to_string(++calls_) + "\"}}}");
  }

 private:
  int calls_ = 0;
};

}  // namespace

CARABINER_PLUGIN(Kit, Second);
