import Foundation
import TestTools
import Testing

/// The units for systemd.
@Suite("carabiner serve: the units for systemd")
struct ServiceUnitTests {
  /// The settings of a section of a unit, in their order.
  private func settings(of name: String, _ section: String) throws -> [(key: String, value: String)] {
    let text = try String(contentsOf: Repository.root.appending(path: "Sources/Kits/systemd/\(name)"), encoding: .utf8)
    let part = text.components(separatedBy: "\n[\(section)]\n").dropFirst().first?.components(separatedBy: "\n[").first ?? ""
    return part.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { line in
      let words = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return words.count == 2 ? (String(words[0]), String(words[1])) : nil
    }
  }

  @Test("P9: the service has no capabilities, sees no other process, and may write only to its own folders")
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

  @Test("P9: the socket unit has the default address, so that the gateway does not listen there itself")
  func socket() throws {
    let found = try settings(of: "carabiner@.socket", "Socket")
    #expect(found.filter { $0.key == "ListenStream" }.map { $0.value } == ["127.0.0.1:4000"])
    #expect(try settings(of: "carabiner@.socket", "Install").map { $0.value } == ["sockets.target"])
  }

  @Test("P9: systemd rates the exposure of the service at 1.2 or less, and understands both units")
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
    let check = try await ToolRun(
      analyze, ["verify", folder.file("carabiner@shop.service"), folder.file("carabiner@shop.socket")])
    let complaints = (check.output + check.errors).split(separator: "\n").filter { $0.contains("carabiner@shop") }
    #expect(complaints.isEmpty, "\(complaints)")
  }
}
