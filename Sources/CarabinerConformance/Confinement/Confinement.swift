internal import CConfine
internal import Foundation
internal import Glibc

/// The required confinement of a process that holds a plugin.
package enum Confinement: String, Sendable, CaseIterable {
  /// A check does not run without the layers that isolate a plugin.
  case strict
  /// A check runs with the layers that this system has.
  case available

  /// The user and group of a child of root: `nobody` and `nogroup`, by number, because not every system has the names.
  static let user: uid_t = 65534
  static let group: gid_t = 65534

  /// The limits of a child. They are generous: a plugin that needs more is too large for the path of a request.
  private enum Maximum {
    static let data: UInt64 = 4 << 30
    static let addresses: UInt64 = 16 << 30
    static let file: UInt64 = 64 << 20
    static let descriptors: UInt64 = 4096
    static let processorSeconds: UInt64 = 600
    static let processes: UInt64 = 2048
  }

  /// Whether AddressSanitizer or ThreadSanitizer runs. It reserves terabytes of address space, so the limits of data and addresses do not apply.
  static var isSanitized: Bool { unsafe dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil }

  /// Confines this process, which has one thread. It cannot be undone.
  ///
  /// - Parameters:
  ///   - folder: Where files may be made and changed.
  ///   - plugin: The file of the plugin, which may be read.
  ///   - files: Further files and folders that may be read.
  ///   - parent: The process with which this one ends.
  /// - Returns: The layers in force, as bits.
  static func confine(to folder: String, reading plugin: String, _ files: [String] = [], parent: pid_t) -> UInt32 {
    let libraries = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"]?.split(separator: ":").map(String.init) ?? []
    // Each path ends in NUL, and an empty one is the last.
    let readable =
      ([plugin] + files + NamedLibraries.paths(of: plugin) + libraries.filter { $0.hasPrefix("/") }).map { "\($0)\0" }.joined()
      + "\0"
    let kept: [Int32] = [0, 1, 2, TrialReport.descriptor, FlightRecord.descriptor]
    return unsafe folder.withCString { folder in
      unsafe readable.withCString { readable in
        unsafe kept.withUnsafeBufferPointer { kept in
          var settings = unsafe CConfine_settings()
          unsafe settings.profile = CCONFINE_HARNESS
          unsafe settings.parent = parent
          unsafe settings.user = user
          unsafe settings.group = group
          unsafe settings.folder = folder
          unsafe settings.readable = readable
          unsafe settings.kept = kept.baseAddress
          unsafe settings.kept_count = kept.count
          unsafe settings.limits = CConfine_limits(
            data: isSanitized ? 0 : Maximum.data, addresses: isSanitized ? 0 : Maximum.addresses, file: Maximum.file,
            descriptors: Maximum.descriptors, processor: Maximum.processorSeconds, processes: Maximum.processes)
          return unsafe CConfine_confine(&settings)
        }
      }
    }
  }

  /// A required layer that is not in force.
  struct MissingLayer: Hashable, Sendable {
    let name: String
    /// The step that failed and the next thing to do, as sentences; nil if this process did not try to confine itself.
    let reason: String?
  }

  /// The required layers that are missing.
  ///
  /// - Parameter layers: Those in force.
  func missingLayers(after layers: UInt32) -> [MissingLayer] {
    guard self == .strict else { return [] }
    let missing = CConfine_missing(CCONFINE_HARNESS, layers)
    return (0..<UInt32.bitWidth).compactMap { bit in
      let layer: UInt32 = 1 << bit
      guard missing & layer != 0 else { return nil }
      return unsafe CConfine_layerName(layer).map {
        unsafe MissingLayer(name: String(cString: $0), reason: Self.reason(of: layer))
      }
    }
  }

  private static func reason(of layer: UInt32) -> String? {
    let text = unsafe [CChar](unsafeUninitializedCapacity: 512) { buffer, count in
      unsafe count = CConfine_explain(layer, buffer.baseAddress, buffer.count)
    }
    return text.isEmpty ? nil : String(decoding: text.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// The names of all layers that isolate a plugin.
  package static var layerNames: [String] { Self.strict.missingLayers(after: 0).map(\.name) }

  /// The error message for missing layers.
  static func refusal(for missing: [MissingLayer]) -> String {
    let reasons = missing.compactMap { layer in layer.reason.map { " \(layer.name): \($0)" } }.joined()
    return "a plugin cannot be confined here: this system lacks \(missing.map(\.name).joined(separator: " and ")).\(reasons) "
      + "Use Linux 5.13 or newer with seccomp and Landlock, or accept the risk with --confine available."
  }

  /// Writes a line to the standard error of the child.
  static func say(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
  }
}
