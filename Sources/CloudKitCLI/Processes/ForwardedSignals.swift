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

/// The signals that are forwarded to a program that runs in place of this one.
enum ForwardedSignals {
    static let all: [UnixSignal] = [.sigterm, .sigint, .sighup, .sigquit, .sigusr1, .sigusr2]

    /// Forwards a signal, unless the terminal has already sent it to both.
    static func pass(_ signal: UnixSignal, to child: ChildProcess) {
        let isOfTerminal = signal == .sigint || signal == .sigquit
        if isOfTerminal, tcgetpgrp(STDIN_FILENO) == getpgrp() { return }
        child.send(signal.rawValue)
    }
}
