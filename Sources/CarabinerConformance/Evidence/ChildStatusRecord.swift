internal import CTestHost
internal import CarabinerWire
internal import Glibc

/// The supervisor's side of the memory that it shares with a child. Untrusted code can write to it, so texts are cut at their
/// limit, and control characters are escaped.
@safe final class ChildStatusRecord {
  let descriptor: Int32
  let record: UnsafeMutablePointer<CTestHost_record>

  /// A record for one child.
  ///
  /// - Parameter nonce: The mark of the child's lines in its report.
  init?(nonce: String) {
    descriptor = CTestHost_newRecord()
    guard descriptor >= 0 else { return nil }
    guard let mapped = unsafe CTestHost_mapRecord(descriptor) else {
      close(descriptor)
      return nil
    }
    unsafe record = unsafe mapped
    var nonce = nonce
    nonce.withUTF8 { bytes in
      let field = unsafe UnsafeMutableRawPointer(record) + FlightRecord.nonceOffset
      unsafe CTestHost_note(field.assumingMemoryBound(to: CChar.self), bytes.baseAddress, bytes.count)
    }
  }

  /// The hook in which the process ended; empty if it ended outside of hooks.
  var hook: String { text(at: FlightRecord.hookOffset) }
  /// The step of the check.
  var step: String { text(at: FlightRecord.stepOffset) }

  /// The number of the exchange that ran, or was the last; 0 for none.
  var exchange: Int { unsafe Int(clamping: record.pointee.exchanges) }

  private func text(at offset: Int) -> String {
    let bytes = unsafe UnsafeRawBufferPointer(start: UnsafeRawPointer(record) + offset, count: Int(CTESTHOST_TEXT_MAX))
    return unsafe Self.text(in: bytes)
  }

  /// The bytes before the first NUL.
  static func text(in bytes: UnsafeRawBufferPointer) -> String { unsafe PrintableText.escaping(bytes.prefix { $0 != 0 }) }

  deinit {
    unsafe CTestHost_unmapRecord(record)
    close(descriptor)
  }
}
