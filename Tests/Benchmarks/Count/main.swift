internal import BenchSubjects
internal import CBenchmark
internal import Foundation
internal import Synchronization

// Runs a subject so many times on this one thread, for a tool that counts instructions, and prints how many allocations that
// took. Without a name it prints the names.

/// Runs jobs in the order they come, on the thread that asks it to: valgrind cannot run the threads of libdispatch.
final class ThisThread: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  /// Runs jobs until there is an answer.
  func run<Answer>(until answer: () -> Answer?) -> Answer {
    while true {
      if let answer = answer() { return answer }
      let due = jobs.withLock { jobs in
        defer { jobs = [] }
        return jobs
      }
      for job in due { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }
}

final class Outcome: Sendable {
  let value = Mutex<Result<UInt64, any Error>?>(nil)
}

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.isEmpty {
  for subject in Subject.all { print(subject.name) }
} else if arguments.count == 3, let count = Int(arguments[2]), count > 0 {
  let (thread, outcome, name, plugins) = (ThisThread(), Outcome(), arguments[0], arguments[1])
  Task(executorPreference: thread) {
    do {
      let work = try await Subject.work(name, plugins: plugins)
      // What is made once is not what is counted.
      try await work(10)
      let before = bench_allocations()
      try await work(count)
      let allocations = bench_allocations() - before
      outcome.value.withLock { $0 = .success(allocations) }
    } catch {
      outcome.value.withLock { $0 = .failure(error) }
    }
  }
  switch thread.run(until: { outcome.value.withLock { $0 } }) {
  case .success(let allocations): print(Double(allocations) / Double(count))
  case .failure(let error):
    FileHandle.standardError.write(Data("\(name): \(error)\n".utf8))
    exit(1)
  }
} else {
  print("usage: carabiner-count [SUBJECT PLUGINS TIMES]")
}
