import CloudKitWire

/// The plan of a query: the index to walk, and the conditions to check on the way.
struct QueryPlan {
    /// The index to walk, as written in cursors.
    let choice: Int
    private let query: CompiledQuery
    let driver: QueryDriver
    /// The conditions that the index does not guarantee.
    let checks: [QueryCondition]
    /// `true` when the walk yields results in their final order, except among equal first sort keys.
    private(set) var isOrdered: Bool
    /// `true` when the walk yields results exactly in their final order.
    private(set) var isExactlyOrdered: Bool
    /// `true` when the walk goes from the last key to the first.
    let isDescending: Bool

    static let orderChoice = -1
    static let allChoice = -2

    /// The number of entries up to which an index is counted to find the best one.
    private static let countLimit = 1000

    /// The number of entries up to which the parts of an index are walked again for each page, if
    /// there is no order.
    ///
    /// Beyond that, the index of all records is walked, once for all pages.
    private static let unorderedLimit = 20_000

    /// Chooses the index that is likely to touch the fewest records.
    static func best(
        for query: CompiledQuery,
        in zones: [ZoneView],
        _ reader: any StorageReader
    ) throws -> QueryPlan {
        var best: (choice: Int, count: Int)?
        for (choice, condition) in query.conditions.enumerated() {
            guard let driver = QueryDriver(condition) else { continue }
            let limit = limit(of: query, driver)
            let count = try count(condition, in: zones, reader, limit: limit)
            if limit == unorderedLimit, count >= limit { continue }
            if count < best?.count ?? .max { best = (choice, count) }
        }
        // A walk in the order of the results ends with the page; any other has to visit all
        // entries.
        if query.orderDriver != nil, best?.count ?? .max >= countLimit {
            return QueryPlan(query, choice: orderChoice)
        }
        return QueryPlan(query, choice: best?.choice ?? allChoice)
    }

    /// Returns the number of entries up to which those of a condition are counted.
    private static func limit(of query: CompiledQuery, _ driver: QueryDriver) -> Int {
        query.sorts.isEmpty && !driver.hasOneKey ? unorderedLimit : countLimit
    }

    /// Returns the scans that are counted to choose an index for a query in one zone, each as it is
    /// counted first.
    static func counts(of query: CompiledQuery, _ home: ReferenceHome) -> [StorageNeeds.Scan] {
        query.conditions.flatMap { condition -> [StorageNeeds.Scan] in
            guard let general = QueryDriver(condition),
                let driver = QueryDriver(condition.resolved(in: home)),
                let range = driver.ranges.first
            else { return [] }
            return [
                StorageNeeds.Scan(
                    IndexScan(
                        zone: RowID(rawValue: 0),
                        index: driver.index,
                        lowerBound: range.lower,
                        upperBound: range.upper,
                        limit: limit(of: query, general)
                    )
                )
            ]
        }
    }

    /// Returns the plan for one zone.
    func resolved(in home: ReferenceHome) -> QueryPlan {
        var plan = QueryPlan(query.resolved(in: home), choice: choice)
        // All zones are walked alike, even if two references are equal in some of them.
        plan.isOrdered = isOrdered
        plan.isExactlyOrdered = isExactlyOrdered
        return plan
    }

    /// Creates the plan for a choice, which was made now or is from a cursor.
    init(_ query: CompiledQuery, choice: Int) {
        self.query = query
        var checks = query.conditions
        var driver: QueryDriver?
        if query.conditions.indices.contains(choice) {
            driver = QueryDriver(query.conditions[choice])
            if driver?.isExact == true { checks.remove(at: choice) }
        } else if choice == Self.orderChoice {
            driver = query.orderDriver
        }
        let chosen = driver ?? .all(query.type)
        self.choice = driver == nil ? Self.allChoice : choice
        self.driver = chosen
        self.checks = checks
        let sort = query.sorts.first
        // Without a sort, records come in an order that changes to them do not affect.
        let isBySort =
            sort.map {
                $0.centre == nil && $0.field == chosen.field && !chosen.isOnWords
                    && !chosen.repeats
            } ?? (chosen.field == nil || chosen.hasOneKey)
        isOrdered = isBySort
        isExactlyOrdered = isBySort && query.sorts.count <= 1
        isDescending = isBySort && sort?.isDescending == true
    }

    private static func count(
        _ condition: QueryCondition,
        in zones: [ZoneView],
        _ reader: any StorageReader,
        limit: Int
    ) throws -> Int {
        var count = 0
        for zone in zones {
            guard let driver = QueryDriver(condition.resolved(in: zone.home())) else { continue }
            for range in driver.ranges where count < limit {
                count += try reader.entryCount(
                    IndexScan(
                        zone: zone.zone.id,
                        index: driver.index,
                        lowerBound: range.lower,
                        upperBound: range.upper,
                        limit: limit - count
                    )
                )
            }
        }
        return count
    }
}
