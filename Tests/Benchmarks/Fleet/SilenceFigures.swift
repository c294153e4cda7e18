import ArgumentParser
import Carabiner
import CarabinerRedis
import CarabinerWire
import Glibc

/// Reads while the server does not answer: how many are delayed, and for how long.
struct SilenceFigures: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "silence", abstract: "Reads for some time while Redis is stopped.")

  @Argument(help: "The URL of a redis-server that nothing else uses.")
  var url: String

  @Argument(help: "Its process, which is stopped and continued.")
  var process: Int32

  @Option(help: "How long it is stopped, in seconds.")
  var seconds = 3

  func run() async throws {
    // The budget of the manifest's default.
    let store = try FigureStore(url, budget: .milliseconds(20))
    try await store.isReady()
    kill(process, SIGSTOP)
    defer { kill(process, SIGCONT) }
    var times: [Double] = []
    let end = ContinuousClock.now + .seconds(seconds)
    while ContinuousClock.now < end {
      let begin = ContinuousClock.now
      let records = try? await store.cache.records(for: FigureStore.questions(0..<10))
      guard records == nil else { throw ValidationError("a stopped server has answered") }
      times.append((ContinuousClock.now - begin).microseconds / 1000)
      try await Task.sleep(for: .milliseconds(3))
    }
    let result: JSONObject = [
      "reads": .number(JSONNumber(times.count)), "delayed": .number(JSONNumber(times.count { $0 > 5 })),
      "longest": JSONValue(rounding: times.max() ?? 0),
    ]
    print(JSONValue.object(result))
  }
}
