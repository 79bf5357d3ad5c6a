import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Finds the function that handles an endpoint's calls.
struct EndpointTable: Sendable {
    let context: ServiceContext

    /// Returns the body of the response to a call.
    func body(for call: Call, _ endpoint: Endpoint) async throws -> Data {
        switch endpoint {
        case .recordsModify: try await ModifyRecordsEndpoint(context: context).modify(call)
        case .recordsLookup: try await LookUpRecordsEndpoint(context: context).lookUp(call)
        case .recordsQuery: try await QueryEndpoint(context: context).query(call)
        case .recordsQueryBatch: try await QueryEndpoint(context: context).queryBatch(call)
        case .zonesList: try await ZonesEndpoint(context: context).list(call)
        case .zonesLookup: try await ZonesEndpoint(context: context).lookUp(call)
        case .zonesModify: try await ZonesEndpoint(context: context).modify(call)
        case .changesDatabase: try await DatabaseChangesEndpoint(context: context).changes(call)
        case .zonesChanges:
            try await DatabaseChangesEndpoint(context: context).changesInOlderForm(call)
        case .changesZone: try await ZoneChangesEndpoint(context: context).changes(call)
        case .recordsChanges: try await ZoneChangesEndpoint(context: context).changesOfOneZone(call)
        case .assetsUpload: try await UploadsEndpoint(context: context).prepare(call)
        case .assetsRereference: try await RereferenceEndpoint(context: context).rereference(call)
        case .usersCaller: try await UsersEndpoint(context: context).caller(call)
        case .usersCurrent: try await UsersEndpoint(context: context).current(call)
        case .usersDiscover: try await UsersEndpoint(context: context).discover(call)
        case .usersLookupEmail, .usersLookupID:
            try await UsersEndpoint(context: context).lookUp(call)
        case .usersLookupContacts: try await UsersEndpoint(context: context).lookUpContacts(call)
        case .subscriptionsList: try await SubscriptionsEndpoint(context: context).list(call)
        case .subscriptionsLookup: try await SubscriptionsEndpoint(context: context).lookUp(call)
        case .subscriptionsModify: try await SubscriptionsEndpoint(context: context).modify(call)
        case .recordsResolve: try await SharingEndpoint(context: context).resolve(call)
        case .recordsAccept: try await SharingEndpoint(context: context).accept(call)
        case .recordsZipPrepare: try await ArchivesEndpoint(context: context).prepare(call)
        case .recordsCopyStart: try await CopiesEndpoint(context: context).start(call)
        case .recordsCopyStatus: try await CopiesEndpoint(context: context).status(call)
        case .tokensCreate: try await TokensEndpoint(context: context).create(call)
        case .tokensRegister: try await TokensEndpoint(context: context).register(call)
        }
    }
}
