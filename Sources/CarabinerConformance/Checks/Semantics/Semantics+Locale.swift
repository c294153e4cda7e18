internal import CarabinerABI
internal import CarabinerBridge
internal import Glibc

extension Check {
  static let anyLocale = Check(
    "SE20", level: 3, "writes and reads numbers the same in every locale",
    page: Page(
      rule: "The answers do not change if the host has a locale whose decimal point is a comma.",
      reason: """
        A program that embeds the host may call setlocale(). printf() then writes 1,5, which is not JSON, and strtod() reads 0.5 as 0.
        """,
      example: #"""
        snprintf(text, sizeof text, "{\"cost\":%.1f}", cost);
        """#,
      remedy: """
        Use std::to_chars and std::from_chars in C++, integers with a point of your own in C, or a uselocale() of the C locale around
        the call and back.
        """),
    .interceptor { trial in
      guard !trial.options.capabilities.contains("varies") else { throw TrialNotes.Skip("it declares that its answers vary") }
      trial.testHost.state.withLock { $0.isGuarded = false }
      guard let comma = CommaLocale() else { throw TrialNotes.Skip("this system does not load a locale of the harness") }
      let exchanges = Exchange.usual + Exchange.varied(trial.words)
      for stage in trial.stages {
        func answers() throws -> [String] {
          let instance = try trial.instance()
          defer { instance.destroy() }
          return trial.travel(exchanges, stage, instance).map(\.fingerprint)
        }
        let (first, again) = (try answers(), try answers())
        comma.enter()
        defer { comma.leave() }
        let other = try answers()
        for (index, exchange) in exchanges.enumerated() where first[index] == again[index] && first[index] != other[index] {
          return trial.notes.fail(
            "its answer changes under a locale with a decimal comma: \(exchange.name)",
            at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
        }
      }
    })
}

/// A locale whose decimal separator is a comma. The harness writes its file, because the system may have no such locale.
private struct CommaLocale {
  private static let name = "harness"

  init?() {
    // The format of libc's file for LC_NUMERIC: a magic number, the number of values, their offsets, and the values.
    var bytes: [UInt8] = []
    func append(_ word: UInt32) { bytes += (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
    append(0x2003_1115 ^ UInt32(LC_NUMERIC))
    append(6)
    for place: UInt32 in [32, 34, 35, 36, 40, 44] { append(place) }
    bytes += [UInt8(ascii: ","), 0, 0, 0]
    append(UInt32(UInt8(ascii: ",")))
    append(0)
    bytes += Array("UTF-8\0".utf8)
    guard unsafe mkdir("./\(Self.name)", 0o755) == 0, let file = unsafe fopen("./\(Self.name)/LC_NUMERIC", "w") else {
      return nil
    }
    let written = unsafe fwrite(bytes, 1, bytes.count, file)
    unsafe fclose(file)
    guard written == bytes.count, unsafe setenv("LOCPATH", ".", 1) == 0 else { return nil }
    enter()
    defer { leave() }
    guard unsafe localeconv().pointee.decimal_point.pointee == CChar(UInt8(ascii: ",")) else { return nil }
  }

  func enter() { _ = unsafe setlocale(LC_NUMERIC, Self.name) }
  func leave() { _ = unsafe setlocale(LC_NUMERIC, "C") }
}
