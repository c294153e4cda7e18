internal import ArgumentParser
internal import CarabinerHost
internal import CarabinerWire

/// `carabiner status`: the state of a running gateway.
struct StatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show what a running gateway serves: generation, plugins, workers, load, and the last reload.",
    discussion: """
      With --settings, each setting of the gateway is shown with its value and its source: flag, manifest or default. A flag wins over the
      manifest.

      Example: carabiner status --admin unix:/run/carabiner.sock
      """)

  @OptionGroup var options: AdminOptions
  @Flag(name: .long, help: "Show the settings with their sources instead of the state.") var settings = false

  func run() async throws {
    if settings {
      let (_, json) = try await options.client().json("GET", "/settings")
      return options.show(json, Self.settingsText)
    }
    let (_, json) = try await options.client().json("GET", "/status")
    options.show(json, Self.text)
  }

  static func settingsText(_ json: JSONValue) -> String {
    let rows = (json["settings"]?.array ?? []).map { setting in
      (setting["name"]?.string ?? "-", setting["source"]?.string ?? "-", setting["value"]?.string ?? "-")
    }
    func padded(_ text: String, _ width: Int) -> String { text + String(repeating: " ", count: max(0, width - text.count)) }
    let width = rows.map { $0.0.count }.max() ?? 0
    return rows.map { "\(padded($0.0, width))  \(padded($0.1, 8))  \($0.2)" }.joined(separator: "\n")
  }

  /// This node and the roll-out of its fleet.
  private static func fleetText(_ json: JSONValue) -> String {
    let node = "node \(json["node"]?.string ?? "-"), \(json["state"]?.string ?? "starting")"
    let name = json["registered"] == true ? "" : "; its report is not in etcd"
    guard let candidate = json["candidate"]?.string else { return node + name }
    let halted = json["halted"] == true ? ", halted" : ""
    return "\(node)\(name); candidate \(candidate), stage \(json["stage"]?.int ?? 0)\(halted)"
  }

  static func text(_ json: JSONValue) -> String {
    func text(_ value: JSONValue?) -> String { value?.string ?? value.map { $0.isNull ? "-" : $0.description } ?? "-" }
    var lines = [
      "generation   \(text(json["generation"])) since \(text(json["since"]))",
      "manifest     \(text(json["manifest"]))",
      "process      \(text(json["process"])), version \(text(json["version"])), started \(text(json["started"]))",
      "readiness    \(json["readiness"].map { DrainCommand.text($0) } ?? "-")",
      "operations   \(text(json["operations"]?["running"])) running, \(text(json["operations"]?["waiting"])) waiting, "
        + "\(text(json["connections"])) connections",
      "reloads      \(text(json["reloads"]?["all"])), \(text(json["reloads"]?["refused"])) of them refused",
    ]
    if let source = json["source"], !source.isNull {
      let state = source["up"] == true ? "answers" : "does not answer, and the manifest that serves stays"
      let revision = source["revision"].flatMap { $0.isNull ? nil : ", revision \(text($0))" } ?? ""
      lines.insert("source       \(state)\(revision)\(source["stale"] == true ? "; the last good manifest serves" : "")", at: 2)
      if let fleet = source["fleet"], !fleet.isNull { lines.insert("fleet        \(fleetText(fleet))", at: 3) }
    }
    if let quarantined = json["quarantined"], quarantined["calls"] != 0 {
      lines.append(
        "quarantined  \(text(quarantined["calls"])) cancelled hooks that have not resumed, \(text(quarantined["bytes"])) bytes kept"
      )
    }
    for generation in json["retired"]?.array ?? [] {
      lines.append(
        "retired      generation \(text(generation["generation"])): \(text(generation["operations"])) operations to finish")
    }
    for plugin in json["plugins"]?.array ?? [] {
      lines.append(
        "plugin       \(text(plugin["name"])): \(text(plugin["id"])) \(text(plugin["version"])), sha256 "
          + "\(text(plugin["sha256"]).prefix(12)), \(text(plugin["file"]))"
          + (plugin["enabled"] == false ? ", \(text(plugin["decision"]))" : "")
          + (plugin["breaker"]?.string.map { ", breaker \($0)" } ?? "")
          + (plugin["faults"] == 0 ? "" : ", \(text(plugin["faults"])) faults"))
    }
    lines += (json["upstreams"]?.array ?? []).map { UpstreamLines.text($0) }
    lines += (json["workers"]?.array ?? []).map { WorkerLines.text($0) }
    if let trial = json["trial"], !trial.isNull {
      lines.append("on trial     generation \(text(trial["generation"])): \(text(trial["kind"])), since \(text(trial["since"]))")
      for (name, label) in [("own", "its own"), ("others", "others'")] {
        guard let summary = trial[name] else { continue }
        lines.append(
          "             \(label) \(text(summary["operations"])) operations of \(text(summary["clients"])) clients, "
            + "error rate \(text(summary["errorRate"])), 95th percentile \(text(summary["milliseconds95"])) ms")
      }
      for (name, entry) in trial["comparisons"]?["operations"]?.object ?? [:] {
        lines.append(
          "             \(name): \(text(entry["same"])) the same, \(text(entry["different"])) different"
            + (entry["example"]?.array ?? []).map { "\n               \(text($0))" }.joined())
      }
    }
    if let reload = json["lastReload"], !reload.isNull { lines.append("last reload  \(ReloadReport.text(reload))") }
    return lines.joined(separator: "\n")
  }
}

/// `carabiner reload`: loads a new generation.
struct ReloadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reload", abstract: "Reload the manifest of a running gateway, and wait until that is done.",
    discussion: """
      A plugin with the same file and configuration keeps its instance. With --force, all instances are created again.

      Exit status: 0 if the new generation serves, 3 if it was refused and the old one continues.

      Example: carabiner reload --admin unix:/run/carabiner.sock
      """)

  @OptionGroup var options: AdminOptions
  @Flag(name: .long, help: "Create all instances of plugins again, including unchanged ones.") var force = false

  func run() async throws {
    let (status, json) = try await options.client().json("POST", force ? "/reload?force=true" : "/reload")
    options.show(json, ReloadReport.text)
    if status != 200 { throw ExitStatus.refused }
  }
}
