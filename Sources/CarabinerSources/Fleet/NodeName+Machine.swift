internal import CarabinerFiles
package import CarabinerFleet
internal import Foundation

extension NodeName {
  private static let machineFile = "/etc/machine-id"
  private static let maximumHostName = 100

  /// The name of this machine in its network, and the first 4 bytes of its ID, which two machines with the same name do not share.
  package static func ofThisMachine() -> NodeName {
    let machine = (try? BoundedFile.text(at: machineFile, maximumBytes: 4096)) ?? ""
    return ofMachine(ProcessInfo.processInfo.hostName, id: machine)
  }

  /// - Parameters:
  ///   - host: The name of a machine. Characters that a name of a node cannot have become hyphens.
  ///   - id: Its ID, in hexadecimal digits; empty if it has none, as in some containers.
  static func ofMachine(_ host: String, id: String) -> NodeName {
    let visible = host.unicodeScalars.prefix(maximumHostName).map { scalar -> Character in
      scalar.isASCII && NodeName("\(scalar)") != nil ? Character(scalar) : "-"
    }
    let name = visible.isEmpty ? "node" : String(visible)
    let digits = id.prefix(8)
    let isID = digits.count == 8 && digits.allSatisfy(\.isHexDigit)
    return NodeName(isID ? "\(name)-\(digits)" : name) ?? Self.unnamed
  }
}
