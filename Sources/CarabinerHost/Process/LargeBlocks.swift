internal import CLinux
internal import Glibc

/// Makes a server process return large freed memory blocks to the system.
package enum LargeBlocks {
  /// The size from which a block is returned, in bytes. The page faults of a new block of this size cost less than parsing a response
  /// that fills it.
  static let threshold: Int32 = 1 << 20
  /// The number of free bytes at the end of the heap above which they are returned. With a fixed `threshold`, the default of the C
  /// library is 128 KiB, which costs system calls in many requests.
  static let trimThreshold: Int32 = 8 << 20

  /// Makes `free` return large blocks to the system.
  ///
  /// By default, the C library raises its threshold to the largest block that was freed, up to 32 MiB. Freed buffers of large responses
  /// then stay in the process, and take several times `maximum-body`. Settings of the environment have priority.
  package static func returnToSystem() {
    guard unsafe getenv("MALLOC_MMAP_THRESHOLD_") == nil else { return }
    if let tunables = unsafe getenv("GLIBC_TUNABLES"), unsafe String(cString: tunables).contains("mmap_threshold") { return }
    _ = mallopt(M_MMAP_THRESHOLD, threshold)
    _ = mallopt(M_TRIM_THRESHOLD, trimThreshold)
  }
}
