internal import CCarabiner
internal import CLaboratory
internal import Synchronization

/// Bytes lent to the plugin, each in pages of its own that report an over-read, a write, or a touch after their time.
///
/// A touch is reported and then allowed: one mistake must not hide the next. Pages are costly, so work in bulk is done with plain
/// memory.
@safe struct GuardedMemory {
  /// How many taken-back pages are kept to see late touches; the oldest go first.
  private static let maximumEnded = 1024
  /// Those of calls that are over, of all calls.
  private static let graves = Mutex<[UInt32]>([])
  /// Those that were taken back because a token was resumed.
  private static let resumed = Mutex<Set<UInt32>>([])

  /// Whether new bytes get pages of their own.
  var isGuarded = true
  private var lent: [UInt32] = []
  private var ended: [UInt32] = []
  private var plain: [UnsafeMutableRawPointer] = unsafe []
  /// What each region holds, for messages.
  private static let names = Mutex<[UInt32: String]>([:])

  /// Writable room for `count` bytes, zeroed; protect it with ``protect(_:)`` when it is filled.
  mutating func room(_ count: Int, alignment: Int = 1, named name: String) -> (memory: UnsafeMutableRawPointer, region: UInt32?) {
    // The bytes end at the guard page, so their beginning is aligned only if their number is.
    let rounded = (count + alignment - 1) / alignment * alignment
    var region: UInt32 = 0
    if isGuarded, let memory = unsafe CLaboratory_newRegion(rounded, &region) {
      lent.append(region)
      Self.names.withLock { $0[region] = name }
      return unsafe (memory, region)
    }
    let memory = UnsafeMutableRawPointer.allocate(byteCount: max(rounded, 1), alignment: 16)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: max(rounded, 1))
    unsafe plain.append(memory)
    return unsafe (memory, nil)
  }

  /// From now on the bytes may only be read.
  func protect(_ region: UInt32?) {
    if let region { CLaboratory_protectRegion(region) }
  }

  /// A view of a copy of these bytes.
  mutating func view(_ bytes: [UInt8], named name: String) -> crb_view {
    let (memory, region) = unsafe room(bytes.count, named: name)
    unsafe bytes.withUnsafeBytes { source in
      if let base = source.baseAddress { unsafe memory.copyMemory(from: base, byteCount: source.count) }
    }
    protect(region)
    return unsafe crb_view(ptr: memory.assumingMemoryBound(to: UInt8.self), len: bytes.count)
  }

  mutating func view(_ text: String, named name: String) -> crb_view { unsafe view(Array(text.utf8), named: name) }

  /// A C struct, filled and then protected.
  mutating func lend<Value>(_ value: Value, named name: String) -> UnsafePointer<Value> {
    let (memory, region) = unsafe room(MemoryLayout<Value>.size, alignment: MemoryLayout<Value>.alignment, named: name)
    let typed = unsafe memory.bindMemory(to: Value.self, capacity: 1)
    unsafe typed.initialize(to: value)
    protect(region)
    return unsafe UnsafePointer(typed)
  }

  /// Takes back all that was lent: guarded bytes can no longer be touched, plain ones are freed.
  ///
  /// - Parameter isResumed: Whether that is because the hook's token was resumed.
  mutating func takeBack(isResumed: Bool = false) {
    if isResumed { Self.resumed.withLock { $0.formUnion(lent) } }
    for region in lent {
      CLaboratory_endRegion(region)
      ended.append(region)
    }
    lent = []
    for index in unsafe plain.indices { unsafe plain[index].deallocate() }
    unsafe plain = unsafe []
    if ended.count > Self.maximumEnded { forget(ended.count - Self.maximumEnded / 2) }
  }

  /// Has no more to do with what was taken back; its pages go to the system after some time.
  mutating func forget() { forget(ended.count) }

  private mutating func forget(_ count: Int) {
    let old = Self.graves.withLock { graves -> ArraySlice<UInt32> in
      graves += ended[..<count]
      let surplus = graves.prefix(max(graves.count - Self.maximumEnded, 0))
      graves.removeFirst(surplus.count)
      return surplus
    }
    ended.removeFirst(count)
    for region in old {
      CLaboratory_removeRegion(region)
      Self.names.withLock { $0[region] = nil }
      Self.resumed.withLock { _ = $0.remove(region) }
    }
  }

  /// Whether a region was taken back by resume().
  static func wasResumed(_ region: UInt32) -> Bool { resumed.withLock { $0.contains(region) } }

  /// The touches that were caught since the last time.
  static func takeTouches() -> [CLaboratory_touch] {
    var touches = [CLaboratory_touch](repeating: CLaboratory_touch(), count: 64)
    let count = unsafe touches.withUnsafeMutableBufferPointer { unsafe CLaboratory_takeTouches($0.baseAddress, $0.count) }
    return Array(touches[..<count])
  }

  /// What a region holds.
  static func name(of region: UInt32) -> String {
    names.withLock { $0[region] } ?? (region == CLABORATORY_REMOVED ? "a view of an earlier call" : "a view")
  }

  init(isGuarded: Bool = true) { self.isGuarded = isGuarded }
}
