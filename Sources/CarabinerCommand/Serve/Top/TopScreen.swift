internal import Foundation
internal import Synchronization

/// A terminal in full-screen mode. The previous state is restored at the end.
final class TopScreen: Sendable {
  private static let enter = "\u{1B}[?1049h\u{1B}[?25l"
  private static let leave = "\u{1B}[?25h\u{1B}[?1049l"
  private static let assumedSize = (columns: 80, rows: 24)

  private let settings: termios?
  private let isOver = Mutex(false)

  /// Takes over the terminal of standard output. Keys are read one by one and not echoed.
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

  /// Restores the terminal. Further calls have no effect.
  func restore() {
    let isFirst = isOver.withLock { isOver in
      defer { isOver = true }
      return !isOver
    }
    guard isFirst else { return }
    Self.write(Self.leave)
    if var settings { unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings) }
  }

  /// The size of the terminal.
  var size: (columns: Int, rows: Int) {
    var size = winsize()
    guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
      return Self.assumedSize
    }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Shows these lines only.
  func draw(_ lines: [String]) {
    // Each line clears the rest of its row, which flickers less than clearing the whole screen.
    let shown = lines.prefix(size.rows).map { "\($0)\u{1B}[K" }.joined(separator: "\n")
    Self.write("\u{1B}[H\(shown)\u{1B}[J")
  }

  /// Calls `body` for each key on a separate thread until the input ends.
  func onKeys(_ body: @escaping @Sendable (UInt8) -> Void) {
    guard settings != nil else { return }
    Thread.detachNewThread {
      while let key = FileHandle.standardInput.readData(ofLength: 1).first { body(key) }
    }
  }

  private static func write(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
}
