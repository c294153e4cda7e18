internal import BenchSubjects
internal import CBenchmark
internal import Foundation
internal import Synchronization

// Runs a subject N times and once more on this thread, for a tool that counts the instructions of `runCounted`. Prints the number
// of allocations of each run. Without a name it prints the names.

/// Runs jobs in order on the calling thread: valgrind cannot run the threads of libdispatch.
final class ThisThread: TaskExecutor {
  private final class Outcome<Value: Sendable>: Sendable {
    let value = Mutex<Result<Value, any Error>?>(nil)
  }

  private let jobs = Mutex<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  /// Runs a task until it ends.
  func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
    let outcome = Outcome<Value>()
    Task(executorPreference: self) {
      do {
        let value = try await body()
        outcome.value.withLock { $0 = .success(value) }
      } catch {
        outcome.value.withLock { $0 = .failure(error) }
      }
    }
    while true {
      if let result = outcome.value.withLock({ $0 }) { return try result.get() }
      let due = jobs.withLock { jobs in
        defer { jobs = [] }
        return jobs
      }
      for job in due { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }

  /// Runs a task until it ends. The counting tool finds this function by its name.
  @inline(never) func runCounted(_ body: @escaping @Sendable () async throws -> UInt64) throws -> UInt64 { try run(body) }
}

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.isEmpty {
  for subject in Subject.all { print(subject.name) }
} else if arguments.count == 3, let count = Int(arguments[2]), count > 0 {
  let (thread, name, plugins) = (ThisThread(), arguments[0], arguments[1])
  do {
    let work = try thread.run {
      let work = try await Subject.work(name, plugins: plugins)
      // A warm-up: one-time allocations are not counted.
      try await work(10)
      return work
    }
    let allocations = try thread.runCounted {
      // A new task allocates memory at its first use.
      try await work(1)
      let before = bench_allocations()
      try await work(count)
      return bench_allocations() - before
    }
    print(Double(allocations) / Double(count))
  } catch {
    FileHandle.standardError.write(Data("\(name): \(error)\n".utf8))
    exit(1)
  }
} else {
  print("usage: carabiner-count [SUBJECT PLUGINS TIMES]")
}
