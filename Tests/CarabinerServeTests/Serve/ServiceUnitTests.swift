import CommandTools
import Foundation
import TestTools
import Testing

/// The units for systemd.
@Suite("carabiner serve: the units for systemd")
struct ServiceUnitTests {
  /// The settings of a section of a unit, in their order.
  private func settings(of name: String, _ section: String) throws -> [(key: String, value: String)] {
    let text = try String(contentsOf: Repository.root.appending(path: "Sources/Kits/systemd/\(name)"), encoding: .utf8)
    return settings(in: text, section)
  }

  private func settings(in text: String, _ section: String) -> [(key: String, value: String)] {
    let part = text.components(separatedBy: "\n[\(section)]\n").dropFirst().first?.components(separatedBy: "\n[").first ?? ""
    return part.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { line in
      let words = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return words.count == 2 ? (String(words[0]), String(words[1])) : nil
    }
  }

  @Test("the service has no capabilities, sees no other process, and may write only to its own folders", .rule("package.9"))
  func confinement() throws {
    let found = Dictionary(grouping: try settings(of: "carabiner@.service", "Service"), by: { $0.key }).mapValues {
      $0.map { $0.value }
    }
    for (key, value) in [
      ("TimeoutStopSec", "75s"), ("UMask", "0077"), ("CapabilityBoundingSet", ""), ("PrivateDevices", "yes"),
      ("PrivateUsers", "yes"),
      ("ProtectClock", "yes"), ("ProtectHostname", "yes"), ("ProtectKernelLogs", "yes"), ("ProtectKernelModules", "yes"),
      ("ProtectProc", "invisible"), ("ProcSubset", "pid"), ("RestrictNamespaces", "yes"), ("RestrictRealtime", "yes"),
      ("RestrictSUIDSGID", "yes"), ("LockPersonality", "yes"), ("MemoryDenyWriteExecute", "yes"), ("RemoveIPC", "yes"),
      ("SystemCallArchitectures", "native"), ("KeyringMode", "private"), ("LogsDirectory", "carabiner/%i"),
      ("CacheDirectory", "carabiner/%i"), ("StateDirectory", "carabiner/%i"), ("Type", "notify"),
    ] { #expect(found[key] == [value], "\(key)") }
    #expect(found["SystemCallFilter"]?.first?.hasPrefix("@system-service ") == true)
    #expect(found["SystemCallFilter"]?.last == "~@privileged @resources")
    #expect(found["ExecStart"]?.first?.contains(" --lame-duck 5s ") == true)
    // Passwords are not in the environment of the unit.
    #expect(found["Environment"] == ["CARABINER_SERVE="])
  }

  @Test("the socket unit has the default address, so that the gateway does not listen there itself", .rule("package.9"))
  func socket() throws {
    let found = try settings(of: "carabiner@.socket", "Socket")
    #expect(found.filter { $0.key == "ListenStream" }.map { $0.value } == ["127.0.0.1:4000"])
    #expect(try settings(of: "carabiner@.socket", "Install").map { $0.value } == ["sockets.target"])
  }

  /// The settings for an upgrade by take-over, as the guide has them.
  private func takeOver() throws -> String {
    let page = Repository.root.appending(path: "Sources/Carabiner/Documentation.docc/Installing.md")
    let blocks = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```")
    return try #require(blocks.first { $0.contains("--take-over") }).replacing(#/ *\\\n +/#, with: " ")
  }

  @Test("the process that takes over has the options of the unit, and may become the main process")
  func takeOverOptions() throws {
    let found = settings(in: try takeOver(), "Service")
    #expect(found.first { $0.key == "NotifyAccess" }?.value == "all")
    let reloads = found.filter { $0.key == "ExecReload" }.map { $0.value }
    #expect(reloads.first == "" && reloads.count == 2)
    let start = try #require(try settings(of: "carabiner@.service", "Service").first { $0.key == "ExecStart" }).value
    let successor = reloads.last?.firstMatch(of: /^\/bin\/sh -c '\{ (.*) & \} \| grep -q listening'$/)?.1
    #expect(
      successor.map { $0.replacing(" --take-over unix:${RUNTIME_DIRECTORY}/admin.sock", with: "") }
        == start.replacing("@PREFIX@", with: "/usr")[...])
  }

  @Test(
    "systemd rates the exposure of the service at 1.2 or less, and understands both units and a take-over", .rule("package.9"))
  func exposure() async throws {
    let analyze = URL(filePath: "/usr/bin/systemd-analyze")
    guard FileManager.default.isExecutableFile(atPath: analyze.path) else {
      print("skipped: systemd-analyze is not installed")
      return
    }
    let folder = try StoreFolder()
    for name in ["service", "socket"] {
      let unit = Repository.root.appending(path: "Sources/Kits/systemd/carabiner@.\(name)")
      let text = try String(contentsOf: unit, encoding: .utf8).replacing("@PREFIX@/bin/carabiner", with: "/bin/true")
        .replacing(/Documentation=.*/, with: "")
      _ = try folder.write(text, to: "carabiner@shop.\(name)")
    }
    let rating = try await ToolRun(
      analyze, ["security", "--offline=true", "--no-pager", "--threshold=12", folder.file("carabiner@shop.service")])
    #expect(rating.status == 0, "\(rating.output.suffix(300))\(rating.errors)")
    try FileManager.default.createDirectory(atPath: folder.file("carabiner@shop.service.d"), withIntermediateDirectories: true)
    _ = try folder.write(try takeOver(), to: "carabiner@shop.service.d/take-over.conf")
    let check = try await ToolRun(
      analyze, ["verify", folder.file("carabiner@shop.service"), folder.file("carabiner@shop.socket")])
    let complaints = (check.output + check.errors).split(separator: "\n").filter { $0.contains("carabiner@shop") }
    #expect(complaints.isEmpty, "\(complaints)")
  }
}
