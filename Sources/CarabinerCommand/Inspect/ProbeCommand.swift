internal import ArgumentParser
internal import CarabinerHost
internal import CarabinerWire
internal import Foundation

/// The child's side of ``PluginProbe``; not for people.
struct ProbeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "probe", shouldDisplay: false)

  @Option(name: .long) var plugin: String?
  @Option(name: .long) var manifest: String?

  func run() async throws {
    var report = JSONObject()
    do {
      if let plugin {
        let library = try PluginLibrary.load(path: plugin)
        report["interceptors"] = .array(library.interceptors.map(\.json))
      }
      if let manifest { _ = try HostedChain(try Manifest.load(path: manifest)) }
    } catch {
      report["refused"] = .string("\(error)")
    }
    Terminal.emit(JSONValue.object(report).description)
    Terminal.emit(PluginProbe.endRecord)
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
