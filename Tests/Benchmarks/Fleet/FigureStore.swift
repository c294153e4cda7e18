import Carabiner
import CarabinerRESP
import CarabinerRedis
import CarabinerWire
import Foundation

/// A store in Redis without records in memory, and the records of a response.
struct FigureStore {
  let cache: RedisNormalizedCache
  private let control: RedisClient

  /// - Parameter budget: The time for reads.
  init(_ url: String, budget: Duration) throws {
    let connection = RedisSettings(urls: [try RedisURL(url)], node: "figures")
    var settings = RedisStoreSettings(connection, prefix: "figures")
    (settings.nearRecords, settings.readBudget, settings.writeTime) = (0, budget, .seconds(30))
    cache = try RedisNormalizedCache(settings)
    control = try RedisClient(connection)
  }

  func isReady() async throws {
    let end = ContinuousClock.now + .seconds(30)
    while !cache.isAvailable || !control.isAvailable {
      guard ContinuousClock.now < end else { throw RedisError(.cannotConnect, "Redis does not answer") }
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  /// A response with this many records of 7 fields, about 163 bytes of JSON each.
  static func records(_ count: Int) throws -> RecordSet {
    let items = (0..<count).map { number in
      #"{"__typename":"Item","id":"\#(number)","name":"A book with number \#(number)","price":\#(1000 + number),"stock":17,"#
        + #""shelf":"north \#(number % 10)","note":"ships within two days, also abroad"}"#
    }
    let body = try ResponseBody(Data(#"{"data":{"items":[\#(items.joined(separator: ","))]}}"#.utf8))
    let operation = DynamicOperation(document: "{ items { __typename id name price stock shelf note } }")
    guard let records = ApolloStore.records(of: body, operation: operation) else { throw CancellationError() }
    return records
  }

  /// The questions of a level of a response.
  static func questions(_ numbers: Range<Int>) -> [(key: String, fields: [String])] {
    numbers.map { ("Item:\($0)", ["__typename", "id", "name", "price", "stock", "shelf", "note"]) }
  }

  /// The processor time of the server so far, in microseconds.
  func serverTime() async throws -> Double {
    var commands = CommandBatch()
    commands.begin("INFO", arguments: 1)
    commands.add("cpu")
    let text = try await control.send(commands, within: .seconds(30))[0].string ?? ""
    let seconds = text.split(whereSeparator: \.isNewline).reduce(0.0) { sum, line in
      let words = line.split(separator: ":")
      let isTime = words.first == "used_cpu_user" || words.first == "used_cpu_sys"
      return sum + (isTime ? Double(words.last ?? "") ?? 0 : 0)
    }
    return seconds * 1e6
  }

  /// Sends a PING, the yardstick of the machine.
  func ping() async throws {
    var commands = CommandBatch()
    commands.begin("PING", arguments: 0)
    _ = try await control.send(commands, within: .seconds(30))
  }
}
