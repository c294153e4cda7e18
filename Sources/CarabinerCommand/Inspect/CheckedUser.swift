internal import CarabinerFiles
internal import Glibc

/// The user a gateway runs as, in whose place a check looks at files.
///
/// What is safe depends on the user: a plugin of the gateway's user is safe for that user and not for root. The process becomes this
/// user for good, so that every file and every child process is looked at as the gateway would.
enum CheckedUser {
  /// Takes the place of a user, by name or number.
  ///
  /// - Throws: A usage error if there is none of the name, or the process may not.
  static func become(_ name: String) throws {
    guard let user = unsafe getpwnam(name) ?? uid_t(name).flatMap({ unsafe getpwuid($0) }) else {
      throw usageError("there is no user \(name); --user takes a name or a number of a user of this machine")
    }
    let (id, group) = unsafe (user.pointee.pw_uid, user.pointee.pw_gid)
    guard id != geteuid() else { return }
    guard geteuid() == 0 else {
      throw usageError("only root can check for another user, and this is \(TrustedPath.userName); run it as \(name)")
    }
    guard unsafe initgroups(user.pointee.pw_name, group) == 0, setgid(group) == 0, setuid(id) == 0 else {
      throw usageError(unsafe "this process cannot take the place of \(name): \(String(cString: strerror(errno)))")
    }
  }
}
