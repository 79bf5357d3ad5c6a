import CloudKitWire

/// How a query is answered: which index is walked, and what is checked on the way.
struct QueryPlan {
    /// Which index is walked, as the cursor writes it.
    let choice: Int
    let driver: QueryDriver
    /// The conditions that the index does not settle.
    let checks: [QueryCondition]
    /// Whether the walk yields results in their final order, except among equal first sort keys.
    let isOrdered: Bool
    /// Whether the walk yields results exactly in their final order.
    let isExactlyOrdered: Bool
    /// Whether the walk goes from the last key to the first.
    let isDescending: Bool

    static let orderChoice = -1
    static let allChoice = -2

    /// Entries up to which an index is counted to find the best one.
    private static let countLimit = 1000

    /// Chooses the index that is likely to touch the fewest records.
    static func best(
        for query: CompiledQuery,
        in zones: [ZoneView],
        _ reader: any StorageReader
    ) throws -> QueryPlan {
        var best: (choice: Int, count: Int)?
        for (choice, condition) in query.conditions.enumerated() {
            guard let driver = QueryDriver(condition) else { continue }
            let count = try count(driver, in: zones, reader)
            if count < best?.count ?? .max { best = (choice, count) }
        }
        if query.orderDriver != nil, best?.count ?? .max >= countLimit {
            return QueryPlan(query, choice: orderChoice)
        }
        return QueryPlan(query, choice: best?.choice ?? allChoice)
    }

    /// The plan of a choice, made now or kept in a cursor.
    init(_ query: CompiledQuery, choice: Int) {
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
        let isBySort =
            sort.map {
                $0.centre == nil && $0.field == chosen.field && !chosen.isOnWords
                    && !chosen.repeats
            } ?? true
        isOrdered = isBySort
        isExactlyOrdered = isBySort && query.sorts.count <= 1
        isDescending = isBySort && sort?.isDescending == true
    }

    private static func count(
        _ driver: QueryDriver,
        in zones: [ZoneView],
        _ reader: any StorageReader
    ) throws -> Int {
        var count = 0
        for zone in zones {
            for range in driver.ranges where count < countLimit {
                count += try reader.entryCount(
                    IndexScan(
                        zone: zone.zone.id,
                        index: driver.index,
                        lowerBound: range.lower,
                        upperBound: range.upper,
                        limit: countLimit - count
                    )
                )
            }
        }
        return count
    }
}
