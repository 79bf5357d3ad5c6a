import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(Darwin)
import Darwin
#endif

/// The resources that the process uses.
struct ProcessMetrics: CustomStringConvertible {
    /// The private memory, without the pages of programs that were read so far.
    let megabytes: Double
    let threads: Int
    let descriptors: Int

    /// Reads the values; returns nil if there is no `/proc`.
    init?() {
        let files = FileManager.default
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let threads = try? files.contentsOfDirectory(atPath: "/proc/self/task").count,
            let descriptors = try? files.contentsOfDirectory(atPath: "/proc/self/fd").count
        else { return nil }
        let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") } ?? ""
        megabytes = (Double(line.filter(\.isNumber)) ?? 0) / 1024
        self.threads = threads
        self.descriptors = descriptors
    }

    /// Stops Swift Testing from recording where each error of this process was thrown.
    ///
    /// The records take some 100 bytes for each request, which would be attributed to the client.
    /// Swift's runtime calls the functions to which two of its variables point.
    static func forgetThrownErrors() {
        let runtime = dlopen(nil, RTLD_NOW)
        for name in ["_swift_willThrow", "_swift_willThrowTypedImpl"] {
            dlsym(runtime, name)?.storeBytes(of: 0, as: UInt.self)
        }
    }

    var description: String {
        String(format: "%.1f MB, %d threads, %d descriptors", megabytes, threads, descriptors)
    }
}
