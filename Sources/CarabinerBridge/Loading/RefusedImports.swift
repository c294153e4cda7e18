/// The functions of the C library that a worker refuses, and their use by a plugin.
package enum RefusedImports {
  /// Functions whose purpose is a connection, a process, or a change of files. Those that also do what a worker permits are not
  /// listed, such as `open`.
  private static let names: Set<String> = [
    "socket", "socketpair", "connect", "bind", "listen", "accept", "accept4", "getaddrinfo", "gethostbyname",
    "fork", "vfork", "execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve", "posix_spawn",
    "posix_spawnp",
    "system", "popen", "daemon", "creat", "creat64", "mkdir", "mkdirat", "mkstemp", "mkstemp64", "mkdtemp", "tmpfile",
    "tmpfile64",
    "unlink", "unlinkat", "remove", "rename", "renameat", "link", "symlink", "truncate", "truncate64", "chmod", "chown", "mkfifo",
    "shm_open", "memfd_create", "ptrace", "process_vm_readv", "process_vm_writev", "setuid", "setgid", "mount", "chroot",
    "unshare",
  ]

  /// The refused functions that a plugin's file imports, sorted. The plugin may never call them.
  ///
  /// - Throws: ``HostError`` if the file cannot be read or is not a shared object.
  package static func of(path: String) throws(HostError) -> [String] {
    let file = try PluginFile(opening: path)
    do throws(ELFImage.Fault) {
      return try ELFImage(file.bytes).imports().intersection(names).sorted()
    } catch {
      throw HostError(error, path: path)
    }
  }
}
