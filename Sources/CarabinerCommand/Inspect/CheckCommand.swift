internal import ArgumentParser
internal import CarabinerHost
internal import CarabinerWire
internal import Foundation

/// `carabiner check`: everything short of running.
struct CheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Check a manifest, its plugins and their configurations without running anything.",
    discussion: "Plugins are loaded in child processes, so one that crashes or hangs is reported and harms nobody.")

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text, json
  }

  @Option(name: [.customShort("m"), .long], help: "The manifest, YAML or JSON.") var manifest: String
  @Option(name: .long, help: "text or json.") var format: Format = .text

  func run() async throws {
    var problems: [String] = []
    var warnings: [String] = []
    do {
      let loaded = try Manifest.load(path: manifest)
      warnings = loaded.warnings.map(\.description)
      for plugin in loaded.plugins {
        guard case .file(let path, _) = plugin.source else { continue }
        do {
          _ = try PluginProbe(path).report()
        } catch {
          problems.append("\(plugin.pointer): \(error)")
        }
      }
      // Only what loads in a child is brought up as a whole, in another child: configs, pins, ffi, places in the chain.
      if problems.isEmpty { try PluginProbe(manifest: manifest).check() }
    } catch let error as ManifestError {
      problems += error.problems.map(\.description)
    } catch {
      problems.append("\(error)")
    }
    report(problems, warnings)
    if !problems.isEmpty { throw ExitStatus.refused }
  }

  private func report(_ problems: [String], _ warnings: [String]) {
    if format == .json {
      let value: JSONValue = [
        "manifest": .string(manifest), "ok": .bool(problems.isEmpty), "problems": .array(problems.map { .string($0) }),
        "warnings": .array(warnings.map { .string($0) }),
      ]
      return Terminal.emit(String(decoding: value.serialized(pretty: true), as: UTF8.self))
    }
    for warning in warnings { Terminal.complain("warning: \(warning)") }
    for problem in problems { Terminal.complain("error: \(problem)") }
    Terminal.emit(problems.isEmpty ? "\(manifest): ok" : "\(manifest): refused")
  }
}
