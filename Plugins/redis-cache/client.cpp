#include "client.hpp"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>

#include "resp.hpp"
#include "session.hpp"

namespace {

using namespace std::chrono_literals;

/// The time for a connection, its login and a PING.
constexpr auto connect_timeout = 500ms;
constexpr std::chrono::milliseconds first_pause = 100ms;
constexpr std::chrono::milliseconds longest_pause = 5s;
/// More reads than this are misses at once.
constexpr size_t maximum_open_reads = 10000;
/// The same reason is reported again after this time.
constexpr auto report_interval = 60s;

}  // namespace

Client::Client(const Settings &settings, const crb::Host &host)
    : settings_(settings), host_(host), trust_(settings.server), wake_descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (wake_descriptor_ < 0) throw crb::Failure("there is no descriptor left to wake the thread with; raise the limit of open files");
  // Signals are for the host's threads, except those that a thread causes itself. A worker gets SIGSYS when it
  // asks for a socket, and the kernel ends a process that blocks it.
  sigset_t all, before;
  sigfillset(&all);
  for (const int own : {SIGSYS, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP}) sigdelset(&all, own);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    close(wake_descriptor_);
    throw crb::Failure("no thread could be started; raise the limit of threads");
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  // From here on the thread has its name.
  std::unique_lock lock(mutex_);
  named_.wait(lock, [this] { return is_named_; });
}

Client::~Client() {
  ends_ = true;
  wake();
  thread_.join();
  close(wake_descriptor_);
}

void Client::read(std::string key, std::unique_ptr<Waiter> waiter) {
  const auto deadline = Clock::now() + settings_.read_budget;
  bool wakes = false;
  {
    const std::lock_guard lock(mutex_);
    if (is_ready_ && open_reads_ < maximum_open_reads) {
      reads_.push_back({std::move(key), std::move(waiter), deadline});
      open_reads_++;
      has_new_ = true;
      wakes = std::exchange(must_wake_, false);
    }
  }
  if (waiter) waiter->finish(std::nullopt);
  if (wakes) wake();
}

void Client::write(std::string key, std::string bytes, int64_t seconds) {
  const size_t size = key.size() + bytes.size();
  bool wakes = false;
  {
    const std::lock_guard lock(mutex_);
    if (!is_ready_ || size > settings_.write_queue - std::min(write_bytes_, settings_.write_queue)) {
      dropped_writes_++;
      return;
    }
    writes_.push_back({std::move(key), std::move(bytes), seconds});
    write_bytes_ += size;
    has_new_ = true;
    wakes = std::exchange(must_wake_, false);
  }
  if (wakes) wake();
}

void Client::wake() {
  const uint64_t one = 1;
  // A full counter wakes too.
  if (::write(wake_descriptor_, &one, sizeof one) < 0) return;
}

short Client::poll(int descriptor, short events, Clock::time_point until) {
  pollfd ready[2] = {{wake_descriptor_, POLLIN, 0}, {descriptor, events, 0}};
  bool has_work;
  {
    // A command that is added after this wakes the thread.
    const std::lock_guard lock(mutex_);
    has_work = has_new_ || ends_;
    must_wake_ = true;
  }
  timespec time{};
  timespec *timeout = &time;
  if (until == Clock::time_point::max() && !has_work) {
    timeout = nullptr;
  } else if (!has_work) {
    const auto left = std::max<std::chrono::nanoseconds>(until - Clock::now(), 0ns);
    time.tv_sec = static_cast<time_t>(left / 1s);
    time.tv_nsec = static_cast<long>((left % 1s).count());
  }
  const int count = ppoll(ready, descriptor >= 0 ? 2 : 1, timeout, nullptr);
  if (count <= 0) return 0;
  if (ready[0].revents) {
    uint64_t ignored = 0;
    if (::read(wake_descriptor_, &ignored, sizeof ignored) < 0) return ready[1].revents;
  }
  return ready[1].revents;
}

void Client::wait(int descriptor, short events, Clock::time_point until) {
  for (;;) {
    if (poll(descriptor, events, until)) return;
    if (ends_) throw Lost("the plugin ends");
    if (Clock::now() >= until) throw Lost("the server did not answer within 500 ms");
  }
}

void Client::sleep_until(Clock::time_point until) {
  while (!ends_ && Clock::now() < until) poll(-1, 0, until);
}

void Client::run() noexcept {
  // A thread names itself: the name of another one is a file of /proc, which a confined process cannot write.
  pthread_setname_np(pthread_self(), "redis-cache");
  {
    const std::lock_guard lock(mutex_);
    is_named_ = true;
  }
  named_.notify_one();
  try {
    connect_repeatedly();
  } catch (const std::exception &error) {
    // Without memory there is no cache, and the gateway goes on.
    is_ready_ = false;
    open_circuit();
    host_.log(crb::Level::Error, error.what());
  }
}

void Client::connect_repeatedly() {
  std::minstd_rand random(static_cast<unsigned>(Clock::now().time_since_epoch().count()) ^ static_cast<unsigned>(getpid()));
  auto pause = first_pause;
  while (!ends_) {
    try {
      Session session(*this, Clock::now() + connect_timeout);
      const auto start = Clock::now();
      uint64_t dropped = 0;
      {
        const std::lock_guard lock(mutex_);
        dropped = std::exchange(dropped_writes_, 0);
        is_ready_ = true;
      }
      if (is_reported_) log(crb::Level::Warning, "connected again; " + std::to_string(dropped) + " responses were not stored");
      is_reported_ = false;
      try {
        session.serve();
      } catch (...) {
        is_ready_ = false;
        // After a connection that lasted for a while, the pause is the shortest one again.
        if (Clock::now() - start > longest_pause) pause = first_pause;
        throw;
      }
      is_ready_ = false;
    } catch (const Lost &reason) {
      if (!ends_) report(reason);
    } catch (const resp::Malformed &problem) {
      report(Lost(std::string("the server does not speak the protocol of Redis: ") + problem.what(), true));
    } catch (const std::bad_alloc &) {
      report(Lost("there is no memory left"));
    }
    open_circuit();
    if (ends_) return;
    // Up to 20 % more or less, so that several gateways do not connect at once.
    sleep_until(Clock::now() + pause * static_cast<long>(80 + random() % 41) / 100);
    pause = std::min(2 * pause, longest_pause);
  }
}

void Client::open_circuit() {
  std::vector<Read> reads;
  std::deque<Write> writes;
  {
    const std::lock_guard lock(mutex_);
    is_ready_ = false;
    reads.swap(reads_);
    writes.swap(writes_);
    write_bytes_ = 0;
    has_new_ = false;
    dropped_writes_ += writes.size();
    // The session, with the reads that it sent, has ended before.
    open_reads_ = 0;
  }
  for (Read &read : reads) read.waiter->finish(std::nullopt);
}

void Client::report(const Lost &reason) {
  const auto now = Clock::now();
  if (last_reason_ == reason.what() && now - last_report_ < report_interval) return;
  last_reason_ = reason.what();
  last_report_ = now;
  is_reported_ = true;
  log(reason.is_for_operator ? crb::Level::Error : crb::Level::Warning,
      last_reason_ + "; responses are not cached until the connection works again");
}

void Client::log(crb::Level level, const std::string &line) const { host_.log(level, "redis-cache: " + line); }
