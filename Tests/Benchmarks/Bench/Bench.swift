internal import ArgumentParser
internal import Foundation

/// The program that `Scripts/measure chain` runs.
@main
struct Bench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "carabiner-bench", abstract: "Measures what the chain costs, beside its peers.",
    subcommands: [Run.self, Measure.self, List.self, Host.self], defaultSubcommand: Run.self)
}

/// Options of both `run` and `measure`.
struct InputOptions: ParsableArguments {
  @Option(help: "Where the plugins of the benchmarks lie.")
  var plugins: String
  @Option(help: "The URL of a server that answers every POST with 1 KB of JSON.")
  var server: String?
  @Option(help: "A folder for files that cases write.")
  var scratch: String
  @Option(help: "How long each sample should take, in seconds.")
  var sample = 0.1

  var inputs: Inputs {
    Inputs(plugins: plugins, server: server, scratch: scratch, sampleSeconds: sample)
  }
}

/// `carabiner-bench list`
struct List: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Print the cases.")

  func run() {
    for benchmark in Benchmark.all {
      print(benchmark.name.padding(toLength: 24, withPad: " ", startingAt: 0), benchmark.summary)
    }
  }
}

/// `carabiner-bench measure NAME`
struct Measure: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run one case once, in this process, and print its figures as JSON.")

  @Argument(help: "The case.")
  var name: String
  @OptionGroup var options: InputOptions

  func run() async throws {
    guard let benchmark = Benchmark.all.first(where: { $0.name == name }) else {
      throw ValidationError("there is no case \(name); carabiner-bench list shows them")
    }
    let inputs = options.inputs
    // Not on the main thread, as in a host.
    let figures = try await Task.detached { try await benchmark.measure(inputs) }.value
    print(String(decoding: try JSONEncoder().encode(figures), as: UTF8.self))
  }
}

/// `carabiner-bench run`
struct Run: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run all cases in turns, each in a process of its own, and print a table.")

  @Option(help: "How often every case is run.")
  var rounds = 3
  @Option(help: "Only cases whose name contains this.")
  var filter: String?
  @Option(help: "Also write all figures to this file, as JSON.")
  var json: String?
  @Option(help: "The JSON output of Scripts/measure counts, to include in the report.")
  var counts: String?
  @OptionGroup var options: InputOptions

  func validate() throws {
    guard rounds > 0 else { throw ValidationError("--rounds must be above 0") }
  }

  func run() async throws {
    let chosen = Benchmark.all.filter { benchmark in filter.map { benchmark.name.contains($0) } ?? true }
    guard !chosen.isEmpty else {
      throw ValidationError("no case has \(filter ?? "") in its name; carabiner-bench list shows them")
    }
    var report = Report()
    for round in 1...rounds {
      for (index, benchmark) in chosen.enumerated() {
        FileHandle.standardError.write(
          Data("round \(round) of \(rounds), case \(index + 1) of \(chosen.count): \(benchmark.name)\n".utf8))
        do {
          report.add(try measured(benchmark))
        } catch {
          report.fail(benchmark.name, "\(error)")
        }
      }
    }
    if let counts { report.add(try Counts(contentsOf: counts).figures(besides: report)) }
    print(report.table)
    if let json { try report.json().write(to: URL(filePath: json)) }
    if !report.failures.isEmpty { throw ExitCode.failure }
  }

  /// The figures of a case, measured in a separate process.
  private func measured(_ benchmark: Benchmark) throws -> [Figure] {
    let process = Process()
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments =
      ["measure", benchmark.name, "--plugins", options.plugins, "--scratch", options.scratch, "--sample", "\(options.sample)"]
      + (options.server.map { ["--server", $0] } ?? [])
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Inputs.Missing(description: "the process ended with status \(process.terminationStatus)")
    }
    return try JSONDecoder().decode([Figure].self, from: text)
  }
}
