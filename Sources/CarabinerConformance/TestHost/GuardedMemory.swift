internal import CCarabiner
internal import CTestHost
internal import Synchronization

/// Bytes lent to the plugin, each in its own pages, which report a read beyond the end, a write, or a late access.
///
/// An access is reported and then allowed, so that one fault does not hide the next. Pages are slow, so checks with many calls use plain
/// memory.
@safe struct GuardedMemory {
  /// How many ended pages are kept to find late accesses; the oldest are freed first.
  private static let maximumEnded = 1024
  /// The ended regions of all completed calls.
  private static let graves = Mutex<[UInt32]>([])
  /// The regions that ended with resume().
  private static let resumed = Mutex<Set<UInt32>>([])

  /// The name of memory that lives as long as its call.
  static let scratchName = "scratch memory"

  /// Whether new bytes get their own pages.
  var isGuarded = true
  private var lent: [UInt32] = []
  private var ended: [UInt32] = []
  private var plain: [UnsafeMutableRawPointer] = unsafe []
  /// The addresses of the lent bytes.
  private var ranges: [Range<UInt>] = []
  /// The names of regions for messages.
  private static let names = Mutex<[UInt32: String]>([:])

  /// Writable memory of `count` zeroed bytes. Call ``protect(_:)`` after writing to it.
  mutating func room(_ count: Int, alignment: Int = 1, named name: String) -> (memory: UnsafeMutableRawPointer, region: UInt32?) {
    // The bytes end at the guard page, so their start is aligned only if their count is.
    let rounded = (count + alignment - 1) / alignment * alignment
    var region: UInt32 = 0
    if isGuarded, let memory = unsafe CTestHost_newRegion(rounded, &region) {
      lent.append(region)
      ranges.append(UInt(bitPattern: memory)..<(UInt(bitPattern: memory) + UInt(rounded)))
      Self.names.withLock { $0[region] = name }
      return unsafe (memory, region)
    }
    let memory = UnsafeMutableRawPointer.allocate(byteCount: max(rounded, 1), alignment: 16)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: max(rounded, 1))
    unsafe plain.append(memory)
    ranges.append(UInt(bitPattern: memory)..<(UInt(bitPattern: memory) + UInt(rounded)))
    return unsafe (memory, nil)
  }

  /// Whether an address is in lent bytes.
  func holds(_ address: UnsafeRawPointer) -> Bool { ranges.contains { $0.contains(UInt(bitPattern: address)) } }

  /// Makes the bytes read-only.
  func protect(_ region: UInt32?) {
    if let region { CTestHost_protectRegion(region) }
  }

  /// Makes the first read of the bytes of an event call ``FirstRead/happens()``. The event itself was lent last, so it is left out.
  func arm() {
    for region in lent.dropLast() { CTestHost_armRegion(region) { FirstRead.happens() } }
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

  /// Ends all lent bytes: guarded bytes become inaccessible, plain bytes are freed.
  ///
  /// - Parameter isResumed: Whether that is because the hook's token was resumed.
  mutating func takeBack(isResumed: Bool = false) {
    if isResumed { Self.resumed.withLock { $0.formUnion(lent) } }
    for region in lent {
      CTestHost_endRegion(region)
      ended.append(region)
    }
    lent = []
    ranges = []
    for index in unsafe plain.indices { unsafe plain[index].deallocate() }
    unsafe plain = unsafe []
    if ended.count > Self.maximumEnded { forget(ended.count - Self.maximumEnded / 2) }
  }

  /// Releases the ended regions. Their pages are freed later.
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
      CTestHost_removeRegion(region)
      Self.names.withLock { $0[region] = nil }
      Self.resumed.withLock { _ = $0.remove(region) }
    }
  }

  /// Whether a region ended with resume().
  static func wasResumed(_ region: UInt32) -> Bool { resumed.withLock { $0.contains(region) } }

  /// The accesses that were caught since the last call.
  static func takeTouches() -> [CTestHost_touch] {
    var touches = [CTestHost_touch](repeating: CTestHost_touch(), count: 64)
    let count = unsafe touches.withUnsafeMutableBufferPointer { unsafe CTestHost_takeTouches($0.baseAddress, $0.count) }
    return Array(touches[..<count])
  }

  /// The name of a region.
  static func name(of region: UInt32) -> String {
    names.withLock { $0[region] } ?? (region == CTESTHOST_REMOVED ? "a view of an earlier call" : "a view")
  }

  init(isGuarded: Bool = true) { self.isGuarded = isGuarded }
}
