#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(Darwin)
import Darwin
#endif

/// The system's metrics of this process, under the names that Prometheus's own libraries use.
enum ProcessMetrics {
    /// Sets the metrics; those that the system does not provide are left out.
    static func set(_ metrics: PrometheusMetrics) {
        #if os(Linux) || os(Android)
        if let pages = numbers("/proc/self/statm").dropFirst().first {
            let page = Double(sysconf(Int32(_SC_PAGESIZE)))
            metrics.setGauge("process_resident_memory_bytes", Double(pages) * page)
        }
        // A system without this folder has no such metric.
        if let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            metrics.setGauge("process_open_fds", Double(names.count))
        }
        if let start = startSeconds { metrics.setGauge("process_start_time_seconds", start) }
        #endif
    }

    #if os(Linux) || os(Android)
    /// The start of the process, from the machine's uptime and the clock ticks until the start.
    ///
    /// Only the process's own part of /proc is read because a service with `ProcSubset=pid` sees
    /// nothing else. The uptime leaves out time in which the machine was suspended.
    private static let startSeconds: Double? = {
        // The program's name, which may contain anything, is in parentheses.
        let own = text("/proc/self/stat")?.split(separator: ")").last.map(String.init)
        let ticks = own?.split(separator: " ").dropFirst(19).first.flatMap { Double($0) }
        guard let ticks else { return nil }
        let machine = ProcessInfo.processInfo.systemUptime
        let age = machine - ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
        return Date().timeIntervalSince1970 - age
    }()

    private static func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func numbers(_ path: String) -> [Int] {
        (text(path) ?? "").split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
    }
    #endif
}
