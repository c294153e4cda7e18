// Objects that note their end and their thread: a host thread or the plugin's own.
#ifndef KIT_WORKER_HPP
#define KIT_WORKER_HPP

#include <condition_variable>
#include <fstream>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

/// Whether this is the plugin's own thread.
inline thread_local bool on_worker = false;

/// Notes the end of an object in a file.
inline void note_end(const std::string &journal, const std::string &what) {
  if (!journal.empty()) std::ofstream(journal, std::ios::app) << what << (on_worker ? " on its own worker\n" : "\n");
}

/// Notes its own end.
class Witness {
 public:
  Witness(std::string journal, std::string name) : journal_(std::move(journal)), name_(std::move(name)) {}
  Witness(const Witness &) = delete;
  ~Witness() { note_end(journal_, name_); }

 private:
  const std::string journal_;
  const std::string name_;
};

/// A thread that runs jobs and holds them until it ends.
class Worker {
 public:
  Worker() : thread_([this] { run(); }) {}
  ~Worker() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    wake_.notify_all();
    if (on_worker) {
      thread_.detach();
    } else {
      thread_.join();
    }
  }

  void push(std::function<void()> job) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    wake_.notify_all();
  }

 private:
  void run() {
    on_worker = true;
    std::vector<std::function<void()>> kept;
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [&] { return is_over_ || kept.size() < jobs_.size(); });
      if (is_over_) return;
      kept.push_back(jobs_[kept.size()]);
      jobs_[kept.size() - 1] = nullptr;
      lock.unlock();
      kept.back()();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::function<void()>> jobs_;
  bool is_over_ = false;
  std::thread thread_;
};

#endif
