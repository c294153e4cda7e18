import CarabinerWire
import Glibc
import JSONReference

/// Memory that ends before a page that cannot be read. The bytes before a text are a quote, a backslash and digits.
@safe final class GuardedMemory {
  private static let (size, page) = (1 << 20, 1 << 16)
  private let start: UnsafeMutableRawPointer

  init() {
    let map = unsafe mmap(nil, Self.size + Self.page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let map = unsafe map, unsafe map != MAP_FAILED, unsafe mprotect(map + Self.size, Self.page, PROT_NONE) == 0 else {
      fatalError("no memory: \(errno)")
    }
    unsafe start = map
  }

  deinit { unsafe munmap(start, Self.size + Self.page) }

  /// How some code and the check byte by byte differ for a text; nil if they agree.
  func difference(of text: [UInt8], limits: JSONLimits = JSONLimits()) -> String? {
    let before = Array("\"\\11111".utf8)
    let place = unsafe start.assumingMemoryBound(to: UInt8.self) + (Self.size - text.count)
    unsafe (place - before.count).update(from: before + text, count: before.count + text.count)
    let copy = unsafe UnsafeBufferPointer(start: place, count: text.count)
    for scan in BlockScan.allCases {
      if let difference = unsafe scan.difference(of: copy, limits: limits) {
        return "\(scan): \(String(decoding: text, as: UTF8.self)): \(difference)"
      }
    }
    return nil
  }
}
