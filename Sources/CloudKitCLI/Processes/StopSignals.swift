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

/// The signals that stop a server.
enum StopSignals {
    /// Decides what SIGHUP means to the server.
    ///
    /// In a terminal it says that the terminal is gone, and stops the server as Ctrl-C does. To a daemon
    /// it says that there are new settings; the server reads them at its start only, and goes on.
    ///
    /// - Returns: The signals that stop the server.
    static func ofServer() -> [UnixSignal] {
        if isatty(STDIN_FILENO) == 1 { return [.sigterm, .sigint, .sighup] }
        signal(SIGHUP, SIG_IGN)
        return [.sigterm, .sigint]
    }
}
