/// The language of a library, as far as its file shows it.
extension SharedObject {
  /// Whether a library contains Rust code: the messages of Rust's standard library contain paths of its sources.
  static func isRust(_ bytes: [UInt8]) -> Bool {
    let mark = Array("/rustc/".utf8)
    return bytes.indices.dropLast(mark.count).contains {
      bytes[$0] == mark[0] && bytes[$0..<($0 + mark.count)].elementsEqual(mark)
    }
  }
}
