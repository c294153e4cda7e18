internal import ArgumentParser
internal import CarabinerBridge
internal import CarabinerDownloads
internal import CarabinerHost
internal import CarabinerManifest
internal import CarabinerProvider
internal import CarabinerWire
internal import Foundation

/// The child process of ``PluginProbe``. Not for users.
struct ProbeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "probe", shouldDisplay: false)

  @Option(name: .long) var parent: Int32?
  @Option(name: .long) var plugin: String?
  @Option(name: .long) var manifest: String?
  @Option(name: .long) var only: String?
  @Option(name: .long) var without: [String] = []
  @Option(name: .long) var manifestDigest: String?
  @Option(name: .long) var pin: [String] = []
  @Option(name: .long) var pluginCache: String?

  func run() async throws {
    endWithParent()
    var report = ProbeReport()
    do {
      if let plugin { report.interceptors = .array(try PluginLibrary.inWorker(path: plugin).interceptors.map(\.json)) }
      if let manifest {
        let pins = ProbePins(manifest: manifestDigest, plugins: pin)
        let loaded = try (pins?.manifest(at: manifest) ?? Manifest.load(path: manifest, isCopy: true)).usingDownloads(
          in: pluginCache)
        let chain = try HostedChain(only.map { loaded.onlyPlugin($0) } ?? loaded.without(without.contains))
        if let library = only.flatMap({ chain.libraries[$0] }) { report.interceptors = .array(library.interceptors.map(\.json)) }
      }
    } catch {
      report.add(error, subject: plugin ?? manifest ?? "")
    }
    report.missingGrants = MissingGrants.all.map { (entry: $0.entry, grant: $0.grant) }
      .sorted { ($0.entry, $0.grant) < ($1.entry, $1.grant) }
    // A line break first: the plugin may have written to standard output without one.
    Terminal.emit("\n\(report.json)\n\(PluginProbe.endRecord)")
  }

  /// Ends this process soon after its parent, which may be killed while a plugin hangs here. Only the parent has the timeout.
  private func endWithParent() {
    guard let parent else { return }
    Thread.detachNewThread {
      while getppid() == parent { usleep(200_000) }
      _exit(EXIT_FAILURE)
    }
  }
}

extension PluginInterceptor {
  fileprivate var json: JSONValue {
    let names = [1: "per-call", 2: "serial", 3: "concurrent"]
    func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    return [
      "id": .string(id), "version": .string(version), "name": text(name), "vendor": text(vendor), "url": text(url),
      "threads": .string(names[Int(threadClass)] ?? "\(threadClass)"), "stages": .array(stages.map { .string($0) }),
      "configSchema": configurationSchema.flatMap { try? JSONValue(parsing: $0) } ?? .null,
    ]
  }
}
