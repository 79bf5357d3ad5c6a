#if PostgreSQL
public import CloudKitServerCore

extension PostgresStorage {
    /// Returns the state of the connections, the costs of the requests so far, and how far standbys
    /// are behind, if the user may see that.
    public func metrics() async -> [StorageMetric] {
        let (counts, load) = (counts, workers.load)
        func metric(
            _ name: String,
            _ kind: StorageMetric.Kind,
            _ value: Int,
            _ help: String
        )
            -> StorageMetric
        {
            StorageMetric("cloudkit_postgres_" + name, kind, Double(value), help)
        }
        return [
            metric("connections", .gauge, counts.connections, "Open connections to PostgreSQL."),
            metric("connections_busy", .gauge, load.busy, "Connections that serve a request."),
            metric("connections_max", .gauge, workers.limit, "Maximum of open connections."),
            metric(
                "connects_total",
                .counter,
                counts.connects,
                "Connections that were made, after lost ones too."
            ),
            metric(
                "waiting_requests",
                .gauge,
                load.waiting,
                "Reads and writes that wait for a connection or for writes to the same database."
            ),
            metric(
                "transactions_total",
                .counter,
                counts.transactions,
                "Transactions that ended well."
            ),
            metric(
                "round_trips_total",
                .counter,
                counts.roundTrips,
                "Round trips for which requests waited."
            ),
            metric(
                "retries_total",
                .counter,
                counts.repetitions,
                "Transactions that ran again after a conflict or a lost connection."
            ),
            metric(
                "resolutions_total",
                .counter,
                counts.resolutions,
                "Commits whose outcome was looked up after a lost connection."
            ),
        ] + (await replicationLag(load))
    }

    /// The delay of a standby.
    private struct Lag {
        var standby: String
        var bytes: Int64
        var milliseconds: Int64
    }

    private func replicationLag(_ load: Workers.Load) async -> [StorageMetric] {
        // Where requests wait, an operator must not wait too.
        guard load.waiting == 0, load.busy < workers.limit else { return [] }
        // The numbers are for a graph: without a connection there are none, and other metrics show that.
        let lags = try? await run(.read, patience: .seconds(1), needing: { StorageNeeds() }) {
            transaction in
            // A user without the right to see them finds NULLs.
            try transaction.all(
                """
                SELECT coalesce(nullif(application_name, ''), 'standby')::text,
                    pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::bigint,
                    (1000 * extract(epoch FROM coalesce(replay_lag, '0')))::bigint
                FROM pg_stat_replication WHERE replay_lsn IS NOT NULL
                ORDER BY application_name, pid
                """,
                []
            ) { Lag(standby: $0.text(0), bytes: $0.int(1), milliseconds: $0.int(2)) }
        }
        return Self.metrics(of: lags ?? [])
    }

    private static func metrics(of lags: [Lag]) -> [StorageMetric] {
        // Standbys that share a name share the number of the slowest.
        let byName = Dictionary(grouping: lags, by: \.standby).sorted { $0.key < $1.key }
        func metrics(_ unit: String, _ help: String, _ value: (Lag) -> Double) -> [StorageMetric] {
            byName.map { name, lags in
                StorageMetric(
                    "cloudkit_postgres_replication_lag_\(unit)",
                    .gauge,
                    lags.map(value).max() ?? 0,
                    help,
                    label: .init("standby", name)
                )
            }
        }
        return metrics("bytes", "Bytes of the log that a standby has not replayed.") {
            Double($0.bytes)
        }
            + metrics("seconds", "Seconds until a standby has replayed what was committed.") {
                Double($0.milliseconds) / 1000
            }
    }
}
#endif
