// The client of a container, with its credentials.
@_exported public import CloudKitWebClient
