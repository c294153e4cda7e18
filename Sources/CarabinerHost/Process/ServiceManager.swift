internal import CLinux
package import CarabinerGateway
internal import Foundation

/// Communicates with systemd: state notifications and passed sockets. Does nothing without systemd.
package enum ServiceManager {
  private static let firstDescriptor: Int32 = 3

  /// The listening sockets that systemd passed to the process; empty if there are none.
  package static var sockets: [GatewayServer.Address] {
    let environment = ProcessInfo.processInfo.environment
    guard environment["LISTEN_PID"] == String(getpid()), let count = environment["LISTEN_FDS"].flatMap(Int32.init),
      (1...64).contains(count)
    else { return [] }
    return (0..<count).map { .descriptor(firstDescriptor + $0) }
  }

  /// Reports a step of the end, and asks for time until the next report.
  package static func notify(status: String, extendingBy time: Duration) {
    let (seconds, attoseconds) = time.components
    notify("STATUS=\(status)\nEXTEND_TIMEOUT_USEC=\(seconds * 1_000_000 + attoseconds / 1_000_000_000_000)")
  }

  /// Reports the state of the service, for example `READY=1`.
  package static func notify(_ state: String) {
    guard let path = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@") else {
      return
    }
    let descriptor = socket(AF_UNIX, CLinux_DATAGRAM | CLinux_CLOSE_ON_EXEC, 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var name = Array(path.utf8)
    // A name that begins with @ is in the abstract namespace; its first byte is NUL.
    if name[0] == UInt8(ascii: "@") { name[0] = 0 }
    let isShort = unsafe withUnsafeMutableBytes(of: &address.sun_path) { place in
      guard name.count < place.count else { return false }
      unsafe place.copyBytes(from: name)
      return true
    }
    guard isShort else { return }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
    let bytes = Array(state.utf8)
    _ = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe bytes.withUnsafeBytes { unsafe sendto(descriptor, $0.baseAddress, $0.count, 0, address, length) }
      }
    }
  }
}
