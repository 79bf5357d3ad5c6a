import Foundation

extension Benchmark {
    /// The process's peak memory during the subject's work, divided by the floor's, as if nothing had
    /// been in the process before.
    ///
    /// Each work runs once before it counts, so that caches are filled for both. What the allocator
    /// keeps of earlier work is given back first, and what the set-up holds is taken off: both would
    /// hide what the work itself needs.
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
                Double(sizeAtStart + subjectPeak.added) / Double(sizeAtStart + floorPeak.added),
                detail: "\(subject.name) \(subjectPeak), \(floor.name) \(floorPeak); "
                    + "\(sizeAtStart / 1_024) MB when the process began"
            )
        }
    }

    /// The resident size of the process when a runner was made first, in kilobytes.
    static let sizeAtStart = (try? kilobytes("VmRSS:")) ?? 0

    /// The resident size before a work, and the highest during it.
    private static func peak(of work: Work) async throws -> Peak {
        giveBackFreeMemory()
        // 5 resets the peak to the present size (proc(5), clear_refs).
        try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
        let before = try kilobytes("VmRSS:")
        try await work.body()
        return Peak(before: before, highest: try kilobytes("VmHWM:"))
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

/// How much memory a work took, in kilobytes.
private struct Peak: CustomStringConvertible {
    let before: Int
    let highest: Int

    var added: Int { highest - before }

    var description: String {
        "\(Double(added * 10 / 1_024) / 10) MB more than \(before / 1_024) MB"
    }
}

/// The system does not say how much memory was used.
private struct NoPeak: Error {}
