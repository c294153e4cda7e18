internal import ArgumentParser
internal import Carabiner
internal import CarabinerBridge
internal import CarabinerManifest
internal import CarabinerWire
internal import Foundation
internal import UnixSignals

/// `carabiner top`: shows the rates of a running gateway continuously.
struct TopCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top", abstract: "Show the rates of a running gateway: requests, latencies, plugins, upstream, cache.",
    discussion: """
      Reads the metrics every --interval and shows the differences. On a terminal it updates the screen until q or Ctrl-C. Otherwise
      it prints a block of lines per interval, or with --format json one line. If the gateway ends, it waits for its restart.

      Exit status: 0, or 4 if no gateway answers at the start.

      Example: carabiner top --admin unix:/run/carabiner.sock --interval 2s
      """)

  private static let shortestInterval = Duration.milliseconds(10)

  @OptionGroup var options: AdminOptions

  @Option(name: .long, help: ArgumentHelp("The time between two samples.", valueName: "duration"), transform: duration)
  var interval: Duration = .seconds(1)

  @Flag(name: .long, help: "Show one interval and exit.") var once = false

  func validate() throws {
    guard interval >= Self.shortestInterval else { throw ValidationError("--interval takes at least 10ms") }
  }

  func run() async throws {
    let client = try options.client()
    let first = try await firstLook(client)
    guard !once, options.format == .text, isatty(STDOUT_FILENO) == 1 else { return try await look(client, first, nil) }
    let screen = TopScreen()
    defer { screen.restore() }
    screen.draw(["the first interval has to pass; q ends"])
    let looking = Task { try await look(client, first, screen) }
    let signals = Task {
      for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { looking.cancel() }
    }
    defer { signals.cancel() }
    screen.onKeys { key in
      if key == UInt8(ascii: "q") { looking.cancel() }
    }
    do {
      try await looking.value
    } catch is CancellationError {
      return
    }
  }

  /// Takes the first sample, which shows whether a gateway answers.
  private func firstLook(_ client: AdminClient) async throws -> MetricsSample {
    do {
      return try MetricsSample(try await client.ask("GET", "/metrics"))
    } catch let error as CommandError {
      Terminal.complain("error: the server at the admin socket is not a Carabiner gateway: \(error)")
      throw ExitStatus.parsing
    }
  }

  private func look(_ client: AdminClient, _ first: MetricsSample, _ screen: TopScreen?) async throws {
    var last = first
    while true {
      try await Task.sleep(for: interval)
      do {
        let next = try MetricsSample(try await client.send("GET", "/metrics"))
        let metrics = TopMetrics(from: last, to: next)
        last = next
        show(metrics, metrics.isRestarted ? "the gateway was restarted; its figures count from the start" : nil, on: screen)
      } catch let error where error is TransportError || error is CommandError {
        if once {
          Terminal.complain("error: the gateway does not answer any more")
          throw ExitStatus.network
        }
        show(nil, "no gateway answers; waiting for its restart", on: screen)
      }
      if once { return }
    }
  }

  private func show(_ metrics: TopMetrics?, _ message: String?, on screen: TopScreen?) {
    if let screen {
      let lines = metrics.map { TopDrawing(metrics: $0, width: screen.size.columns).lines } ?? []
      return screen.draw((message.map { [$0, ""] } ?? []) + lines + ["", "every \(DurationText.print(interval)); q ends"])
    }
    if let message { Terminal.complain("carabiner top: \(message)") }
    guard let metrics else { return }
    switch options.format {
    case .json: Terminal.emit(metrics.json.description)
    case .text: Terminal.emit(TopDrawing(metrics: metrics).lines.joined(separator: "\n") + (once ? "" : "\n"))
    }
  }
}

extension MetricsSample {
  /// The sample in a response of the gateway.
  fileprivate init(_ answer: (status: Int, body: Data)) throws(CommandError) {
    guard answer.status == 200 else {
      throw CommandError(.malformedMetrics, "the response has status \(answer.status)")
    }
    try self.init(parsing: String(decoding: answer.body, as: UTF8.self))
  }
}
