public import Foundation
internal import Glibc

extension FileHandle {
  /// The next line, without its end; what there is of it if no more comes.
  ///
  /// `availableData` is empty when a signal ends the waiting, as it is at the end, and a child's death is a signal.
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
