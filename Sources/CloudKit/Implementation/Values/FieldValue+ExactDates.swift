import CoreLocation
import Foundation

// Dates keep all their bits between this package's client and server; other services store whole
// milliseconds.
extension FieldValue {
    /// The contained dates in their order, as seconds since 2001; nil if milliseconds are exact.
    var exactDates: [Double]? {
        let dates = dates
        guard dates.contains(where: { !$0.isWholeMilliseconds }) else { return nil }
        return dates.map(\.timeIntervalSinceReferenceDate)
    }

    /// `true` when a contained date is finer than a millisecond.
    var hasFinerDate: Bool { dates.contains { !$0.isWholeMilliseconds } }

    private var dates: [Date] {
        switch self {
        case .date(let date): [date]
        case .location(let location): [location.timestamp]
        case .list(let values): values.flatMap(\.dates)
        default: []
        }
    }

    /// Returns the value with its dates as they were before they were cut to milliseconds.
    ///
    /// A date that another client has since changed keeps that client's value.
    func refined(by exactDates: [Double]) -> FieldValue {
        var rest = exactDates[...]
        return refined(&rest)
    }

    private func refined(_ exactDates: inout ArraySlice<Double>) -> FieldValue {
        switch self {
        case .date(let date): return .date(date.refined(by: exactDates.popFirst()))
        case .location(let location):
            return .location(location.at(location.timestamp.refined(by: exactDates.popFirst())))
        case .list(let values):
            var refined: [FieldValue] = []
            refined.reserveCapacity(values.count)
            for value in values { refined.append(value.refined(&exactDates)) }
            return .list(refined)
        default: return self
        }
    }
}

extension Date {
    fileprivate var isWholeMilliseconds: Bool {
        // A date outside the service's range is refused when it is sent.
        guard let milliseconds = try? milliseconds() else { return true }
        return Date(milliseconds: milliseconds) == self
    }

    fileprivate func refined(by seconds: Double?) -> Date {
        guard let seconds else { return self }
        let exact = Date(timeIntervalSinceReferenceDate: seconds)
        // As above: outside the range, there is nothing to refine.
        let isSame = (try? exact.milliseconds()) == (try? milliseconds())
        return isSame ? exact : self
    }
}

extension CLLocation {
    fileprivate func at(_ timestamp: Date) -> CLLocation {
        CLLocation(
            coordinate: coordinate,
            altitude: altitude,
            horizontalAccuracy: horizontalAccuracy,
            verticalAccuracy: verticalAccuracy,
            course: course,
            speed: speed,
            timestamp: timestamp
        )
    }
}
