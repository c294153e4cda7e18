internal import CarabinerPlugin
internal import Glibc
internal import Synchronization

/// Notes the end of an object in a file.
func noteEnd(_ journal: String, _ what: String) {
  guard !journal.isEmpty else { return }
  let file = unsafe open(journal, O_WRONLY | O_APPEND | O_CREAT, 0o600)
  guard file >= 0 else { return }
  let line = Array("\(what)\n".utf8)
  _ = unsafe write(file, line, line.count)
  close(file)
}

/// Notes its own end.
final class Witness: Sendable {
  private let journal: String
  private let name: String

  init(_ journal: String, _ name: String) {
    self.journal = journal
    self.name = name
  }

  deinit { noteEnd(journal, name) }
}

/// A counter.
final class Ticks: Sendable {
  private let counted = Mutex(0)

  var count: Int { counted.withLock { $0 } }

  func tick() { counted.withLock { $0 += 1 } }

  /// Counts, and blocks the thread for some microseconds.
  func tick(andTake time: UInt32) {
    tick()
    usleep(time)
  }
}

extension Kit {
  /// Waits until after the end of the instance.
  func hold() -> Verdict {
    .later { [host, witness = Witness(journal, "work")] in
      try await host.sleep(for: .seconds(600))
      withExtendedLifetime(witness) {}
      return .continue
    }
  }

  /// Waits in a task that the kit does not know and cannot cancel.
  func holdElsewhere() -> Verdict {
    .later { [self] in
      await Task.detached { [host] in try? await host.sleep(for: .seconds(600)) }.value
      return .continue
    }
  }

  /// Work that goes on when its call is over, and so may be under way when the instance is destroyed.
  func overrun(_ call: GraphQL.Call) -> Verdict {
    .later { [self] in
      // Detached, so it continues if this task is cancelled.
      await Task.detached {
        while !call.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
        try? await Task.sleep(for: .milliseconds(50))
      }.value
      let task = unsafe withUnsafeCurrentTask { unsafe $0?.hashValue }
      lateTask.withLock { $0 = task }
      return .continue
    }
  }
}

/// The second interceptor of the library, with an instance for each call.
final class Second: GraphQL.Stage {
  static let identity = PluginIdentity(id: "org.carabiner.test.kit.second", version: "1.0.0", threads: .perCall)

  private let calls = Ticks()

  init(configuration: PluginConfiguration, host: PluginHost) {}

  func onRequest(_ call: GraphQL.Call, _ state: inout NoState) throws -> Verdict {
    calls.tick()
    return try call.respond(#"{"data":{"hero":{"name":"second \#(calls.count)"}}}"#)
  }
}
