import Foundation

extension Benchmark {
    /// Returns the process's peak memory during the subject's work, divided by the floor's, as if the
    /// process had been empty before.
    ///
    /// The memory of the set-up is subtracted, because it would hide the memory of the work itself.
    /// Each work runs once before it counts, so that memory that the allocator cannot release is
    /// present for both.
    public static func peakMemory(
        _ name: String,
        _ bar: Bar,
        works: @escaping Works
    ) -> Benchmark {
        Benchmark(name: name, bar: bar) { _ in
            let (subject, floor) = try await works()
            giveBackFreeMemory()
            let setUp = try kilobytes("VmRSS:") - sizeAtStart
            try await floor.body()
            try await subject.body()
            let floorPeak = try await peak(of: floor) - setUp
            let subjectPeak = try await peak(of: subject) - setUp
            return Figure(
                Double(subjectPeak) / Double(floorPeak),
                detail: "\(subject.name) \(subjectPeak / 1_024) MB, \(floor.name) "
                    + "\(floorPeak / 1_024) MB, of which \(sizeAtStart / 1_024) MB when the process "
                    + "began; the set-up holds \(setUp / 1_024) MB"
            )
        }
    }

    /// Returns the peak memory, in megabytes, that a work needs beyond what the process holds.
    public static func peakMegabytes(of work: Work) async throws -> Double {
        giveBackFreeMemory()
        let held = try kilobytes("VmRSS:")
        return Double(try await peak(of: work) - held) / 1024
    }

    /// The resident size, in kilobytes, of the process when the first runner was created.
    static let sizeAtStart = (try? kilobytes("VmRSS:")) ?? 0

    /// Returns the highest resident size during a work, in kilobytes.
    private static func peak(of work: Work) async throws -> Int {
        giveBackFreeMemory()
        // 5 resets the peak to the present size (proc(5), clear_refs).
        try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
        try await work.body()
        return try kilobytes("VmHWM:")
    }

    /// Calls the C library's `malloc_trim`, whose header its Swift module leaves out.
    private static func giveBackFreeMemory() {
        typealias Trim = @convention(c) (Int) -> Int32
        guard let symbol = dlsym(nil, "malloc_trim") else { return }
        _ = unsafeBitCast(symbol, to: Trim.self)(0)
    }

    private static func kilobytes(_ field: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix(field) } ?? ""
        guard let kilobytes = Int(line.filter(\.isNumber)) else { throw NoPeak() }
        return kilobytes
    }
}

/// An error that indicates that the system does not report the memory used.
private struct NoPeak: Error {}
