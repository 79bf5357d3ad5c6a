import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CloudService {
    /// Takes a request apart, finds its caller and hands it to its endpoint.
    func answer(_ request: ServiceRequest) async throws -> Data {
        let (path, endpoint) = try route(request)
        guard request.body.count <= configuration.requestBodyBytes else {
            throw RequestError(
                .badRequest,
                reason: "The body has \(request.body.count) bytes; at most "
                    + "\(configuration.requestBodyBytes) are allowed"
            )
        }
        let call = try await authenticate(request, path)
        return try await answer(call, endpoint)
    }

    private func route(_ request: ServiceRequest) throws -> (ServicePath, Endpoint) {
        guard ["GET", "POST"].contains(request.method) else {
            throw RequestError(.badRequest, reason: "Method \(request.method) is not supported")
        }
        guard let path = ServicePath(request.path),
            let endpoint = Endpoint(rawValue: path.endpoint),
            let container = PercentEncoding.decode(path.container[...])
        else {
            throw RequestError(
                .notFound,
                reason: "could not find handler for endpoint: \(request.path)"
            )
        }
        var decoded = path
        decoded.container = container
        return (decoded, endpoint)
    }

    private func authenticate(_ request: ServiceRequest, _ path: ServicePath) async throws -> Call {
        let now = clock.milliseconds
        let parameters = QueryParameters(request.query)
        let (caller, environment) = try await storage.read { reader in
            let environment = try reader.environment(
                container: path.container,
                path.environment
            )
            let authentication = Authentication(
                request: request,
                parameters: parameters,
                environment: environment,
                now: now
            )
            return (try authentication.caller(reader), environment)
        }
        guard let environment else {
            throw RequestError(.authenticationFailed, reason: "Authentication failed")
        }
        return Call(
            request: request,
            path: path,
            parameters: parameters,
            caller: caller,
            environment: environment,
            now: now
        )
    }

    private func answer(_ call: Call, _ endpoint: Endpoint) async throws -> Data {
        switch endpoint {
        case .recordsModify: try await modifyRecords(call)
        case .recordsLookup: try await lookUpRecords(call)
        case .recordsQuery: try await queryRecords(call)
        case .zonesList: try await listZones(call)
        case .zonesLookup: try await lookUpZones(call)
        case .zonesModify: try await modifyZones(call)
        case .changesDatabase: try await databaseChanges(call)
        case .changesZone: try await zoneChanges(call)
        case .assetsUpload: try await prepareUploads(call)
        case .usersCaller: try await currentUser(call)
        default:
            throw RequestError(
                .notFound,
                reason: "could not find handler for endpoint: \(call.request.path)"
            )
        }
    }
}
