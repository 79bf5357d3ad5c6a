import ArgumentParser
import Foundation
import UnixSignals

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(Darwin)
import Darwin
#endif

/// A program that runs in place of this one: with its input, its output and its process group.
///
/// Foundation's `Process` creates a new process group for a program, in which it cannot read from
/// the terminal.
struct ChildProcess: Sendable {
    private let identifier: pid_t

    /// Starts a program, which is looked up as in a shell.
    ///
    /// - Throws: `ExitCode` 127 when there is no such program and 126 when it cannot be run, as in
    ///   shells, after printing a message.
    static func start(
        _ command: [String],
        environment: [String: String]
    ) throws -> ChildProcess {
        #if canImport(Darwin)
        // On Darwin this is a pointer that the next call initializes.
        var attributes: posix_spawnattr_t?
        #else
        var attributes = posix_spawnattr_t()
        #endif
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The program must not inherit this process's ignored or blocked signals.
        var defaults = sigset_t()
        sigemptyset(&defaults)
        for signal in ForwardedSignals.all + [.sigpipe] { sigaddset(&defaults, signal.rawValue) }
        var mask = sigset_t()
        sigemptyset(&mask)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setsigmask(&attributes, &mask)
        let flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] =
            environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pointer in arguments + variables { free(pointer) } }
        var identifier: pid_t = 0
        let error = posix_spawnp(
            &identifier,
            command[0],
            nil,
            &attributes,
            &arguments,
            &variables
        )
        guard error == 0 else {
            Console.say("cloudkit: \(command[0]): \(String(cString: strerror(error)))")
            throw ExitCode(error == ENOENT ? 127 : 126)
        }
        return ChildProcess(identifier: identifier)
    }

    /// Sends a signal; has no effect after the end.
    func send(_ signal: Int32) { kill(identifier, signal) }

    /// Waits for the end, on a separate thread.
    ///
    /// - Returns: The exit status, or 128 and the number of the signal that ended it.
    func end() async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var status: Int32 = 0
                while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
                let signal = status & 0x7F
                continuation.resume(returning: signal == 0 ? status >> 8 & 0xFF : 128 + signal)
            }
        }
    }
}
