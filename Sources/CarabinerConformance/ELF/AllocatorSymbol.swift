/// The names of functions that allocate and free memory.
enum AllocatorSymbol {
  private static let names: Set<String> = [
    "malloc", "calloc", "realloc", "reallocarray", "free", "cfree", "memalign", "aligned_alloc", "posix_memalign", "valloc",
    "pvalloc",
    "malloc_usable_size", "strdup", "strndup", "sbrk", "brk", "mmap", "munmap", "mremap", "__libc_malloc", "__libc_free",
    "__malloc_hook", "__free_hook",
  ]
  /// The operators new and delete of C++, in all overloads.
  private static let prefixes = ["_Znw", "_Zna", "_Zdl", "_Zda"]

  /// Whether a symbol is one of them.
  static func contains(_ name: String) -> Bool { names.contains(name) || prefixes.contains { name.hasPrefix($0) } }
}
