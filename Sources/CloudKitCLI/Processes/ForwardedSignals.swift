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

/// The signals that a program is told of when another one is asked in its place.
enum ForwardedSignals {
    static let all: [UnixSignal] = [.sigterm, .sigint, .sighup, .sigquit, .sigusr1, .sigusr2]

    /// Passes a signal on, unless the terminal has sent it to both already.
    static func pass(_ signal: UnixSignal, to child: ChildProcess) {
        let isOfTerminal = signal == .sigint || signal == .sigquit
        if isOfTerminal, tcgetpgrp(STDIN_FILENO) == getpgrp() { return }
        child.send(signal.rawValue)
    }
}
