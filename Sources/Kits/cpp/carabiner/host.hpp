// Functions a plugin may call at any time on any thread: log, clock, timers, its own requests, the host's store.
#ifndef CARABINER_HOST_HPP
#define CARABINER_HOST_HPP

#include <chrono>
#include <string>
#include <vector>

#include "events.hpp"
#include "tasks.hpp"
#include "timer.hpp"

namespace crb {
namespace detail {
struct Core;
}

/// The severity of a log line.
enum class Level : uint32_t {
  Trace = CRB_LOG_TRACE,
  Debug = CRB_LOG_DEBUG,
  Info = CRB_LOG_INFO,
  Warning = CRB_LOG_WARN,
  Error = CRB_LOG_ERROR
};

/// A request that the plugin makes outside the chain.
struct FetchRequest {
  std::string url;
  /// Empty: GET, or POST if there is a body.
  std::string method = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::optional<std::string> body = {};
  /// 0: the host's default.
  std::chrono::nanoseconds timeout{0};
};

/// The response to such a request; borrowed until the callback returns.
struct FetchResponse {
  Head head;
  std::string_view body;
};

/// The result of an operation on the host's store; borrowed until the callback returns.
struct StoreAnswer {
  /// The number of records found, fields changed, or records removed.
  uint64_t count;
  /// The loaded records, a JSON object in the format of `publish`.
  std::string_view records;
};

/// The host as seen by one instance. Copy it freely.
class Host {
 public:
  explicit Host(crb_self self)
      : self_(self), timer_(static_cast<const crb_timer_service *>(table->query(self, "crb.timer/1"))),
        tasks_(std::make_shared<detail::Tasks>()) {}

  crb_self self() const noexcept { return self_; }

  /// Whether the log keeps lines of this level. Check it before you format a line.
  bool keeps(Level level) const noexcept { return table->log_enabled(self_, static_cast<uint32_t>(level)) != 0; }

  /// Writes one line to the host's log; `call` can be 0.
  void log(Level level, std::string_view line, crb_call call = 0) const noexcept {
    table->log(self_, static_cast<uint32_t>(level), call, view(line));
  }

  /// The clock of deadlines and timers.
  std::chrono::nanoseconds clock() const { return std::chrono::nanoseconds(timer().now_ns()); }

  /// Runs `work()` once on a host thread. Exceptions are logged. Waiting work is dropped when the instance ends.
  template <class Work>
  Timer after(std::chrono::nanoseconds delay, Work work) const {
    return arm(delay, std::chrono::nanoseconds(0), std::move(work));
  }
  /// Runs `work()` repeatedly on a host thread, for the first time after one interval. Exceptions are logged. A run that takes
  /// longer than the interval delays the next one. `cancel()` or the end of the instance stops it.
  template <class Work>
  Timer every(std::chrono::nanoseconds interval, Work work) const {
    if (interval.count() <= 0) throw Failure("a repeating timer needs an interval above zero");
    return arm(interval, interval, std::move(work));
  }

  /// Makes a request and calls `done(const FetchResponse *, const Error *)`, one of them NULL, on a host thread. The manifest
  /// must grant `fetch`. Exceptions of `done` are logged.
  template <class Done>
  void fetch(const FetchRequest &request, Done done) const {
    const auto *service = granted<crb_fetch_service>("crb.fetch/1");
    if (!service) throw Failure("the manifest does not grant this plugin the service fetch; add grants: [fetch]");
    using Waiting = Kept<Done>;
    std::vector<crb_header> headers;
    headers.reserve(request.headers.size());
    for (const auto &field : request.headers) headers.push_back({view(field.first), view(field.second), 0, 0});
    crb_fetch_request raw{};
    raw.size = sizeof raw;
    raw.timeout_ns = static_cast<uint64_t>(request.timeout.count());
    raw.method = view(request.method);
    raw.url = view(request.url);
    raw.headers = headers.data();
    raw.header_count = headers.size();
    raw.body = request.body ? view(*request.body) : absent;
    lend<Waiting>("the request; look at its URL and headers", std::move(done), [&](void *user) {
      return service->start(
          self_, &raw,
          [](void *context, const crb_head *head, crb_view body, const crb_error *error) {
            Waiting::run(context, [&](Done &finish) {
              if (head) {
                const FetchResponse response{Head(*head), text(body)};
                finish(&response, nullptr);
              } else {
                const crb_error none{};
                const Error why(error ? *error : none);
                finish(nullptr, &why);
              }
            });
          },
          user);
    });
  }

  /// Reads records of the host's store and calls `done(const StoreAnswer *, const Error *)`, one of them NULL, on a host thread.
  /// The manifest must grant `store`. Exceptions of `done` are logged.
  template <class Done>
  void load(const std::vector<std::string> &keys, Done done) const {
    const std::vector<crb_view> views = views_of(keys);
    use_store("the keys to load", std::move(done), [&](const crb_store_service &store, crb_store_done came, void *user) {
      return store.load(self_, views.data(), views.size(), came, user);
    });
  }

  /// Writes records, a JSON object by key: `{"Book:1": {"title": "Solaris"}}`. Calls `done` like `load`.
  template <class Done>
  void publish(std::string_view records, Done done) const {
    use_store("the records; look at their JSON", std::move(done),
              [&](const crb_store_service &store, crb_store_done came, void *user) {
                return store.publish(self_, view(records), came, user);
              });
  }

  /// Removes the records with these keys. Calls `done` like `load`.
  template <class Done>
  void remove(const std::vector<std::string> &keys, Done done) const {
    const std::vector<crb_view> views = views_of(keys);
    use_store("the keys to remove", std::move(done), [&](const crb_store_service &store, crb_store_done came, void *user) {
      return store.remove(self_, views.data(), views.size(), came, user);
    });
  }

  /// Removes the records whose keys match a pattern in which `*` matches any text. Calls `done` like `load`.
  template <class Done>
  void remove_matching(std::string_view pattern, Done done) const {
    use_store("the pattern", std::move(done), [&](const crb_store_service &store, crb_store_done came, void *user) {
      return store.remove_matching(self_, view(pattern), came, user);
    });
  }

  /// The key of a baggage name, such as "org.example.user". Look it up once and keep it.
  crb_key key(std::string_view name) const {
    const crb_key made = table->key(self_, view(name));
    if (!made) throw Failure("the host takes no baggage key " + std::string(name));
    return made;
  }

 private:
  template <class Work>
  struct Kept;

  static constexpr const char *ending = "this instance is being destroyed: it starts nothing more";

  /// Ends the tasks with the instance.
  friend struct detail::Core;

  template <class Work>
  void contained(Work &&work) const noexcept {
    try {
      work();
    } catch (const std::exception &error) {
      log(Level::Error, error.what());
    } catch (...) {
      log(Level::Error, "the plugin threw an exception that is not a std::exception");
    }
  }

  static std::vector<crb_view> views_of(const std::vector<std::string> &texts) {
    std::vector<crb_view> views;
    views.reserve(texts.size());
    for (const auto &each : texts) views.push_back(view(each));
    return views;
  }

  /// A service that the manifest has to grant; NULL without the grant. It is queried when it is used, because `carabiner check`
  /// reports each query without a grant.
  template <class Service>
  const Service *granted(const char *id) const noexcept {
    return static_cast<const Service *>(table->query(self_, id));
  }

  /// Starts an operation on the store: `start(service, came, user)`.
  template <class Done, class Start>
  void use_store(const char *what, Done done, Start start) const {
    const auto *service = granted<crb_store_service>("crb.store/1");
    if (!service) throw Failure("the manifest does not grant this plugin the service store; add grants: [store]");
    using Waiting = Kept<Done>;
    lend<Waiting>(what, std::move(done), [&](void *user) {
      return start(
          *service,
          [](void *context, const crb_store_answer *answer, const crb_error *error) {
            Waiting::run(context, [&](Done &finish) {
              if (answer) {
                const StoreAnswer found{answer->count, text(answer->records)};
                finish(&found, nullptr);
              } else {
                const crb_error none{};
                const Error why(error ? *error : none);
                finish(nullptr, &why);
              }
            });
          },
          user);
    });
  }

  /// Lends code to the host. `start(user)` returns whether the host accepted it.
  template <class Waiting, class Work, class Start>
  void lend(const char *what, Work work, Start start) const {
    const auto waiting = std::make_shared<Waiting>(*this, std::move(work));
    if (!tasks_->lend(waiting)) throw Failure(ending);
    const crb_status status = start(waiting.get());
    if (status == CRB_OK) return;
    tasks_->retract(*waiting);
    detail::refuse(status, what);
  }

  template <class Work>
  Timer arm(std::chrono::nanoseconds delay, std::chrono::nanoseconds interval, Work work) const {
    const auto contain = [host = *this](auto &code) { host.contained(code); };
    using Armed = detail::TimerOf<Work, decltype(contain)>;
    const auto armed = std::make_shared<Armed>(timer(), self_, tasks_, interval, std::move(work), contain);
    if (!tasks_->lend(armed)) throw Failure(ending);
    if (!armed->arm(delay)) {
      tasks_->retract(*armed);
      throw Failure("the host arms no timer: too many are armed");
    }
    return Timer(armed);
  }

  const crb_timer_service &timer() const {
    if (!timer_) throw Failure("this host has no timers");
    return *timer_;
  }

  crb_self self_;
  const crb_timer_service *timer_;
  std::shared_ptr<detail::Tasks> tasks_;
};

/// Code that waits for a response or the store, and its host.
template <class Work>
struct Host::Kept final : detail::Task {
  Kept(const Host &owner, Work task) : host(owner), work(std::move(task)) {}

  void drop() noexcept override { work.reset(); }

  /// Runs `body(work)`, unless its instance has ended.
  template <class Body>
  static void run(void *user, Body body) noexcept {
    auto *kept = static_cast<Kept *>(user);
    const auto tasks = kept->host.tasks_;
    tasks->run(kept, [&] { kept->host.contained([&] { body(*kept->work); }); });
  }

  const Host host;
  std::optional<Work> work;
};

}  // namespace crb

#endif
