// What a plugin may call at any time and on any thread: the log, the clock, timers, requests of its own, the host's store.
#ifndef CARABINER_HOST_HPP
#define CARABINER_HOST_HPP

#include <chrono>
#include <string>
#include <vector>

#include "events.hpp"

namespace crb {

/// How important a log line is.
enum class Level : uint32_t {
  Trace = CRB_LOG_TRACE,
  Debug = CRB_LOG_DEBUG,
  Info = CRB_LOG_INFO,
  Warning = CRB_LOG_WARN,
  Error = CRB_LOG_ERROR
};

/// A request a plugin makes of its own, outside the chain.
struct FetchRequest {
  std::string url;
  /// Empty: GET, or POST if there is a body.
  std::string method = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::optional<std::string> body = {};
  /// 0: the host's default.
  std::chrono::nanoseconds timeout{0};
};

/// What such a request brought; borrowed until the function that is given it returns.
struct FetchResponse {
  Head head;
  std::string_view body;
};

/// What an operation on the host's store brought; borrowed until the function that is given it returns.
struct StoreAnswer {
  /// Records found, fields that changed, or records there were to remove.
  uint64_t count;
  /// The records that were loaded, a JSON object as `publish` takes it.
  std::string_view records;
};

/// One armed timer.
class Timer {
 public:
  Timer(crb_timer handle, const crb_timer_service *service, void *work, void (*drop)(void *)) noexcept
      : handle_(handle), service_(service), work_(work), drop_(drop) {}

  /// True if the work will not run; false if it ran, runs or was cancelled before.
  bool cancel() noexcept {
    if (service_->cancel(handle_) != CRB_OK) return false;
    drop_(work_);
    return true;
  }

 private:
  crb_timer handle_;
  const crb_timer_service *service_;
  void *work_;
  void (*drop_)(void *);
};

/// The host, as an instance sees it: a value to copy.
class Host {
 public:
  explicit Host(crb_self self) noexcept
      : self_(self), timer_(static_cast<const crb_timer_service *>(table->query(self, "crb.timer/1"))),
        fetch_(static_cast<const crb_fetch_service *>(table->query(self, "crb.fetch/1"))),
        store_(static_cast<const crb_store_service *>(table->query(self, "crb.store/1"))) {}

  crb_self self() const noexcept { return self_; }

  /// Whether a line of this level would be kept: ask before you format.
  bool keeps(Level level) const noexcept { return table->log_enabled(self_, static_cast<uint32_t>(level)) != 0; }

  /// Writes one line to the host's log; `call` may be 0.
  void log(Level level, std::string_view line, crb_call call = 0) const noexcept {
    table->log(self_, static_cast<uint32_t>(level), call, view(line));
  }

  /// The clock that deadlines and timers go by.
  std::chrono::nanoseconds clock() const { return std::chrono::nanoseconds(timer().now_ns()); }

  /// Runs `work()` once, on a thread of the host. What it throws goes to the log.
  template <class Work>
  Timer after(std::chrono::nanoseconds delay, Work work) const {
    using Armed = Kept<Work>;
    const crb_timer_service &service = timer();
    auto armed = std::make_unique<Armed>(Armed{*this, std::move(work)});
    const uint64_t ns = delay.count() > 0 ? static_cast<uint64_t>(delay.count()) : 0;
    const crb_timer handle = service.arm(
        self_, ns,
        [](void *user) {
          const std::unique_ptr<Armed> fired(static_cast<Armed *>(user));
          fired->host.contained([&] { fired->work(); });
        },
        armed.get());
    if (!handle) throw Failure("the host arms no timer: too many are armed");
    return Timer(handle, &service, armed.release(), [](void *user) { delete static_cast<Armed *>(user); });
  }

  /// Makes a request and calls `done(const FetchResponse *, const Error *)`, one of them NULL, on a thread of the host. The
  /// manifest must grant `fetch`. What `done` throws goes to the log.
  template <class Done>
  void fetch(const FetchRequest &request, Done done) const {
    if (!fetch_) throw Failure("the manifest does not grant this plugin the service fetch; add grants: [fetch]");
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
    auto waiting = std::make_unique<Waiting>(Waiting{*this, std::move(done)});
    const crb_status status = fetch_->start(
        self_, &raw,
        [](void *user, const crb_head *head, crb_view body, const crb_error *error) {
          const std::unique_ptr<Waiting> came(static_cast<Waiting *>(user));
          came->host.contained([&] {
            if (head) {
              const FetchResponse response{Head(*head), text(body)};
              came->work(&response, nullptr);
            } else {
              const crb_error none{};
              const Error why(error ? *error : none);
              came->work(nullptr, &why);
            }
          });
        },
        waiting.get());
    detail::check(status, "the request; look at its URL and headers");
    waiting.release();
  }

  /// Reads records of the host's store and calls `done(const StoreAnswer *, const Error *)`, one of them NULL, on a thread of the
  /// host. The manifest must grant `store`. What `done` throws goes to the log.
  template <class Done>
  void load(const std::vector<std::string> &keys, Done done) const {
    const std::vector<crb_view> views = views_of(keys);
    use_store("the keys to load", std::move(done), [&](const crb_store_service &store, crb_store_done came, void *user) {
      return store.load(self_, views.data(), views.size(), came, user);
    });
  }

  /// Writes records, a JSON object of them by key: `{"Book:1": {"title": "Solaris"}}`. Otherwise as `load`.
  template <class Done>
  void publish(std::string_view records, Done done) const {
    use_store("the records; look at their JSON", std::move(done),
              [&](const crb_store_service &store, crb_store_done came, void *user) {
                return store.publish(self_, view(records), came, user);
              });
  }

  /// Removes the records under these keys. Otherwise as `load`.
  template <class Done>
  void remove(const std::vector<std::string> &keys, Done done) const {
    const std::vector<crb_view> views = views_of(keys);
    use_store("the keys to remove", std::move(done), [&](const crb_store_service &store, crb_store_done came, void *user) {
      return store.remove(self_, views.data(), views.size(), came, user);
    });
  }

  /// Removes the records whose keys fit a pattern in which `*` stands for any text. Otherwise as `load`.
  template <class Done>
  void remove_matching(std::string_view pattern, Done done) const {
    use_store("the pattern", std::move(done), [&](const crb_store_service &store, crb_store_done came, void *user) {
      return store.remove_matching(self_, view(pattern), came, user);
    });
  }

  /// The key of a baggage name, such as "org.example.user": make it once.
  crb_key key(std::string_view name) const {
    const crb_key made = table->key(self_, view(name));
    if (!made) throw Failure("the host takes no baggage key " + std::string(name));
    return made;
  }

 private:
  template <class Work>
  struct Kept;

  template <class Work>
  void contained(Work work) const noexcept {
    try {
      work();
    } catch (const std::exception &error) {
      log(Level::Error, error.what());
    } catch (...) {
      log(Level::Error, "the plugin threw something that is no std::exception");
    }
  }

  static std::vector<crb_view> views_of(const std::vector<std::string> &texts) {
    std::vector<crb_view> views;
    views.reserve(texts.size());
    for (const auto &each : texts) views.push_back(view(each));
    return views;
  }

  /// Starts an operation on the store: `start(service, came, user)`.
  template <class Done, class Start>
  void use_store(const char *what, Done done, Start start) const {
    if (!store_) throw Failure("the manifest does not grant this plugin the service store; add grants: [store]");
    using Waiting = Kept<Done>;
    auto waiting = std::make_unique<Waiting>(Waiting{*this, std::move(done)});
    const crb_status status = start(
        *store_,
        [](void *user, const crb_store_answer *answer, const crb_error *error) {
          const std::unique_ptr<Waiting> came(static_cast<Waiting *>(user));
          came->host.contained([&] {
            if (answer) {
              const StoreAnswer brought{answer->count, text(answer->records)};
              came->work(&brought, nullptr);
            } else {
              const crb_error none{};
              const Error why(error ? *error : none);
              came->work(nullptr, &why);
            }
          });
        },
        waiting.get());
    detail::check(status, what);
    waiting.release();
  }

  const crb_timer_service &timer() const {
    if (!timer_) throw Failure("this host has no timers");
    return *timer_;
  }

  crb_self self_;
  const crb_timer_service *timer_;
  const crb_fetch_service *fetch_;
  const crb_store_service *store_;
};

/// Work and the host it is for, while the host holds a pointer to them.
template <class Work>
struct Host::Kept {
  Host host;
  Work work;
};

}  // namespace crb

#endif
