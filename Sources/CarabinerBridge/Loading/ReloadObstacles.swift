/// Properties of a plugin's file that limit how often one process can load changed versions of it.
///
/// A library stays mapped for as long as its process lives.
package struct ReloadObstacles: Equatable {
  /// Whether its thread-local variables have the static model (DF_STATIC_TLS), for which a process has little room.
  package let needsStaticThreadMemory: Bool
  /// A symbol that it shares with all libraries that define it (STB_GNU_UNIQUE); nil if there is none.
  package let uniqueSymbol: String?

  init(needsStaticThreadMemory: Bool = false, uniqueSymbol: String? = nil) {
    (self.needsStaticThreadMemory, self.uniqueSymbol) = (needsStaticThreadMemory, uniqueSymbol)
  }

  /// The remedy for ``needsStaticThreadMemory``.
  package static let threadMemoryAdvice =
    "compile everything in it with -fPIC and without -ftls-model=initial-exec"
  /// The remedy for ``uniqueSymbol``.
  package static let uniqueSymbolAdvice = "compile it with -fno-gnu-unique -fvisibility=hidden -fvisibility-inlines-hidden"

  /// Reads an image. A damaged part of it counts as no obstacle.
  package init(of image: ELFImage) {
    let flags = (try? image.dynamicEntries())?.last { $0.tag == 30 }?.value ?? 0
    self.init(needsStaticThreadMemory: flags & 16 != 0, uniqueSymbol: try? image.uniqueSymbol())
  }

  /// - Throws: ``HostError`` if the file cannot be read or is not a shared object.
  package init(path: String) throws(HostError) {
    let file = try PluginFile(opening: path)
    do throws(ELFImage.Fault) {
      self.init(of: try ELFImage(file.bytes))
    } catch {
      throw HostError(error, path: path)
    }
  }
}
