internal import Foundation

/// The runtime of AddressSanitizer or ThreadSanitizer that a plugin was built with. The dynamic linker must load it before all else, and
/// it needs address space without limits.
package struct SanitizerRuntime: Sendable, Hashable {
  /// The sanitizers whose runtime must come first. UndefinedBehaviorSanitizer's may come later.
  private enum Kind: String, CaseIterable {
    case address = "AddressSanitizer"
    case thread = "ThreadSanitizer"

    /// The beginnings of the names of its runtime, by GCC and by Clang.
    var prefixes: [String] {
      switch self {
      case .address: ["libasan.so", "libclang_rt.asan"]
      case .thread: ["libtsan.so", "libclang_rt.tsan"]
      }
    }
  }

  /// The capability with which a user accepts that there are no limits of memory. A plugin's note cannot give it.
  static let capability = "sanitizer"

  /// The name of the library, without a folder.
  let library: String
  private let kind: Kind

  /// Finds the runtime among needed libraries; nil if there is none.
  init?(needed libraries: [String]) {
    for library in libraries {
      let isPlain = library.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "._-".utf8.contains(byte)
        }
      }
      guard isPlain, let kind = Kind.allCases.first(where: { $0.prefixes.contains(where: library.hasPrefix) }) else { continue }
      (self.library, self.kind) = (library, kind)
      return
    }
    return nil
  }

  /// Whether a library is the runtime of a sanitizer, also of one that may be loaded later.
  static func isRuntime(_ library: String) -> Bool {
    SanitizerRuntime(needed: [library]) != nil || ["libubsan.so", "libclang_rt.ubsan"].contains(where: library.hasPrefix)
  }

  /// The name of the sanitizer.
  var name: String { kind.rawValue }

  /// Variables of a process that loads such a plugin. Each report ends it, so that it has the stack of the fault.
  ///
  /// - Parameters:
  ///   - runtime: Nil if the plugin has none that must come first.
  ///   - own: The variables of the caller, which count more.
  static func environment(_ runtime: SanitizerRuntime?, _ own: [String: String]) -> [String] {
    let ends = "halt_on_error=1:abort_on_error=1"
    var options = [("UBSAN_OPTIONS", ends)]
    var preloaded: [String] = []
    if let runtime {
      preloaded.append("LD_PRELOAD=\(runtime.library)")
      // Checks of the harness look for leaks; a confined process may not look into itself with ptrace(). The harness has no
      // instrumentation, so what it does with memory proves nothing.
      options += [
        ("ASAN_OPTIONS", "\(ends):detect_leaks=0:handle_abort=0"),
        ("TSAN_OPTIONS", "\(ends):ignore_noninstrumented_modules=1:report_signal_unsafe=0"),
      ]
    }
    return preloaded + options.map { name, value in "\(name)=\(value)\(own[name].map { ":\($0)" } ?? "")" }
  }

  /// The fault that a sanitizer has reported in the output of a process; nil if there is none.
  static func report(in output: String) -> String? {
    for line in output.split(separator: "\n").reversed() {
      if line.hasPrefix("SUMMARY: "), line.contains("Sanitizer: ") { return String(line.dropFirst("SUMMARY: ".count)) }
      guard let found = line.range(of: ": runtime error: ") else { continue }
      return "UndefinedBehaviorSanitizer: \(line[found.upperBound...])"
    }
    return nil
  }
}
