import Foundation

extension Benchmark {
    /// The process's peak memory during the subject's work, divided by the floor's.
    ///
    /// Each work runs once before it counts, so that what the first run leaves behind is there for
    /// both.
    public static func peakMemory(
        _ name: String,
        _ bar: Bar,
        subject: Work,
        floor: Work
    ) -> Benchmark {
        Benchmark(name: name, bar: bar) { _ in
            try await floor.body()
            try await subject.body()
            let floorPeak = try await peak(of: floor)
            let subjectPeak = try await peak(of: subject)
            return Figure(
                Double(subjectPeak) / Double(floorPeak),
                detail: "\(subject.name) \(subjectPeak / 1_024) MB, \(floor.name) "
                    + "\(floorPeak / 1_024) MB in all"
            )
        }
    }

    /// The highest resident size during a work, in kilobytes.
    private static func peak(of work: Work) async throws -> Int {
        // 5 resets the peak to the present size (proc(5), clear_refs).
        try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
        try await work.body()
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        let digits = line.filter(\.isNumber)
        guard let kilobytes = Int(digits) else { throw NoPeak() }
        return kilobytes
    }
}

/// The system does not say how much memory was used.
private struct NoPeak: Error {}
