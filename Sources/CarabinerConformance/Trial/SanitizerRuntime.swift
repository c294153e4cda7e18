internal import CarabinerWire
internal import Foundation

/// The runtime of the sanitizer that a plugin was built with.
package struct SanitizerRuntime: Sendable, Hashable {
  private enum Kind: String, CaseIterable {
    case address = "AddressSanitizer"
    case thread = "ThreadSanitizer"
    case undefined = "UndefinedBehaviorSanitizer"

    /// The names of its runtime, by GCC and by Clang, without the number or the machine.
    var names: [String] {
      switch self {
      case .address: ["libasan.so.", "libclang_rt.asan"]
      case .thread: ["libtsan.so.", "libclang_rt.tsan"]
      case .undefined: ["libubsan.so.", "libclang_rt.ubsan_standalone"]
      }
    }
  }

  /// The capability with which a user accepts that there are no limits of memory. A plugin's note cannot give it.
  package static let capability = "sanitizer"

  /// The name of the library, without a folder.
  let library: String
  private let kind: Kind

  /// Finds the runtime among needed libraries; nil if there is none. If there are several, the one that must come first counts.
  init?(needed libraries: [String]) {
    for kind in Kind.allCases {
      guard let library = libraries.first(where: { Self.isRuntime($0, kind) }) else { continue }
      (self.library, self.kind) = (library, kind)
      return
    }
    return nil
  }

  /// Plugins choose what they need, and this library is loaded before they are confined: only the exact names count.
  private static func isRuntime(_ library: String, _ kind: Kind) -> Bool {
    guard let name = kind.names.first(where: library.hasPrefix) else { return false }
    let rest = library.dropFirst(name.count)
    if name.hasSuffix(".") { return !rest.isEmpty && rest.utf8.count < 4 && rest.utf8.allSatisfy { (48...57).contains($0) } }
    return [".so", "-x86_64.so", "-aarch64.so"].contains(String(rest))
  }

  /// The name of the sanitizer.
  var name: String { kind.rawValue }

  /// The name, if some checks are skipped because of the sanitizer.
  var disturbingName: String? { comesFirst ? name : nil }

  /// Whether the dynamic linker must load it before all else. It then needs address space without limits.
  var comesFirst: Bool { kind != .undefined }

  /// Variables of a process that loads the plugin. The first report of the sanitizer ends the process, which then has the stack of the
  /// fault.
  ///
  /// - Parameter own: The variables of the caller, whose options take precedence.
  func environment(_ own: [String: String]) -> [String] {
    let ends = "halt_on_error=1:abort_on_error=1"
    let options = [
      ("UBSAN_OPTIONS", ends),
      // Checks of the harness look for leaks; a confined process may not look into itself with ptrace().
      ("ASAN_OPTIONS", "\(ends):detect_leaks=0"),
      // The harness has no instrumentation, so its own accesses prove nothing.
      ("TSAN_OPTIONS", "\(ends):ignore_noninstrumented_modules=1:report_signal_unsafe=0:die_after_fork=0"),
    ]
    return (comesFirst ? ["LD_PRELOAD=\(library)"] : [])
      + options.map { name, value in "\(name)=\(value)\(own[name].map { ":\($0)" } ?? "")" }
  }

  // MARK: What it prints

  /// How much of a report is shown. The plugin may have printed it.
  private static let maximumReport = 300

  /// The fault that it has reported in the output of a process; nil if there is none.
  func report(in output: String) -> String? {
    for line in output.split(whereSeparator: \.isNewline).reversed() {
      let found: Substring
      if line.hasPrefix("SUMMARY: "), line.contains("Sanitizer: ") {
        found = line.dropFirst("SUMMARY: ".count)
      } else if let range = line.range(of: ": runtime error: "), line[..<range.lowerBound].last?.isNumber == true {
        found = "UndefinedBehaviorSanitizer: " + line[range.upperBound...]
      } else {
        continue
      }
      return PrintableText.escaping(String(found.prefix(Self.maximumReport)))
    }
    return nil
  }

  /// Why it could not run on this system; nil if it could.
  func failure(in output: String) -> String? {
    guard comesFirst, let line = output.split(whereSeparator: \.isNewline).first(where: { $0.contains("FATAL: \(name): ") })
    else {
      return nil
    }
    return
      "\(PrintableText.escaping(String(line.prefix(Self.maximumReport)))). If it is about the memory mapping, set the kernel's "
      + "vm.mmap_rnd_bits to 28"
  }
}
