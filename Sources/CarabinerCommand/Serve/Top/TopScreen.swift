internal import Foundation
internal import Synchronization

/// A terminal that is drawn over in place; it is given back as it was.
final class TopScreen: Sendable {
  private static let enter = "\u{1B}[?1049h\u{1B}[?25l"
  private static let leave = "\u{1B}[?25h\u{1B}[?1049l"
  private static let assumedSize = (columns: 80, rows: 24)

  private let settings: termios?
  private let isOver = Mutex(false)

  /// Takes over the terminal of standard output; keys are no longer shown, and come without Enter.
  init() {
    var original = termios()
    if isatty(STDIN_FILENO) == 1, unsafe tcgetattr(STDIN_FILENO, &original) == 0 {
      settings = original
      var own = original
      own.c_lflag &= ~tcflag_t(ICANON | ECHO)
      unsafe tcsetattr(STDIN_FILENO, TCSANOW, &own)
    } else {
      settings = nil
    }
    Self.write(Self.enter)
  }

  deinit { restore() }

  /// Gives the terminal back; more than once does no harm.
  func restore() {
    let isFirst = isOver.withLock { isOver in
      defer { isOver = true }
      return !isOver
    }
    guard isFirst else { return }
    Self.write(Self.leave)
    if var settings { unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings) }
  }

  /// How much it has room for.
  var size: (columns: Int, rows: Int) {
    var size = winsize()
    guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
      return Self.assumedSize
    }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Shows these lines and nothing else.
  func draw(_ lines: [String]) {
    // Each line wipes out what was in its place, which flickers less than to wipe the whole first.
    let shown = lines.prefix(size.rows).map { "\($0)\u{1B}[K" }.joined(separator: "\n")
    Self.write("\u{1B}[H\(shown)\u{1B}[J")
  }

  /// Calls `body` for each key, from a thread of its own, until there are no more.
  func onKeys(_ body: @escaping @Sendable (UInt8) -> Void) {
    guard settings != nil else { return }
    Thread.detachNewThread {
      while let key = FileHandle.standardInput.readData(ofLength: 1).first { body(key) }
    }
  }

  private static func write(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
}
