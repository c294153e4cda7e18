internal import ArgumentParser
internal import CarabinerBridge
internal import CarabinerHost
internal import CarabinerManifest
internal import CarabinerWire
internal import Foundation

/// `carabiner inspect`: the identity of a plugin from its ELF note; with `--load` also its registration table.
struct InspectCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect", abstract: "Show a plugin's identity without running its code.")

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text, json
  }

  @Argument(help: "The plugin's .so.") var plugin: String
  @Flag(name: .long, help: "Also read the registration table, in a worker: a confined process.") var load = false
  @Option(name: .long, help: "text or json.") var format: Format = .text
  @OptionGroup var probe: ProbeOptions

  func run() async throws {
    do {
      let (note, digest) = try PluginNote.inspect(path: plugin)
      var report: JSONObject = [
        "path": .string(plugin), "id": .string(note.id), "version": .string(note.version),
        "abi": .array([.number(JSONNumber(note.abi.major)), .number(JSONNumber(note.abi.minor))]), "sha256": .string(digest),
      ]
      if load {
        let found = PluginProbe(plugin, timeout: probe.probeTimeout).report()
        if let refusal = found.refusal { throw refusal }
        report["interceptors"] = found.interceptors
      }
      Terminal.emit(
        format == .json ? String(decoding: JSONValue.object(report).serialized(pretty: true), as: UTF8.self) : text(report))
    } catch {
      Terminal.complain("error: \(error)")
      throw ExitStatus(error)
    }
  }

  private func text(_ report: JSONObject) -> String {
    var lines: [String] = []
    for (key, value) in report where key != "interceptors" {
      lines.append("\(key.padding(toLength: 10, withPad: " ", startingAt: 0))\(value.string ?? value.description)")
    }
    for interceptor in report["interceptors"]?.array ?? [] {
      lines.append("interceptor \(interceptor["id"]?.string ?? "")")
      for (key, value) in interceptor.object ?? [:] where key != "id" && value != .null {
        lines.append("  \(key.padding(toLength: 14, withPad: " ", startingAt: 0))\(value.string ?? value.description)")
      }
    }
    return lines.joined(separator: "\n")
  }
}
