import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The check of all rows and files of a storage, and the repair of what can be derived again.
struct StorageCheck: Sendable {
    let context: ServiceContext

    /// Checks that all rows, index entries, references and files match their checksums, the schema
    /// and each other.
    func run(repairs: Bool) async throws -> CheckReport {
        var report = CheckReport()
        do {
            try await check(repairs, &report)
        } catch let error as StorageError where error.isDamage {
            // The engine's own check ends here too if the database is too damaged for it.
            report.canBeRepaired = repairs ? false : nil
            report.findings.append(Self.damage(error.message, isFinal: repairs))
        }
        return report
    }

    /// Returns a finding about the database itself, which is final when a repair has been tried.
    private static func damage(_ problem: String, isFinal: Bool) -> CheckFinding {
        let remedy =
            isFinal
            ? "restore it from a backup"
            : "check --repair corrects it if nothing but derived data is damaged, and changes "
                + "nothing otherwise"
        return CheckFinding("The engine finds its data damaged: \(problem); \(remedy)")
    }

    /// Lets the engine check its own database; returns whether the database can be repaired, nil if
    /// only a repair would show that.
    private func checkDatabase(_ repairs: Bool, _ report: inout CheckReport) async throws -> Bool? {
        let storage = context.storage
        let problems = try await storage.read { try ($0 as? any DerivedRows)?.fileProblems() ?? [] }
        let engine = storage as? any RepairableStorage
        if repairs, !problems.isEmpty || storage.damage != nil { try engine?.beginRepair() }
        let isRepaired = repairs && !problems.isEmpty ? try await rebuildsDamagedTables() : false
        if !isRepaired, let problem = problems.first { engine?.noteDamage(problem.text) }
        guard !problems.isEmpty else { return true }
        let canBeRepaired: Bool? =
            repairs ? isRepaired : problems.allSatisfy(\.isDerived) ? true : nil
        report.findings += problems.map { problem in
            guard canBeRepaired == true else {
                return Self.damage(problem.text, isFinal: repairs)
            }
            var finding = CheckFinding(
                "The engine finds an index damaged: \(problem.text)",
                isDerived: true
            )
            finding.isRepaired = isRepaired
            return finding
        }
        return canBeRepaired
    }

    /// Rebuilds what the engine derives, and returns whether nothing is wrong then.
    ///
    /// Otherwise nothing is changed, because an index of a damaged table would hide what the table
    /// has lost.
    private func rebuildsDamagedTables() async throws -> Bool {
        do {
            return try await (context.storage as? any RepairableStorage)?.rebuildDamagedTables()
                ?? false
        } catch let error as StorageError where error.isDamage || error.code == .other {
            return false
        }
    }

    private func check(_ repairs: Bool, _ report: inout CheckReport) async throws {
        // What this or another process has noticed, or a repair that did not end.
        let known = await context.damage(foundWithin: .zero)
        // A write to a damaged table may fail, or hide what the table has lost.
        report.canBeRepaired = try await checkDatabase(repairs, &report)
        let repairs = repairs && report.canBeRepaired == true
        let isReadable = try await checkRows(repairs, &report)
        if repairs, isReadable { try await IndexRenewal(context: context).run() }
        for environment in try await environments() {
            try await check(environment, repairs, &report)
        }
        try await checkLostAssets(repairs && report.canBeRepaired == true, &report)
        try await forgetDamage(known, repairs, &report)
        try await checkFiles(&report)
    }

    /// Forgets damage of which nothing is left: a repair has ended, or all rows were compared and
    /// nothing is wrong with them.
    ///
    /// SQLite alone would not do, because it does not miss rows that a repair has yet to derive.
    /// What was known before the check, and still counts, is a finding.
    private func forgetDamage(
        _ known: String?,
        _ repairs: Bool,
        _ report: inout CheckReport
    ) async throws {
        // What SQLite itself finds was noted as it found it.
        guard report.canBeRepaired == true else { return }
        var isWhole = report.findings.isEmpty
        if repairs {
            isWhole = report.findings.allSatisfy { $0.isRepaired || !$0.isDerived }
        } else if isWhole {
            isWhole = try await comparesAllIndexes()
        }
        guard !isWhole else {
            (context.storage as? any RepairableStorage)?.noteDamage(nil)
            return
        }
        guard let known else { return }
        report.findings.append(
            CheckFinding(
                "the database counts as damaged (\(known)), and nothing is written to it until a "
                    + "check --repair has ended",
                isDerived: true
            )
        )
    }

    /// Checks the rows outside of records; returns whether none is damaged for good.
    private func checkRows(_ repairs: Bool, _ report: inout CheckReport) async throws -> Bool {
        var findings = try await context.storage.read { try RowCheck.findings($0) }
        if repairs, findings.contains(where: \.isDerived) {
            try await context.storage.write { try ($0 as? any DerivedRows)?.mendRows() }
            for place in findings.indices where findings[place].isDerived {
                findings[place].isRepaired = true
            }
        }
        report.findings += findings
        return findings.allSatisfy(\.isDerived)
    }

    /// Returns the environments; one of an unknown kind is a finding already.
    private func environments() async throws -> [StoredEnvironment] {
        try await context.storage.read { reader in
            try (reader as? any DerivedRows)?.readableEnvironments() ?? reader.environments()
        }
    }

    /// Returns whether the index keys of all environments have the newest format, without which a
    /// check does not compare them.
    private func comparesAllIndexes() async throws -> Bool {
        try await context.storage.read { reader in
            try reader.environments().allSatisfy {
                try IndexForm(environment: $0.id).isCurrent(reader)
            }
        }
    }

    private func check(
        _ environment: StoredEnvironment,
        _ repairs: Bool,
        _ report: inout CheckReport
    ) async throws {
        let zones: [RowID<StoredZone>]
        do {
            zones = try await context.storage.read { reader in
                _ = try Schema(reader.schema(environment.id))
                return try reader.zones(environment.id).map(\.id)
            }
        } catch let error as StorageError where error.code == .corrupt {
            // The schema cannot be read, which is a finding already.
            return
        }
        for zone in zones {
            let result = try await check(zone, environment, repairs, &report)
            guard let result else { continue }
            report.zones += 1
            report.records += result.records
            report.findings += result.findings
        }
    }

    /// Checks one zone; returns nil if it was deleted meanwhile.
    ///
    /// If its repair cannot be committed, nothing in it counts as repaired.
    private func check(
        _ zone: RowID<StoredZone>,
        _ environment: StoredEnvironment,
        _ repairs: Bool,
        _ report: inout CheckReport
    ) async throws -> (records: Int, findings: [CheckFinding])? {
        // After a repair that failed nothing is written, because the storage is damaged.
        if repairs, report.canBeRepaired == true {
            do {
                return try await context.storage.writeExclusively {
                    try Self.check(zone, environment, $0, $0)
                }
            } catch let error as StorageError where error.isDamage {
                report.canBeRepaired = false
                report.findings.append(Self.damage(error.message, isFinal: true))
            }
        }
        return try await context.storage.read { try Self.check(zone, environment, $0, nil) }
    }

    /// Checks one zone; returns nil if it was deleted meanwhile.
    private static func check(
        _ id: RowID<StoredZone>,
        _ environment: StoredEnvironment,
        _ reader: any StorageReader,
        _ writer: (any StorageWriter)?
    ) throws -> (records: Int, findings: [CheckFinding])? {
        guard let row = try reader.zone(id), !row.isDeleted,
            let rows = reader as? any StorageReader & DerivedRows
        else { return nil }
        guard let database = try reader.database(row.database) else {
            var finding = CheckFinding("the zone's database is not there; restore from a backup")
            finding.container = environment.container
            finding.zone = row.name
            return (0, [finding])
        }
        let owner = try database.owner.flatMap { try reader.user($0)?.recordName }
        var check = ZoneCheck(
            environment: environment,
            schema: try Schema(reader.schema(environment.id)),
            zone: ZoneView(row, in: database, owner: owner ?? ZoneDirectory.publicOwner),
            comparesIndexes: try IndexForm(environment: environment.id).isCurrent(reader),
            writer: writer
        )
        try check.run(rows)
        return (check.records, check.findings)
    }

    private func checkLostAssets(_ repairs: Bool, _ report: inout CheckReport) async throws {
        let lost = try await context.storage.read { reader in
            try (reader as? any DerivedRows)?.ownersOfLostAssets() ?? []
        }
        guard !lost.isEmpty else { return }
        var finding = CheckFinding(
            "assets are noted for records that are not there",
            isDerived: true
        )
        if repairs {
            try await context.storage.write { writer in
                try (writer as? any DerivedRows)?.removeLostAssets()
            }
            finding.isRepaired = true
        }
        report.findings.append(finding)
    }

    /// Reads every file that a record holds, which fails if it does not match its checksum.
    private func checkFiles(_ report: inout CheckReport) async throws {
        let held = try await context.storage.read {
            try ($0 as? any DerivedRows)?.heldAssets() ?? []
        }
        for checksum in held {
            try Task.checkCancellation()
            report.assets += 1
            guard let problem = try await problem(withFileOf: Array(checksum)) else { continue }
            report.findings += try await context.storage.read { reader in
                try Self.findings(problem, withFileOf: checksum, reader)
            }
        }
    }

    private func problem(withFileOf checksum: [UInt8]) async throws -> String? {
        do {
            guard let contents = try await context.assets.open(checksum) else {
                return "\(MissingAsset(checksum: checksum))"
            }
            for try await _ in contents.chunks {}
            return nil
        } catch let error as StorageError {
            return error.message
        }
    }

    /// Returns a finding for each record that holds a file, or one if only snapshots hold it.
    private static func findings(
        _ problem: String,
        withFileOf checksum: Data,
        _ reader: any StorageReader
    ) throws -> [CheckFinding] {
        let holders = try (reader as? any DerivedRows)?.holders(of: checksum) ?? []
        let findings = try holders.compactMap { record -> CheckFinding? in
            guard let zone = try reader.zone(record.zone),
                let database = try reader.database(zone.database)
            else { return nil }
            let environment = try reader.environment(database.environment)
            var finding = CheckFinding(problem)
            finding.container = environment?.container
            finding.environment = environment?.kind.rawValue
            finding.database =
                try database.owner.map { try reader.user($0)?.recordName } ?? "public"
            finding.zone = zone.name
            finding.record = record.name
            return finding
        }
        return findings.isEmpty ? [CheckFinding(problem)] : findings
    }
}
