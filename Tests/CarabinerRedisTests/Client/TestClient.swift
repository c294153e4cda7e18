import CarabinerRESP
import CarabinerRedis
import Foundation
import Synchronization
import TestTools
import Testing

/// A client with what it logs and receives.
final class TestClient: Sendable {
  let client: RedisClient
  let log = LogRecorder()
  private let received: Events

  private final class Events: Sendable {
    let list = Mutex<[String]>([])
  }

  /// Long enough for a busy machine.
  static let patience = Duration.seconds(60)

  init(_ url: String, channels: [String] = [], _ change: (inout RedisSettings) -> Void = { _ in }) throws {
    var settings = RedisSettings(urls: [try RedisURL(url)], node: "test")
    // A busy machine must not end a handshake.
    (settings.limits.openingTime, settings.limits.pingTime) = (.seconds(30), .seconds(30))
    change(&settings)
    let received = Events()
    self.received = received
    client = try RedisClient(settings, channels: channels, logger: log.logger) { event in
      received.list.withLock { list in
        switch event {
        case .opened: list.append("opened")
        case .lost: list.append("lost")
        case .push(let reply): list.append(reply.values.map { $0.string ?? "?" }.joined(separator: " "))
        }
      }
    }
  }

  /// The events so far. Messages are their words.
  var eventList: [String] { received.list.withLock { $0 } }

  /// Waits until a connection is open.
  func opened() async { #expect(await eventually { client.isAvailable }, "\(log.lines)") }

  /// The answers of one command, or the code of the error.
  func ask(_ words: String..., within budget: Duration = TestClient.patience) async -> String {
    await ask(words, within: budget)
  }

  func ask(_ words: [String], within budget: Duration = TestClient.patience) async -> String {
    await ask(CommandBatch(words), within: budget)
  }

  /// The answers of commands whose keys have one slot in a cluster, or the code of the error.
  func ask(_ commands: CommandBatch, to slot: HashSlot? = nil, within budget: Duration = TestClient.patience) async -> String {
    do throws(RedisError) {
      return try await client.send(commands, to: slot, within: budget).map(\.line).joined(separator: ",")
    } catch {
      return "\(error.code)"
    }
  }
}

extension CommandBatch {
  /// Adds a command of any words: the name is data in tests.
  mutating func add(_ words: [String]) {
    switch words[0] {
    case "PING": begin("PING", arguments: words.count - 1)
    case "GET": begin("GET", arguments: words.count - 1)
    case "SET": begin("SET", arguments: words.count - 1)
    case "INCR": begin("INCR", arguments: words.count - 1)
    case "HSET": begin("HSET", arguments: words.count - 1)
    case "HMGET": begin("HMGET", arguments: words.count - 1)
    case "HLEN": begin("HLEN", arguments: words.count - 1)
    case "INCRBY": begin("INCRBY", arguments: words.count - 1)
    case "PEXPIRE": begin("PEXPIRE", arguments: words.count - 1)
    case "UNLINK": begin("UNLINK", arguments: words.count - 1)
    case "PUBLISH": begin("PUBLISH", arguments: words.count - 1)
    case "TIME": begin("TIME", arguments: words.count - 1)
    case "WATCH": begin("WATCH", arguments: words.count - 1)
    case "UNWATCH": begin("UNWATCH", arguments: words.count - 1)
    case "EVAL": begin("EVAL", arguments: words.count - 1)
    case "FLUSHALL": begin("FLUSHALL", arguments: words.count - 1)
    case "KEYS": begin("KEYS", arguments: words.count - 1)
    case "CLIENT": begin("CLIENT", arguments: words.count - 1)
    case "ECHO": begin("ECHO", arguments: words.count - 1)
    default: Issue.record("add \(words[0]) to the names of commands")
    }
    for word in words.dropFirst() { add(word) }
  }

  init(_ commands: [String]...) {
    self.init()
    for command in commands { add(command) }
  }
}

extension Reply {
  /// A short form: texts as they are, the code of an error, aggregates in brackets.
  var line: String {
    switch kind {
    case .error: errorCode ?? "?"
    case .null: "nil"
    case .integer: "\(integer ?? 0)"
    case .array, .map, .set, .push: "[\(values.map(\.line).joined(separator: " "))]"
    default: string ?? "?"
    }
  }
}
