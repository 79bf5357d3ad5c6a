import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Walks an index and keeps the results of one page.
struct QueryRun {
    /// A record that satisfies the query, with its position in the order.
    struct Result {
        var keys: [Data]
        var record: StoredRecord
        var zone: ZoneView
    }

    let query: CompiledQuery
    /// The plan; during a walk, the one for the current zone.
    private(set) var plan: QueryPlan
    let reader: any StorageReader
    /// The part of each zone that the caller sees.
    let sights: [RowID<StoredZone>: RecordSight]
    let limit: Int
    let start: QueryCursor?
    /// The first results after the start, in order; one more than the page has room for.
    private(set) var results: [Result] = []
    /// The position at which the walk was interrupted; nil if it was completed.
    private(set) var brokenOff: QueryCursor?
    /// The caller, because references can refer to users.
    private let caller: String?
    private var home = ReferenceHome(zoneName: "", owner: "")
    /// The last visited entry in the current zone.
    private var previous: IndexEntry?
    private let work: RequestWork

    init(
        query: CompiledQuery,
        plan: QueryPlan,
        reader: any StorageReader,
        sights: [RowID<StoredZone>: RecordSight],
        limit: Int,
        start: QueryCursor?,
        work: RequestWork
    ) {
        self.query = query
        self.plan = plan
        self.reader = reader
        self.sights = sights
        caller = sights.values.first?.permissions.caller.user?.recordName
        self.limit = limit
        self.start = start
        self.work = work
    }

    /// Walks the zones.
    mutating func run(in zones: [ZoneView]) throws {
        let general = plan
        for zone in zones {
            home = zone.home(for: caller)
            plan = general.resolved(in: home)
            try walk(zone)
        }
        plan = general
    }

    /// The results of the page, and the position of the next page; nil if this is the last one.
    var page: (results: ArraySlice<Result>, next: QueryCursor?) {
        let page = results.prefix(limit)
        if results.count > limit, let last = page.last { return (page, cursor(last)) }
        return (page, brokenOff)
    }

    private func cursor(_ result: Result) -> QueryCursor {
        QueryCursor(
            driver: plan.choice,
            keys: result.keys,
            record: result.record.id.rawValue
        )
    }

    /// The number of entries that are read at once where a page does not say how many it takes.
    private static let portion = 500

    private mutating func walk(_ zone: ZoneView) throws {
        previous = nil
        let ranges = plan.isDescending ? plan.driver.ranges.reversed() : plan.driver.ranges
        for range in ranges {
            var scan = IndexScan(
                zone: zone.zone.id,
                index: plan.driver.index,
                lowerBound: range.lower,
                upperBound: range.upper,
                isDescending: plan.isDescending,
                // A walk that has no order ends with its last entry, and not with the page.
                limit: plan.isOrdered ? limit + 1 : Self.portion
            )
            skipToStart(&scan)
            while true {
                guard let (count, last) = try visit(scan, in: zone) else { return }
                guard count == scan.limit, let last else { break }
                if isBeyondPage(last) { return }
                // The first portion fills most pages; where it does not, larger ones follow.
                scan.after = last
                scan.limit = Self.portion
            }
        }
    }

    /// Visits the entries of a scan.
    ///
    /// - Parameters:
    ///   - scan: The scan.
    ///   - zone: The zone.
    /// - Returns: The number of entries, and the last one; nil if the walk through the zone is over.
    /// - Throws: `RequestError` or `StorageError`.
    private mutating func visit(
        _ scan: IndexScan,
        in zone: ZoneView
    ) throws -> (count: Int, last: IndexEntry?)? {
        let reader = reader
        guard plan.isOrdered else {
            // Most records of a walk without an order are on other pages.
            try reader.prepare { _ in .scan(scan) }
            let entries = try reader.entries(scan)
            for entry in entries {
                let goesOn = try visit(entry, in: zone) {
                    try reader.record(entry.record, in: zone.zone.id)
                }
                guard goesOn else { return nil }
            }
            return (entries.count, entries.last)
        }
        var (count, last, goesOn) = (0, nil as IndexEntry?, true)
        try reader.forEachRecord(in: scan) { entry, record in
            (count, last) = (count + 1, entry)
            goesOn = try visit(entry, in: zone) { record }
            return goesOn
        }
        return goesOn ? (count, last) : nil
    }

    /// Starts a scan where the previous page ended, as far as the walk is ordered.
    private func skipToStart(_ scan: inout IndexScan) {
        guard plan.isOrdered, let start, let whole = start.keys.first else { return }
        let key = IndexKey.shortened(whole)
        if plan.isExactlyOrdered, !IndexKey.isShortened(key) {
            scan.after = IndexEntry(
                index: scan.index,
                key: key,
                record: RowID(rawValue: start.record)
            )
        } else if plan.isDescending {
            let end = start.isBehindKey(of: query) ? key : IndexKey.successor(of: key)
            if scan.upperBound.map({ end.lexicographicallyPrecedes($0) }) ?? true {
                scan.upperBound = end
            }
        } else {
            let first = start.isBehindKey(of: query) ? IndexKey.successor(of: key) : key
            if scan.lowerBound.lexicographicallyPrecedes(first) { scan.lowerBound = first }
        }
    }

    /// Visits an entry; returns whether the walk through the zone continues.
    private mutating func visit(
        _ entry: IndexEntry,
        in zone: ZoneView,
        _ record: () throws -> StoredRecord?
    ) throws -> Bool {
        if isBeyondPage(entry) { return false }
        let isSpent = try work.look()
        if isOutsidePage(entry.record) { return true }
        if isSpent, results.count <= limit, breakOff(before: entry) { return false }
        previous = entry
        guard let record = try record(), !record.isDeleted,
            let result = try result(record, entry, zone)
        else { return true }
        insert(result)
        return true
    }

    /// Returns whether the page is full, and the walk at its end or behind it.
    private func isBeyondPage(_ entry: IndexEntry) -> Bool {
        guard plan.isOrdered, results.count > limit, let last = results.last else { return false }
        let lastKey = IndexKey.shortened(last.keys[0])
        let beyond = compare(entry.key, lastKey, isDescending: plan.isDescending)
        if beyond == .orderedDescending { return true }
        return plan.isExactlyOrdered && beyond == .orderedSame
            && !IndexKey.isShortened(entry.key) && !comesFirst(entry.record, last.record.id)
    }

    /// Returns whether a record cannot be on this page, if records are ordered by their numbers.
    private func isOutsidePage(_ record: RowID<StoredRecord>) -> Bool {
        guard !plan.isOrdered, query.sorts.isEmpty else { return false }
        if let start, record.rawValue <= start.record { return true }
        return results.count > limit && results.last.map { record >= $0.record.id } ?? false
    }

    /// Ends the page after the last entry, if the walk is ordered and has made progress; with
    /// several zones, the walk with the least progress counts.
    private mutating func breakOff(before entry: IndexEntry) -> Bool {
        // A shortened key is not a position because others have the same prefix.
        guard plan.isOrdered, let previous, !IndexKey.isShortened(previous.key) else {
            return false
        }
        var place = QueryCursor(
            driver: plan.choice,
            keys: [previous.key],
            record: previous.record.rawValue
        )
        if !plan.isExactlyOrdered {
            // Results with the same first key have their own order.
            guard entry.key != previous.key else { return false }
            // The position is behind all results with this key.
            place.record = plan.isDescending ? .min : .max
        }
        end(at: place)
        return true
    }

    private mutating func end(at place: QueryCursor) {
        if let brokenOff, !precedes(place.keys, place.record, brokenOff.keys, brokenOff.record) {
            return
        }
        brokenOff = place
        // Results after the position will be on the next page.
        results = results.filter {
            !precedes(place.keys, place.record, $0.keys, $0.record.id.rawValue)
        }
    }

    private func result(
        _ record: StoredRecord,
        _ entry: IndexEntry,
        _ zone: ZoneView
    ) throws -> Result? {
        guard try sights[zone.zone.id]?.shows(record, reader) == true else { return nil }
        // A damaged record, which may or may not match, is returned as an error.
        if record.isDamaged { return damaged(record, entry, zone) }
        let isKey = plan.isExactlyOrdered && !IndexKey.isShortened(entry.key)
        let needsFields = !plan.checks.isEmpty || plan.driver.repeats || !isKey
        let fields = needsFields ? try RecordFields(stored: record.fields) : RecordFields()
        for check in plan.checks {
            guard check.matches(check.field.value(in: record, fields, home)) else { return nil }
        }
        if plan.driver.repeats {
            let keys = plan.driver.keys(of: record, fields, home)
            guard plan.driver.isFirst(entry.key, keys, isDescending: plan.isDescending) else {
                return nil
            }
        }
        let keys =
            isKey || plan.isExactlyOrdered && query.sorts.isEmpty
            ? [entry.key] : query.sorts.map { key($0, record, fields) }
        return isInPage(keys, record) ? Result(keys: keys, record: record, zone: zone) : nil
    }

    /// Returns whether a position in the order is after the start, and not after an early end of
    /// the page.
    private func isInPage(_ keys: [Data], _ record: StoredRecord) -> Bool {
        if let start, !precedes(start.keys, start.record, keys, record.id.rawValue) { return false }
        guard let brokenOff else { return true }
        return !precedes(brokenOff.keys, brokenOff.record, keys, record.id.rawValue)
    }

    private func damaged(
        _ record: StoredRecord,
        _ entry: IndexEntry,
        _ zone: ZoneView
    ) -> Result? {
        var keys = query.sorts.map { _ in IndexKey.missing }
        if plan.isExactlyOrdered {
            keys = [entry.key]
        } else if plan.isOrdered, !keys.isEmpty {
            keys[0] = entry.key
        }
        guard isInPage(keys, record), !results.contains(where: { $0.record.id == record.id }) else {
            return nil
        }
        return Result(keys: keys, record: record, zone: zone)
    }

    private func key(
        _ sort: CompiledQuery.Sort,
        _ record: StoredRecord,
        _ fields: RecordFields
    ) -> Data {
        guard let value = sort.field.value(in: record, fields, home) else {
            return IndexKey.missing
        }
        // Keys in the index are shortened; the full values decide.
        guard let centre = sort.centre else { return IndexKey.whole(value) ?? IndexKey.missing }
        return IndexKey.of(.double(value.distance(to: centre))) ?? IndexKey.missing
    }

    /// Inserts a result at its position and removes those that exceed the page.
    private mutating func insert(_ result: Result) {
        var low = 0
        var high = results.count
        // Most walks yield the results in their order.
        if let last = results.last,
            precedes(last.keys, last.record.id.rawValue, result.keys, result.record.id.rawValue)
        {
            low = high
        }
        while low < high {
            let middle = (low + high) / 2
            let other = results[middle]
            if precedes(
                other.keys,
                other.record.id.rawValue,
                result.keys,
                result.record.id.rawValue
            ) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        results.insert(result, at: low)
        if results.count > limit + 1 { results.removeLast() }
    }

    // MARK: Order

    private func precedes(
        _ first: [Data],
        _ firstRecord: Int64,
        _ second: [Data],
        _ secondRecord: Int64
    ) -> Bool {
        for (index, (a, b)) in zip(first, second).enumerated() {
            let isDescending =
                query.sorts.indices.contains(index)
                ? query.sorts[index].isDescending : plan.isDescending
            switch compare(a, b, isDescending: isDescending) {
            case .orderedAscending: return true
            case .orderedDescending: return false
            case .orderedSame: continue
            }
        }
        return plan.isDescending ? firstRecord > secondRecord : firstRecord < secondRecord
    }

    private func comesFirst(_ first: RowID<StoredRecord>, _ second: RowID<StoredRecord>) -> Bool {
        plan.isDescending ? first > second : first < second
    }

    private func compare(_ first: Data, _ second: Data, isDescending: Bool) -> ComparisonResult {
        if first == second { return .orderedSame }
        let isBefore = first.lexicographicallyPrecedes(second) != isDescending
        return isBefore ? .orderedAscending : .orderedDescending
    }
}
