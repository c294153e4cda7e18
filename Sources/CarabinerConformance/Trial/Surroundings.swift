internal import Glibc

/// What of a process its code shares without noticing.
struct Surroundings: Hashable {
  private let locale: String
  private let rounding: Int32
  private let blockedSignals: String
  private let handledSignals: String
  private let folder: String
  private let mask: mode_t

  static var now: Surroundings {
    let mask = umask(0)
    umask(mask)
    let signals = ProcessState.now.signals
    return unsafe Surroundings(
      locale: setlocale(LC_ALL, nil).map { unsafe String(cString: $0) } ?? "", rounding: fegetround(),
      blockedSignals: signals["SigBlk"] ?? "", handledSignals: "\(signals["SigIgn"] ?? "") \(signals["SigCgt"] ?? "")",
      folder: workingFolder, mask: mask)
  }

  private static var workingFolder: String {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    return unsafe getcwd(&bytes, bytes.count).map { unsafe String(cString: $0) } ?? ""
  }

  /// What is other than it was.
  func differences(from before: Surroundings) -> [String] {
    var found: [String] = []
    if locale != before.locale { found.append("the locale has become \(locale)") }
    if rounding != before.rounding { found.append("the rounding mode has changed") }
    if blockedSignals != before.blockedSignals { found.append("the signal mask has become \(blockedSignals)") }
    if handledSignals != before.handledSignals { found.append("what signals do has changed") }
    if folder != before.folder { found.append("the working directory has become \(folder)") }
    if mask != before.mask { found.append("the umask has become \(String(mask, radix: 8))") }
    return found
  }
}
