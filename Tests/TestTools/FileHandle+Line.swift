public import Foundation
internal import Glibc

extension FileHandle {
  /// The next line without its line break, or the rest of the data before the end.
  ///
  /// `availableData` is empty at the end and also when a signal interrupts the read. The death of a child is a signal.
  public func line() -> String {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while true {
      let count = unsafe Glibc.read(fileDescriptor, &byte, 1)
      if count < 0, errno == EINTR { continue }
      guard count == 1, byte != UInt8(ascii: "\n") else { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
  }
}
