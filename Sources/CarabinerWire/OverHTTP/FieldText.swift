/// Checks of names and values of headers, whose loops read memory directly: each request has a dozen of them.
extension Span<UInt8> {
  /// Whether the bytes are a token (RFC 9110, 5.6.2).
  @inlinable package var isToken: Bool {
    var index = 0
    while index < count {
      // Eight bytes at a time, while all of them are letters, digits or hyphens.
      if index &+ 8 <= count, isPlainWord(at: index) {
        index &+= 8
      } else if count >= 8, count &- index < 8, isPlainWord(at: count &- 8) {
        return true
      } else {
        let end = Swift.min(index &+ 8, count)
        while index < end {
          guard self[index].isTokenByte else { return false }
          index &+= 1
        }
      }
    }
    return !isEmpty
  }

  /// Whether the eight bytes at an index are letters, digits or hyphens.
  @inlinable @inline(__always) func isPlainWord(at index: Int) -> Bool {
    let highBits: UInt64 = 0x8080_8080_8080_8080
    let word = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self)
    guard word & highBits == 0 else { return false }
    // In each byte: the highest bit of a sum is set if the byte is not below the first of a range, or is above its last. No sum
    // carries over into the next byte.
    let lower = word | 0x2020_2020_2020_2020
    let letters = (lower &+ 0x1F1F_1F1F_1F1F_1F1F) & ~(lower &+ 0x0505_0505_0505_0505)
    let digits = (word &+ 0x5050_5050_5050_5050) & ~(word &+ 0x4646_4646_4646_4646)
    let hyphens = (word &+ 0x5353_5353_5353_5353) & ~(word &+ 0x5252_5252_5252_5252)
    return (letters | digits | hyphens) & highBits == highBits
  }

  /// The index of the first control character from `start` on; the count if there is none.
  @inlinable package func firstControl(from start: Int) -> Int {
    var index = start
    // Eight bytes at a time. A byte of the sum has its highest bit set if the byte is a control character.
    while index &+ 8 <= count {
      let word = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self)
      let isBelowSpace = (word &- 0x2020_2020_2020_2020) & ~word
      let difference = word ^ 0x7F7F_7F7F_7F7F_7F7F
      let isDelete = (difference &- 0x0101_0101_0101_0101) & ~difference
      // The lowest bit is exact. Higher ones may be set by a borrow.
      let found = (isBelowSpace | isDelete) & 0x8080_8080_8080_8080
      if found != 0 { return index &+ UInt64(littleEndian: found).trailingZeroBitCount / 8 }
      index &+= 8
    }
    while index < count {
      let byte = self[index]
      if byte < 0x20 || byte == 0x7F { return index }
      index &+= 1
    }
    return count
  }

  /// Whether there is no CR, LF or NUL.
  @inlinable package var isFieldValue: Bool {
    var index = firstControl(from: 0)
    while index < count {
      guard self[index] != 0, self[index] != 0x0A, self[index] != 0x0D else { return false }
      index = firstControl(from: index &+ 1)
    }
    return true
  }

  /// Whether the bytes have no control character except tabs.
  @inlinable package var isPlainValue: Bool {
    var index = firstControl(from: 0)
    while index < count {
      guard self[index] == 0x09 else { return false }
      index = firstControl(from: index &+ 1)
    }
    return true
  }

  /// Whether all bytes are visible ASCII characters or spaces.
  @inlinable package var isVisibleASCII: Bool {
    var index = 0
    while index &+ 8 <= count {
      let word = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self)
      // No sum carries over into the next byte unless a highest bit is set, which is not ASCII.
      let isVisible = (word &+ 0x6060_6060_6060_6060) & ~(word &+ 0x0101_0101_0101_0101) & ~word
      guard isVisible & 0x8080_8080_8080_8080 == 0x8080_8080_8080_8080 else { return false }
      index &+= 8
    }
    while index < count {
      guard self[index] &- 0x20 < 0x5F else { return false }
      index &+= 1
    }
    return true
  }

  /// Whether the bytes are UTF-8.
  package var isUTF8: Bool {
    do {
      _ = try UTF8Span(validating: self)
      return true
    } catch {
      return false
    }
  }

  /// Whether all bytes are ASCII.
  @inlinable package var isASCII: Bool {
    var index = 0
    var found: UInt64 = 0
    while index &+ 8 <= count {
      found |= unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self)
      index &+= 8
    }
    while index < count {
      found |= UInt64(self[index])
      index &+= 1
    }
    return found & 0x8080_8080_8080_8080 == 0
  }

  /// Whether the bytes equal others, ignoring the case of ASCII letters.
  @inlinable package func isEqualIgnoringCase(_ other: Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    return hasPrefixIgnoringCase(other)
  }

  /// Whether the bytes begin with others, ignoring the case of ASCII letters.
  @inlinable package func hasPrefixIgnoringCase(_ other: Span<UInt8>) -> Bool {
    guard count >= other.count else { return false }
    var index = 0
    // Most equal names have the same case.
    while index &+ 8 <= other.count {
      let word = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self)
      guard unsafe word == other.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self) else { break }
      index &+= 8
    }
    while index < other.count {
      let (left, right) = (self[index], other[index])
      if left != right {
        // Only letters differ in this bit alone.
        guard left ^ right == 0x20, (left | 0x20) &- 0x61 < 26 else { return false }
      }
      index &+= 1
    }
    return true
  }
}
