internal import FoundationEssentials

/// Finds the process that listens at a port, for the message that the port is in use.
enum PortHolder {
  /// The state LISTEN in the tables of the kernel.
  private static let listening = "0A"

  /// How often the tables are read. The kernel returns them page by page. If a program opens or closes a socket between two pages,
  /// another socket may be missing.
  private static let attempts = 5

  /// The name and number of the process; nil if this process may not see it.
  static func process(atPort port: Int) -> String? {
    for _ in 0..<attempts {
      if let holder = search(port) { return holder }
    }
    return nil
  }

  private static func search(_ port: Int) -> String? {
    let sockets = Set(
      ["/proc/net/tcp", "/proc/net/tcp6"].compactMap { try? String(contentsOfFile: $0, encoding: .utf8) }
        .flatMap { self.sockets(in: $0, port: port) })
    guard !sockets.isEmpty, let processes = try? FileManager.default.contentsOfDirectory(atPath: "/proc") else { return nil }
    for process in processes where Int(process) != nil {
      // The descriptors of processes of other users cannot be read.
      guard let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd") else { continue }
      let isHolder = descriptors.contains { descriptor in
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\(descriptor)")
        return target.map(sockets.contains) ?? false
      }
      guard isHolder else { continue }
      let name = (try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)) ?? ""
      return "\(name.filter { $0.isLetter || $0.isNumber || "-_.".contains($0) }) (process \(process))"
    }
    return nil
  }

  /// The sockets of a table that listen at a port, as the links of descriptors name them.
  static func sockets(in table: String, port: Int) -> [String] {
    table.split(separator: "\n").dropFirst().compactMap { line in
      let fields = line.split(separator: " ")
      guard fields.count > 9, fields[3] == listening, let colon = fields[1].lastIndex(of: ":"),
        Int(fields[1][fields[1].index(after: colon)...], radix: 16) == port
      else { return nil }
      return "socket:[\(fields[9])]"
    }
  }
}
