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
    /// Selects the signals that stop the server, depending on the meaning of SIGHUP.
    ///
    /// In a terminal SIGHUP means that the terminal was closed, and stops the server like Ctrl-C.
    /// For a daemon it means new settings; the server reads them only at its start, and continues.
    ///
    /// - Returns: The signals that stop the server.
    static func ofServer() -> [UnixSignal] {
        if isatty(STDIN_FILENO) == 1 { return [.sigterm, .sigint, .sighup] }
        signal(SIGHUP, SIG_IGN)
        return [.sigterm, .sigint]
    }
}
